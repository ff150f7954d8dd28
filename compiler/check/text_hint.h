#pragma once
// What reads a number out of a text, for messages about conversions.

#include "types/types.h"

#include <string>

namespace melix::check {

/// Of a text, as it is written, and the type of a number.
inline std::string readingHint(const std::string& text, types::TypeKind number) {
  const bool isInt = types::isIntKind(number);
  return "`" + text + (isInt ? ".to_int()` reads an integer" : ".to_f64()` reads a float") +
         ", if there is one in the text";
}

} // namespace melix::check
