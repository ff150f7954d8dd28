#pragma once

#include "source/source.h"

#include <string>

namespace melix::check {

/// A quotient of integers as it is written, also in another body.
struct WrittenQuotient {
  Span span;
  std::string dividend, divisor; ///< as operands of `as` and `/`
};

} // namespace melix::check
