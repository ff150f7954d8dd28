#pragma once
#include "fuzz/programs/tree.h"

namespace melix::fuzz::programs {

/// The source text of a program. Operands stand in parentheses: precedence is the parser's tests' matter.
std::string write(const Program& program);

} // namespace melix::fuzz::programs
