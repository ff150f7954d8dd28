#include "loops/analysis/launching_functions.h"

namespace melix::loops {
namespace {

/// A closed function launches nothing, also one of a device: it runs where its caller does.
bool mayLaunch(const Function& fn) {
  if (fn.kind == FunctionKind::Device) return true;
  return fn.kind == FunctionKind::Orchestration && fn.device != Device::Host && !fn.isClosed();
}

} // namespace

std::vector<bool> launchingFunctions(const Module& module) {
  std::vector<std::vector<FunctionId>> callers(module.functions.size());
  std::vector<bool> out(module.functions.size());
  std::vector<FunctionId> open;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const Function& fn = module.functions[FunctionId(f)];
    for (const Stmt& s : fn.stmts)
      if (s.kind == StmtKind::Call) callers[s.as<FunctionId>().index].push_back(FunctionId(f));
    out[f] = mayLaunch(fn);
    if (out[f]) open.push_back(FunctionId(f));
  }
  while (!open.empty()) {
    const FunctionId callee = open.back();
    open.pop_back();
    for (FunctionId caller : callers[callee.index]) {
      if (out[caller.index]) continue;
      out[caller.index] = true;
      open.push_back(caller);
    }
  }
  return out;
}

} // namespace melix::loops
