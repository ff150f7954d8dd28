#pragma once
// A growing byte buffer on malloc, for texts in the making. Trivial, so that it can stand in a MelixTask;
// bytes added after memory ran out are dropped.

#include "melix/abi.h"

#include <stdlib.h>
#include <string.h>

namespace melix::runtime {

struct TextBuffer {
  uint8_t* data = nullptr;
  int64_t len = 0;
  int64_t cap = 0;

  bool reserve(int64_t more);
  void add(const void* bytes, int64_t count);
  void add(const char* text) { add(text, static_cast<int64_t>(strlen(text))); }
  void add(MelixStr text) { add(text.data, text.len); }
  void addByte(char c) {
    if (len == cap) return add(&c, 1);
    data[len++] = static_cast<uint8_t>(c);
  }
  void addInt(int64_t value);
  void addUnsigned(uint64_t value);
  void addChar(uint32_t codePoint);
  /// `\n`, `\u{1b}`: a char as the escape that a literal may hold.
  void addEscaped(uint32_t codePoint);
  /// Text that comes from outside, for a message. Chars that are invisible or move other text are escaped, as
  /// are bytes that are no UTF-8 (`\xff`). At most `longest` chars of it, then `…`.
  void addShown(MelixStr text, int64_t longest = INT64_MAX);
  void clear() { len = 0; }
  void release() {
    free(data);
    data = nullptr;
    len = cap = 0;
  }
};

/// A buffer that is freed when its scope is left in the ordinary way. A panic jumps over it: no call that may
/// panic while one is alive, unless `disarm`ed.
struct ScopedBuffer : TextBuffer {
  ScopedBuffer() = default;
  ~ScopedBuffer() { release(); }
  ScopedBuffer(const ScopedBuffer&) = delete;
  ScopedBuffer& operator=(const ScopedBuffer&) = delete;
};

/// Whether a char is seen where it stands: it is no control, separator of lines, or mark that has no width or
/// turns the direction of writing.
bool isSeen(uint32_t codePoint);
/// Number of chars in UTF-8.
int64_t countChars(const uint8_t* data, int64_t len);
/// Length of the well-formed UTF-8 sequence at data[0..len), or 0; its code point in `out`.
int decodeChar(const uint8_t* data, int64_t len, uint32_t& out);
/// Writes up to 4 bytes.
int encodeChar(uint32_t codePoint, uint8_t* out);
/// Offset of the first byte that is not well-formed UTF-8, or -1.
int64_t findBadUtf8(const uint8_t* data, int64_t len);

} // namespace melix::runtime
