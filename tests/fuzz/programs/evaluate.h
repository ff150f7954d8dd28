#pragma once
// An evaluator of generated programs that shares no code with the compiler: what a program must print.

#include "fuzz/programs/value.h"

#include <optional>

namespace melix::fuzz::programs {

struct Expected {
  bool known = false;
  std::string unknown; ///< why it is not
  std::string output;  ///< standard output up to the end or the panic
  std::optional<Panic> panic;
  double largest = 0; ///< absolute value of a float
  uint64_t steps = 0; ///< nodes evaluated
};

/// What a program does. With `exactPanics` a panic inside of a builder or reduction is that of the first
/// element in row-major order: so it is where nothing that panics is moved in front of the elements.
Expected evaluate(const Program& program, bool exactPanics);

} // namespace melix::fuzz::programs
