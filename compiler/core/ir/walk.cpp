#include "core/ir/walk.h"

#include "core/ir/analyses.h"
#include "core/ir/call_graph.h"
#include "core/ir/nest.h"
#include "core/ir/termination.h"

#include <algorithm>
#include <unordered_set>

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
    const TypeId type = f.values[summed].type;
    if (types::scalarClass(m.types.kind(type)) != types::ScalarClass::None) return false;
    return m.types.isMadeWith(type, [](TypeKind kind) {
      return kind == TypeKind::List || kind == TypeKind::Pack || kind == TypeKind::Enum;
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

/// Effects of an op without those of its regions and of a function that it calls.
static EffectSet ofOpAlone(const Module& m, const Function& f, const Op& op) {
  ++work.ops;
  EffectSet out;
  switch (ops::opEffect(op.kind)) {
  case ops::EffectKind::None: out.panics = !panickingSums(m, f, op).empty(); break;
  case ops::EffectKind::Panic: out.panics = true; break;
  case ops::EffectKind::Debug: out.debug = true; break;
  case ops::EffectKind::Io: {
    ops::EffectKind own = ops::builtinEffect(op.as<BuiltinAttr>().builtin);
    out.io = own == ops::EffectKind::Io;
    out.panics = own != ops::EffectKind::None;
    break;
  }
  case ops::EffectKind::Regions:
    if (op.kind == OpKind::Apply || (op.kind == OpKind::While && !provablyTerminates(m, f, op)))
      out.panics = true;
    if (op.kind == OpKind::Apply) out.io = true;
    out.panics |= !panickingSums(m, f, op).empty();
    break;
  }
  return out;
}

static bool calls(const Op& op) { return op.kind == OpKind::Call || op.kind == OpKind::Derivative; }

OwnEffects::OwnEffects(const Module& m, FunctionId id) {
  const Function& f = m.functions[id];
  if (!f.body.valid()) return;
  std::unordered_set<FunctionId> seen, seenCalled;
  forEachOp(f, [&](OpId at) {
    const Op& op = f.ops[at];
    effects |= ofOpAlone(m, f, op);
    forEachCallee(op, [&](FunctionId callee) {
      if (seen.insert(callee).second) callees.push_back(callee);
      if (calls(op) && seenCalled.insert(callee).second) called.push_back(callee);
    });
  });
}

Effects::Effects(const Module& m) : module_(&m), functions_(m.functions.size()) {
  const CallGraph graph(m);
  for (bool changed = true; changed;) { // once, but for functions that call each other
    changed = false;
    for (FunctionId id : graph.order()) {
      const auto own = analysis<OwnEffects>(m, id);
      EffectSet all = own->effects;
      for (FunctionId callee : own->called) all |= functions_[callee.index];
      changed |= graph.isRecursive(id) && !(all == functions_[id.index]);
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
  EffectSet out = ofOpAlone(*module_, f, op);
  if (calls(op)) forEachCallee(op, [&](FunctionId callee) { out |= ofFunction(callee); });
  return out;
}

} // namespace melix::core
