#pragma once
// Launches of kernels, done by a machine in place of the pool.

#include "device/machine.h"
#include "melix/abi.h"

#include <functional>
#include <string>

namespace melix::device {

struct LaunchOptions {
  uint32_t threads = 256; ///< the most that a kernel runs by
  uint64_t most = 1000;   ///< launches of a kernel; those behind them are done here
  bool times = false; ///< says how long large launches take, with their arrays in the machine's own memory
};

/// What was done where.
struct LaunchCounts {
  uint64_t onMachine = 0; ///< launches whose results are those of the machine
  uint64_t kernels = 0;   ///< of them
  uint64_t here = 0;      ///< launches after the most, with a failed check, refused, or of what is no kernel
  std::string problems;   ///< why a kernel could not run, a line each
};

/// Until the process ends, launches of the module's kernels go to `machine`, compiled with `options` and with
/// addresses of one space where their scratch has no room. `chunkOf` is where the code of a kernel for this
/// processor is: what is not among those runs here.
void launchOn(Machine& machine, const loops::Module& module, const codegen::Options& options,
              const LaunchOptions& limits, const std::function<void*(loops::FunctionId)>& chunkOf);

const LaunchCounts& launchCounts();

} // namespace melix::device
