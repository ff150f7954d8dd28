#include "transforms/walks/needed_values.h"

namespace melix::transforms {

using namespace core;

NeededValues::NeededValues(Module& m, FunctionId id, const Effects& effects, Calls* calls)
    : m_(m), id_(id), f_(m.functions[id]), effects_(effects), calls_(calls), marked_(f_.values.size(), false),
      opMarked_(f_.ops.size(), false), regionOf_(regionsOfOps(f_)), slots_(f_) {
  forEachOp(f_, [&](OpId op) {
    for (DimSym s : f_.ops[op].resultDims) dimDef_[s] = op;
    for (RegionId r : f_.ops[op].regions)
      for (DimSym s : f_.regions[r].dimParams) dimDef_[s] = op;
  });
}

void NeededValues::needEffects() {
  forEachOp(f_, [&](OpId id) {
    const Op& op = f_.ops[id];
    const bool structured = op.kind == OpKind::If || op.kind == OpKind::Match || op.kind == OpKind::For ||
                            op.kind == OpKind::Nest;
    if (op.kind != OpKind::Yield && !structured && effects_.ofOp(f_, id).any()) needOp(id);
    if (op.kind == OpKind::Nest)
      for (ValueId sum : panickingSums(m_, f_, op)) need(sum);
  });
  for (DimId d : terminator(f_, f_.body).dims) needDim(d);
}
void NeededValues::needResults() {
  for (ValueId v : terminator(f_, f_.body).operands) need(v);
}
void NeededValues::run() {
  while (!queue_.empty()) {
    const ValueId v = queue_.back();
    queue_.pop_back();
    visit(v);
  }
}

bool NeededValues::needed(const Op& op, const Slot& slot) const {
  bool any = slot.needed;
  for (ValueId v : slot.results.of(op.results)) any |= marked_[v.index];
  forEachParam(f_, op, slot, [&](ValueId v) { any |= marked_[v.index]; });
  return any;
}

void NeededValues::need(ValueId v) {
  if (marked_[v.index]) return;
  marked_[v.index] = true;
  queue_.push_back(v);
}
void NeededValues::needDim(DimId d) {
  std::vector<DimSym> syms;
  m_.types.dims.collectSymbols(d, syms);
  for (DimSym s : syms) needSym(s);
}
void NeededValues::needSym(DimSym s) {
  auto it = dimDef_.find(s);
  if (it == dimDef_.end()) return;
  needOp(it->second);
  // The trip count is a dimension because something is collected.
  const Op& op = f_.ops[it->second];
  if (op.kind != OpKind::For) return;
  const LoopView loop(f_, op);
  if (loop.extent() == s) need(loop.stackResults()[0]);
}
void NeededValues::needType(TypeId t) {
  std::vector<DimSym> syms;
  m_.types.collectSymbols(t, syms);
  for (DimSym s : syms) needSym(s);
}

/// The op runs: what decides how it runs is needed, and so are the ops around it.
void NeededValues::needOp(OpId id) {
  if (opMarked_[id.index]) return;
  opMarked_[id.index] = true;
  const Op& op = f_.ops[id];
  needAround(regionOf_[id.index]);
  for (DimId d : op.dims) needDim(d);
  if (auto* path = std::get_if<Path>(&op.attr))
    for (const PathStep& s : *path)
      if (s.length.valid()) needDim(s.length);
  for (RegionId r : op.regions)
    for (DimId d : terminator(f_, r).dims) needDim(d);
  if (op.kind == OpKind::Call && calls_) return calls_->callIsNeeded(*this, id);
  switch (op.kind) {
  case OpKind::If:
  case OpKind::Match:
  case OpKind::For: need(op.operands[0]); break;
  case OpKind::While: need(terminator(f_, op.regions[0]).operands[0]); break;
  case OpKind::Nest:
    for (const Slot& slot : slotsOf(f_, op))
      if (slot.needed) forEachSource(f_, op, slot, [&](ValueId v) { need(v); });
    break;
  default:
    for (ValueId v : op.operands) need(v);
  }
}

/// The region runs: the op that it belongs to is needed, and of a combining region the results that it makes.
void NeededValues::needAround(RegionId region) {
  const OpId around = f_.regions[region].parent;
  if (!around.valid()) return;
  needOp(around);
  const Op& op = f_.ops[around];
  if (op.kind != OpKind::Nest || region == op.regions[0]) return;
  const NestView nest(f_, op);
  for (const NestPart& part : nest.parts())
    if (nest.combine(part) == region) need(nest.results(part)[0]);
}

void NeededValues::visit(ValueId v) {
  const Value& value = f_.values[v];
  needType(value.type);
  const OpId id = value.def.valid() ? value.def : f_.regions[value.region].parent;
  if (!id.valid()) {
    if (calls_) calls_->paramIsNeeded(*this, value.index);
    return;
  }
  needOp(id);
  if (const SlotTable::Entry* own = slots_.of(v)) return needSlot(f_.ops[own->op], own->slot);
  const Op& op = f_.ops[id];
  const bool payload = !value.def.valid() && op.kind == OpKind::Match;
  if (payload) need(op.operands[0]);
  if (op.kind == OpKind::Call && calls_) calls_->resultIsNeeded(*this, id, value.index);
}
/// What the slot is made of; a combining region is kept whole.
void NeededValues::needSlot(const Op& op, const Slot& slot) {
  forEachSource(f_, op, slot, [&](ValueId v) { need(v); });
  forEachParam(f_, op, slot, [&](ValueId v) { need(v); });
}

namespace {

/// Takes away what was not marked.
class Sweeper {
public:
  Sweeper(Function& f, const NeededValues& marks) : f_(f), marks_(marks) {}

  void region(RegionId r) {
    changed |= std::erase_if(f_.regions[r].ops, [&](OpId id) {
                 return f_.ops[id].kind != OpKind::Yield && !marks_.needed(id);
               }) != 0;
    for (OpId id : f_.regions[r].ops) {
      trim(id);
      for (RegionId inner : f_.ops[id].regions) region(inner);
    }
  }
  bool changed = false;

private:
  void trim(OpId id) {
    std::vector<bool> gone;
    bool any = false;
    for (const Slot& slot : slotsOf(f_, f_.ops[id])) {
      gone.push_back(!marks_.needed(f_.ops[id], slot));
      any |= gone.back();
    }
    if (any) removeSlots(f_, id, gone);
    changed |= any;
  }

  Function& f_;
  const NeededValues& marks_;
};

} // namespace

bool removeUnneeded(Function& f, const NeededValues& needed) {
  Sweeper sweeper(f, needed);
  sweeper.region(f.body);
  if (sweeper.changed) f.version.raise();
  return sweeper.changed;
}

} // namespace melix::transforms
