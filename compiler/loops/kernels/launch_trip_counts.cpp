#include "loops/kernels/launch_trip_counts.h"

#include "loops/ir/build.h"

#include <algorithm>
#include <numeric>

namespace melix::loops {

std::vector<LaunchTurns> turnsOfLaunches(const Module& module) {
  std::vector<LaunchTurns> turns(module.functions.size());
  std::vector<bool> unknown(module.functions.size(), false);
  for (const Function& fn : module.functions)
    for (const Stmt& s : fn.stmts) {
      if (s.kind != StmtKind::Launch) continue;
      const uint32_t callee = s.as<FunctionId>().index;
      if (const uint64_t* known = asConstant(fn, s.operands[0])) {
        const auto count = static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(*known)));
        turns[callee].most = std::max(turns[callee].most.value_or(0), count);
        turns[callee].multiple = std::gcd(turns[callee].multiple, count);
      } else {
        unknown[callee] = true;
      }
    }
  for (size_t f = 0; f < turns.size(); ++f)
    if (unknown[f]) turns[f] = {{}, 1};
  return turns;
}

void inferLaunchTripCounts(Module& module) {
  const std::vector<LaunchTurns> turns = turnsOfLaunches(module);
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    module.functions[FunctionId(f)].turns.multiple = std::max<uint64_t>(1, turns[f].multiple);
}

} // namespace melix::loops
