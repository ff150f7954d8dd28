#include "loops/kernels/launch_trip_counts.h"

#include "loops/ir/build.h"

#include <algorithm>
#include <numeric>

namespace melix::loops {

std::vector<LaunchTripCount> launchTripCounts(const Module& module) {
  std::vector<LaunchTripCount> iterations(module.functions.size());
  std::vector<bool> unknown(module.functions.size(), false);
  for (const Function& fn : module.functions)
    for (const Stmt& s : fn.stmts) {
      if (s.kind != StmtKind::Launch) continue;
      const uint32_t callee = s.as<FunctionId>().index;
      if (const uint64_t* known = asConstant(fn, s.operands[0])) {
        const auto count = static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(*known)));
        iterations[callee].most = std::max(iterations[callee].most.value_or(0), count);
        iterations[callee].multiple = std::gcd(iterations[callee].multiple, count);
      } else {
        unknown[callee] = true;
      }
    }
  for (size_t f = 0; f < iterations.size(); ++f)
    if (unknown[f]) iterations[f] = {{}, 1};
  return iterations;
}

void inferLaunchTripCounts(Module& module) {
  const std::vector<LaunchTripCount> iterations = launchTripCounts(module);
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    module.functions[FunctionId(f)].tripCount.tripCountMultipleOf =
        std::max<uint64_t>(1, iterations[f].multiple);
}

} // namespace melix::loops
