#pragma once
#include "fuzz/programs/generate.h"
#include "fuzz/programs/runs.h"

#include <optional>

namespace melix::fuzz::programs {

struct Finding {
  std::string kind; ///< what is wrong, without the program's own words: a shrunk program has the same
  std::string text;
};

struct Case {
  Subject subject = Subject::Values;
  Program program;
  RunOptions options;
};

/// What was looked at beside the findings.
struct Checked {
  bool evaluated = false; ///< the evaluator knew what must come out
  bool panicked = false;
  bool refused = false;                ///< for an index that leaves its range
  unsigned derivatives = 0, kinks = 0; ///< derivatives compared, and left out near a kink
  size_t numbers = 0;                  ///< printed as the evaluator says
};

/// Runs a program in every way and compares. Nothing if all is as it must be.
std::optional<Finding> check(const Case& c, Checked& checked);

/// Compares the derivatives that a program prints, in lines `derivative NAME scale forward … | differences`.
std::optional<Finding> checkDerivatives(const std::string& output, Checked& checked);

/// Compares what two runs print of the same derivatives, which may round otherwise.
std::optional<Finding> checkRounding(const std::string& output, const std::string& other);

/// Compares the sizes that a program prints, in lines `size IS SHOULD`, and whether it panics with what it
/// says in lines `may HOW`, before what may panic, and `done HOW`, behind it: 0 it does not, 1 it may, 2 it
/// does.
std::optional<Finding> checkSizes(const std::string& output, bool panicked);

} // namespace melix::fuzz::programs
