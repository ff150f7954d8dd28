#pragma once
// Runs macros for expansion: a function of the checked program, called with syntax and constants. The owner
// of the interpreter implements it.

#include "names/modules.h"

#include <variant>

namespace melix::expand {

/// Syntax as the running code has it: a number that module `ast` knows.
struct Handle {
  int64_t number = 0;
};
using MacroArgument = std::variant<int64_t, double, bool, std::string, Handle, std::vector<Handle>>;

enum class OutcomeKind : uint8_t {
  Value,    ///< it gave syntax
  Reported, ///< it did not check; the messages are in the sink
  Panic,    ///< it panicked, `problem` says how
  Steps,    ///< more steps than allowed
  Memory,   ///< more memory than allowed
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::Reported;
  Handle value;
  std::string problem;
  Span place;         ///< of a panic; perhaps none
  uint64_t steps = 0; ///< taken
};

class Evaluator {
public:
  virtual ~Evaluator() = default;
  virtual Outcome run(names::DeclId function, const std::vector<MacroArgument>& arguments, uint64_t maxSteps,
                      uint64_t maxBytes) = 0;
  /// `did you mean …?`, or nothing.
  virtual std::string suggest(std::string_view wrong, const std::vector<std::string_view>& known) = 0;
};

} // namespace melix::expand
