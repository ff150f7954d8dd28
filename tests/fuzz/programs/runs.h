#pragma once
// All the ways to run a program, each in a process of its own: what one does harms no other.

#include <cstdint>
#include <string>
#include <vector>

namespace melix::fuzz::programs {

struct Outcome {
  std::string way;     ///< how it was run
  int status = 0;      ///< exit status, or 256 + the signal that ended it
  bool slow = false;   ///< stopped because it took too long
  bool rounds = false; ///< other last bits of floats than the others are right
  std::string output, errors;
};

struct RunOptions {
  bool strict = false; ///< --strict-fp
  /// Interpret Core before the passes that optimise, too: as it was lowered, or once it has neither function
  /// values nor derivatives.
  enum class Early : uint8_t { No, Lowered, Derivatives } early = Early::No;
  bool earlyRounds = false; ///< and it rounds otherwise
  bool compiled = true;     ///< else only interpreted
  /// What is compiled for: this processor, any, and any without optimising.
  bool native = true, portable = true, unoptimised = true;
  uint64_t onDevice = 0;    ///< on the emulated device too, threads in the order of this number; 0: not
  bool executable = false;  ///< make an executable and run it too
  bool shortStrips = false; ///< of some rows, however few there are
  /// Schedule this processor's code for another one: for vectors of other lengths, fewer registers, no masks.
  unsigned foreign = 0; ///< which; 0: none
  bool verify = false;  ///< verify Core after every pass
};

struct Runs {
  bool compiled = false;
  std::string
      problem; ///< why it is not: diagnostics, a bug, a crash; or what the compiler wrote all the same
  bool refused = false;          ///< by the checker, with diagnostics
  std::vector<Outcome> outcomes; ///< the interpreter's first
};

Runs runEveryWay(const std::string& text, const RunOptions& options);

} // namespace melix::fuzz::programs
