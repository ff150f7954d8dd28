#pragma once
// The stage: optimised Core in, Loops out.

#include "loops/ir.h"
#include "loops/join_strips.h"
#include "loops/machine.h"

#include <functional>

namespace melix::loops {

struct Options {
  bool parallel = true;             ///< nests on the pool
  const Machine* machine = nullptr; ///< that loops are scheduled for; none: as they are
  StripSizes strips;
  bool verify = false; ///< look at the module after every pass
  /// Told of the module after every pass, `lower` first.
  std::function<void(const Module&, const char* pass)> afterPass;
};

/// Lowers, then runs the passes of loops.cpp. Functions that the roots do not reach are left out. Requires:
/// verified Core without derivatives, closures and `apply`. What is not compiled yet is told by `error`.
struct Result {
  Module module;
  std::optional<Unsupported> error;
  std::string bug; ///< what the verifier found, and after which pass; empty if nothing
};
Result fromCore(const core::Module& module, const Options& options = {});

} // namespace melix::loops
