#pragma once
// The minus sign of a number literal, which is part of it (rule 4): `-128` is one literal, `-(128)` is none.

#include <cstdint>

namespace melix::check {

/// In OpRef::index of a Neg until numbers are resolved; a whole literal and its sign are one constant then.
constexpr uint32_t signOfLiteral = 1;

} // namespace melix::check
