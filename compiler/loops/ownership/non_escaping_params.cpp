#include "loops/ownership/non_escaping_params.h"

namespace melix::loops {

ElementParams::ElementParams(const Module& module) : module_(module), isOne_(module.functions.size()) {
  for (uint32_t f = 0; f < module.functions.size(); ++f) find(FunctionId(f));
  // What passes a parameter on to one that does more does more.
  while (!open_.empty()) {
    const Param p = open_.back();
    open_.pop_back();
    auto passed = passedTo_.find(key(p));
    if (passed == passedTo_.end()) continue;
    for (const Param& from : passed->second) exclude(from);
  }
}

void ElementParams::exclude(const Param& p) {
  std::vector<bool>& isOne = isOne_[p.function.index];
  if (p.number >= isOne.size() || !isOne[p.number]) return;
  isOne[p.number] = false;
  open_.push_back(p);
}

void ElementParams::find(FunctionId id) {
  const Function& fn = module_.functions[id];
  std::vector<bool>& isOne = isOne_[id.index];
  isOne.assign(fn.params().size(), false);
  std::unordered_map<ValueId, size_t> numbers;
  for (size_t k = 0; k < fn.params().size(); ++k) {
    isOne[k] = isLent(fn.modes[k]) && fn.typeOf(fn.params()[k]) == dataType;
    if (isOne[k]) numbers[fn.params()[k]] = k;
  }
  if (!numbers.empty()) uses(id, fn.body, numbers);
}

void ElementParams::uses(FunctionId id, RegionId region, const std::unordered_map<ValueId, size_t>& numbers) {
  const Function& fn = module_.functions[id];
  for (StmtId at : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[at];
    for (size_t k = 0; k < s.operands.size(); ++k)
      if (auto it = numbers.find(s.operands[k]); it != numbers.end()) use({id, it->second}, s, k);
    for (RegionId inner : s.regions) uses(id, inner, numbers);
  }
}

void ElementParams::use(const Param& p, const Stmt& s, size_t operand) {
  switch (s.kind) {
  case StmtKind::PointerOf:
  case StmtKind::AllocArray: // where another one might lie
  case StmtKind::KeepAlive: return;
  case StmtKind::Load:
  case StmtKind::Store:
  case StmtKind::AddressOf:
    if (operand != 0) exclude(p);
    return;
  case StmtKind::Call: {
    const Param to{s.as<FunctionId>(), operand};
    passedTo_[key(to)].push_back(p);
    const Function& callee = module_.functions[to.function];
    if (operand >= callee.modes.size() || !isLent(callee.modes[operand])) exclude(p);
    return;
  }
  default: exclude(p);
  }
}

} // namespace melix::loops
