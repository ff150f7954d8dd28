#pragma once
// Text of values: by default as `print` shows them (rule 5), or as a format specification says.

#include "text_buffer.h"

namespace melix::runtime {

struct FormatSpec {
  uint32_t fill = ' ';
  char align = 0; ///< '<' '^' '>' or 0: numbers right, others left
  bool plus = false;
  bool zero = false;
  char letter = 0; ///< one of efgxb% or 0
  int32_t width = 0;
  int32_t digits = -1;

  bool empty() const { return !align && !plus && !zero && !letter && !width && digits < 0; }
};

/// Null, or the error. `numbers` are the values of `{}` in the text.
const char* parseSpec(const uint8_t* text, int64_t len, const int64_t* numbers, FormatSpec& out);
/// The same for a specification that is to be used on values (elements) of a kind.
const char* checkSpec(const FormatSpec& spec, uint8_t kind);

/// A scalar, str or unit; `bits` are its bytes (for str and complex: `value` points at it).
void formatScalar(TextBuffer& out, uint8_t kind, const void* value, const FormatSpec& spec, bool quoted);

/// Any value.
void formatValue(MelixTask* task, TextBuffer& out, const MelixType* type, const void* value,
                 const FormatSpec& spec, bool quoted);

} // namespace melix::runtime
