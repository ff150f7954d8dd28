#include "core/ir/walk.h"

#include "core/ir/call_graph.h"
#include "core/ir/nest.h"
#include "core/ir/termination.h"

#include <algorithm>

namespace melix::core {

std::vector<RegionId> regionsOfOps(const Function& f) {
  std::vector<RegionId> out(f.ops.size());
  std::vector<RegionId> queue{f.body};
  while (!queue.empty()) {
    RegionId r = queue.back();
    queue.pop_back();
    for (OpId op : f.regions[r].ops) {
      out[op.index] = r;
      queue.insert(queue.end(), f.ops[op].regions.begin(), f.ops[op].regions.end());
    }
  }
  return out;
}

std::vector<ValueId> panickingSums(const Module& m, const Function& f, const Op& op) {
  auto mayPanic = [&](ValueId summed) {
    return m.types.isMadeWith(f.values[summed].type, [](types::TypeKind kind) {
      return kind == types::TypeKind::List || kind == types::TypeKind::Pack || kind == types::TypeKind::Enum;
    });
  };
  std::vector<ValueId> out;
  const bool isSum = op.kind == OpKind::Add || op.kind == OpKind::Sub || op.kind == OpKind::AddAt;
  if (isSum && mayPanic(op.operands[1])) out.push_back(op.results[0]);
  if (op.kind != OpKind::Nest || std::ranges::none_of(op.results, mayPanic)) return out;
  const NestView nest(f, op);
  for (const NestPart& part : nest.parts())
    for (ValueId v : nest.results(part))
      if (part.spec->kind == NestResultKind::Reduce && mayPanic(v)) out.push_back(v);
  return out;
}

Effects::Effects(const Module& m) : module_(&m), functions_(m.functions.size()) {
  const CallGraph calls(m);
  for (bool changed = true; changed;) { // once, but for functions that call each other
    changed = false;
    for (FunctionId id : calls.order()) {
      const Function& f = m.functions[id];
      if (!f.body.valid()) continue;
      EffectSet all;
      for (OpId op : f.regions[f.body].ops) all |= ofOp(f, op);
      changed |= calls.isRecursive(id) && !(all == functions_[id.index]);
      functions_[id.index] = all;
    }
  }
}

EffectSet Effects::ofOp(const Function& f, OpId id) const {
  EffectSet out = ofItself(f, id);
  for (RegionId r : f.ops[id].regions)
    for (OpId inner : f.regions[r].ops) out |= ofOp(f, inner);
  return out;
}

EffectSet Effects::ofItself(const Function& f, OpId id) const {
  const Op& op = f.ops[id];
  ++work.ops;
  EffectSet out;
  switch (ops::opEffect(op.kind)) {
  case ops::EffectKind::None: out.panics = !panickingSums(*module_, f, op).empty(); break;
  case ops::EffectKind::Panic: out.panics = true; break;
  case ops::EffectKind::Debug: out.debug = true; break;
  case ops::EffectKind::Io: {
    ops::EffectKind own = ops::builtinEffect(op.as<BuiltinAttr>().builtin);
    out.io = own == ops::EffectKind::Io;
    out.panics = own != ops::EffectKind::None;
    break;
  }
  case ops::EffectKind::Regions:
    if (op.kind == OpKind::Apply || (op.kind == OpKind::While && !provablyTerminates(*module_, f, op)))
      out.panics = true;
    if (op.kind == OpKind::Apply) out.io = true;
    if (op.kind == OpKind::Call) out |= functions_[op.as<CallAttr>().callee.index];
    if (op.kind == OpKind::Derivative) out |= functions_[op.as<DerivativeAttr>().callee.index];
    out.panics |= !panickingSums(*module_, f, op).empty();
    break;
  }
  return out;
}

} // namespace melix::core
