#include "loops/analysis/device_arrays.h"

#include <numeric>

namespace melix::loops {
namespace {

const std::vector<ValueId>& yields(const Function& fn, RegionId r) {
  return fn.stmts[fn.regions[r].stmts.back()].operands;
}

} // namespace

DeviceArrays::DeviceArrays(const Module& module, LaunchWrites& writes) : module_(module), writes_(writes) {
  uint32_t count = 0;
  for (const Function& fn : module.functions) {
    first_.push_back(count);
    count += static_cast<uint32_t>(fn.values.size());
  }
  parents_.resize(count);
  std::iota(parents_.begin(), parents_.end(), 0U);
  facts_.resize(count);
  for (FunctionId f(0); f.index < module.functions.size(); ++f.index) joinRegion(f, module.functions[f].body);
}

uint32_t DeviceArrays::find(uint32_t n) {
  while (parents_[n] != n) n = parents_[n] = parents_[parents_[n]];
  return n;
}

void DeviceArrays::join(uint32_t a, uint32_t b) {
  const uint32_t to = find(a), from = find(b);
  parents_[from] = to;
  facts_[to].read |= facts_[from].read;
  facts_[to].written |= facts_[from].written;
}

void DeviceArrays::joinAll(FunctionId f, std::span<const ValueId> a, std::span<const ValueId> b) {
  const Function& fn = module_.functions[f];
  for (size_t k = 0; k < a.size(); ++k)
    if (fn.typeOf(a[k]).cls == ClassKind::Data) join(node(f, a[k]), node(f, b[k]));
}

void DeviceArrays::joinRegion(FunctionId f, RegionId r) {
  const Function& fn = module_.functions[f];
  for (StmtId id : fn.regions[r].stmts) {
    joinStatement(f, fn.stmts[id]);
    for (RegionId inner : fn.stmts[id].regions) joinRegion(f, inner);
  }
}

void DeviceArrays::joinStatement(FunctionId f, const Stmt& s) {
  const Function& fn = module_.functions[f];
  const std::span<const ValueId> operands(s.operands);
  switch (s.kind) {
  case StmtKind::For: return joinLoop(f, s, boundOperands);
  case StmtKind::While: return joinLoop(f, s, 0);
  case StmtKind::If:
  case StmtKind::Switch:
    for (RegionId r : s.regions) joinAll(f, s.results, yields(fn, r));
    return;
  case StmtKind::Call: return joinCall(f, s);
  case StmtKind::Launch: return noteLaunch(f, s);
  case StmtKind::EnsureUnique: return joinAll(f, s.results, operands.first(1));
  case StmtKind::AllocArray:
  case StmtKind::Scalar: // a choice between arrays
    for (ValueId v : operands)
      if (fn.typeOf(v).cls == ClassKind::Data) join(node(f, s.results[0]), node(f, v));
    return;
  case StmtKind::Load: // another value of the same block may have been copied
    for (ValueId v : s.results) facts_[find(node(f, v))].read |= fn.typeOf(v).cls == ClassKind::Data;
    return;
  default: return;
  }
}

void DeviceArrays::joinLoop(FunctionId f, const Stmt& s, size_t firstCarried) {
  const Function& fn = module_.functions[f];
  joinAll(f, s.results, std::span(s.operands).subspan(firstCarried));
  joinAll(f, s.results, yields(fn, s.regions.back()));
  for (RegionId r : s.regions) {
    const std::vector<ValueId>& params = fn.regions[r].params;
    joinAll(f, s.results, std::span(params).last(s.results.size()));
  }
}

/// Elements stay the caller's: only their address is passed.
void DeviceArrays::joinCall(FunctionId f, const Stmt& s) {
  const Function& fn = module_.functions[f];
  const FunctionId g = s.as<FunctionId>();
  const Function& callee = module_.functions[g];
  auto joinIfData = [&](ValueId here, ValueId there) {
    if (fn.typeOf(here).cls == ClassKind::Data) join(node(f, here), node(g, there));
  };
  for (size_t k = 0; k < s.operands.size(); ++k)
    if (callee.modeOf(k) != ModeKind::Elements) joinIfData(s.operands[k], callee.params()[k]);
  for (size_t k = 0; k < s.results.size(); ++k) joinIfData(s.results[k], yields(callee, callee.body)[k]);
}

void DeviceArrays::noteLaunch(FunctionId f, const Stmt& s) {
  const Function &fn = module_.functions[f], &kernel = module_.functions[s.as<FunctionId>()];
  if (kernel.kind != FunctionKind::Device) return;
  for (size_t k = boundOperands; k < s.operands.size(); ++k) {
    if (fn.typeOf(s.operands[k]).cls != ClassKind::Data) continue;
    Facts& facts = facts_[find(node(f, s.operands[k]))];
    facts.read = true;
    facts.written |= writes_.mayWrite(s, k);
  }
}

} // namespace melix::loops
