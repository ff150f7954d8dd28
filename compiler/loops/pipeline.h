#pragma once
// The stage: optimised Core in, Loops out.

#include "loops/ir/ir.h"
#include "loops/ir/machine.h"
#include "loops/ir/states.h"
#include "loops/strip_mining/fuse_by_strips.h"

#include <functional>
#include <span>

namespace melix::loops {

struct Options {
  bool parallel = true;             ///< nests on the pool
  DeviceCode devices;               ///< for which parts that run on a device are made
  Device device = Device::Host;     ///< where a program runs as a whole
  const Machine* machine = nullptr; ///< target of the schedules; none: loops stay as they are
  StripSizes strips;
  bool verify = false; ///< verify the module after every pass
  /// Gets the module after every pass, `lower` first.
  std::function<void(const Module&, std::string_view pass)> afterPass;
};

/// A row of passes.def.
struct Pass {
  std::string_view name;
  std::string_view sentence;       ///< its transformation
  States needs, establishes, ends; ///< before it; from here on; no longer
};

/// States of Loops as they are lowered.
inline constexpr States statesOfLowered{State::NoLanes};

/// All passes in sequence; some run only if loops are scheduled for a machine, or nests go on the pool.
std::span<const Pass> passes();

/// Whether some of a program runs on a device; `whole` is where all of it does.
bool usesDevices(const core::Module& module, Device whole);

/// Lowers, then runs the passes. Functions that the roots do not reach are omitted. Requires: verified Core
/// without derivatives, closures and `apply`. `error` names a construct that is not compiled yet.
struct Result {
  Module module;
  std::optional<Unsupported> error;
  std::string bug; ///< the verifier's finding, and after which pass; empty if none
};
Result fromCore(const core::Module& module, const Options& options = {});

} // namespace melix::loops
