#pragma once
// Parts of hints: the call that reads a number out of a text, and operands as arguments.

#include "types/types.h"

#include <string>

namespace melix::check {

/// Of a text, as it is written, and the type of a number.
inline std::string readingHint(const std::string& text, types::TypeKind number) {
  const bool isInt = types::isIntKind(number);
  return "`" + text + (isInt ? ".to_int()` reads an integer" : ".to_f64()` reads a float") +
         ", if there is one in the string";
}

/// An operand as it is written, with brackets where it has blanks in it, as an argument.
inline std::string asArgument(const std::string& operand) {
  const bool inBrackets = operand.starts_with("(") && operand.find(' ') != std::string::npos;
  return inBrackets ? operand.substr(1, operand.size() - 2) : operand;
}

} // namespace melix::check
