#include "core/analysis/effect_audit.h"

#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/text/print.h"

namespace melix::core {

namespace {

thread_local EffectAudit* running = nullptr;

/// Whether the effects of ops of a kind are those of a function.
bool callsFunction(OpKind kind) {
  return kind == OpKind::Call || kind == OpKind::Apply || kind == OpKind::Derivative;
}

/// Whether an op of a kind can go for such a reason: what prints, and what calls, is neither proved nor
/// repeated.
bool mayBe(GoneKind why, OpKind kind) {
  switch (why) {
  case GoneKind::Proved:
    return kind == OpKind::Check || kind == OpKind::While || ops::opEffect(kind) == ops::EffectKind::None;
  case GoneKind::Repeated: return kind == OpKind::Check || ops::opEffect(kind) == ops::EffectKind::None;
  case GoneKind::Replaced: return callsFunction(kind);
  case GoneKind::NeverRuns: break;
  }
  return true;
}

} // namespace

EffectAudit::EffectAudit(const Module& m) : module_(m), outer_(running) {
  running = this;
  number(reachedFunctions(m), Effects(m));
}
EffectAudit::~EffectAudit() { running = outer_; }

uint32_t& EffectAudit::numberOf(FunctionId f, OpId op) {
  if (f.index >= numbers_.size()) numbers_.resize(f.index + 1);
  std::vector<uint32_t>& own = numbers_[f.index];
  if (op.index >= own.size()) own.resize(module_.functions[f].ops.size(), none);
  return own[op.index];
}

uint32_t EffectAudit::known(FunctionId f, OpId op) const {
  const bool isKnown = f.index < numbers_.size() && op.index < numbers_[f.index].size();
  return isKnown ? numbers_[f.index][op.index] : none;
}

/// Calls `visit(f, op)` for all ops of reached functions.
template <class Visit>
void EffectAudit::forEachReached(const std::vector<bool>& reached, Visit visit) const {
  for (uint32_t k = 0; k < module_.functions.size(); ++k) {
    const Function& fn = module_.functions[FunctionId(k)];
    if (reached[k] && fn.body.valid()) forEachOp(fn, [&](OpId op) { visit(FunctionId(k), op); });
  }
}

void EffectAudit::number(const std::vector<bool>& reached, const Effects& effects) {
  entries_.clear();
  numbers_.assign(module_.functions.size(), {});
  isOpened_.assign(module_.functions.size(), false);
  forEachReached(reached, [&](FunctionId f, OpId op) {
    const Function& fn = module_.functions[f];
    if (!effects.ofItself(fn, op).any()) return;
    numberOf(f, op) = static_cast<uint32_t>(entries_.size());
    entries_.push_back({f, op, fn.ops[op].kind});
  });
}

/// Whether it is a call, or the derivative, of what has no effect any more, or a loop that is known to end.
bool EffectAudit::isSilent(const Effects& effects, const Entry& entry) const {
  const Function& fn = module_.functions[entry.function];
  const OpKind now = fn.ops[entry.op].kind;
  const bool ends = entry.kind == OpKind::While && now == OpKind::While;
  if (!ends && !(callsFunction(entry.kind) && callsFunction(now))) return false;
  bool isThere = true;
  forEachCallee(fn.ops[entry.op],
                [&](FunctionId f) { isThere = isThere && module_.functions[f].body.valid(); });
  return isThere && !effects.ofItself(fn, entry.op).any();
}

std::string EffectAudit::after(std::string_view pass) {
  const std::vector<bool> reached = reachedFunctions(module_);
  const Effects effects(module_);
  forEachReached(reached, [&](FunctionId f, OpId op) {
    const uint32_t n = known(f, op);
    if (n != none && effects.ofItself(module_.functions[f], op).any()) entries_[n].isKept = true;
  });
  for (const Entry& entry : entries_) {
    const bool isWanted = reached[entry.function.index] || isOpened_[entry.function.index];
    const bool isKept = entry.isKept || (entry.with != none && entries_[entry.with].isKept);
    if (!isKept && isWanted && !isSilent(effects, entry)) return lost(pass, entry);
  }
  number(reached, effects);
  return {};
}

std::string EffectAudit::lost(std::string_view pass, const Entry& entry) const {
  const Function& fn = module_.functions[entry.function];
  return "`" + std::string(pass) + "` drops `" + printOp(module_, entry.function, entry.op) + "` of `" +
         fn.name + "` without a reason";
}

void EffectAudit::copied(FunctionId from, OpId op, FunctionId to, OpId copy) {
  if (const uint32_t n = known(from, op); n != none) numberOf(to, copy) = n;
}

void EffectAudit::written(FunctionId from, std::span<const OpId> ops, FunctionId to, size_t first) {
  uint32_t n = none;
  for (OpId op : ops) {
    const uint32_t own = known(from, op);
    if (own == none) continue;
    if (n == none)
      n = own;
    else
      entries_[own].with = n;
  }
  if (n == none) return;
  for (size_t k = first; k < module_.functions[to].ops.size(); ++k) {
    uint32_t& number = numberOf(to, OpId(static_cast<uint32_t>(k)));
    if (number == none) number = n;
  }
}

void EffectAudit::goes(FunctionId f, OpId op, GoneKind why) {
  const uint32_t n = known(f, op);
  if (n != none && mayBe(why, entries_[n].kind)) entries_[n].isKept = true;
}

void EffectAudit::opened(FunctionId f, OpId call) {
  goes(f, call, GoneKind::Replaced);
  forEachCallee(module_.functions[f].ops[call], [&](FunctionId callee) {
    if (callee.index < isOpened_.size()) isOpened_[callee.index] = true;
  });
}

void noteCopy(FunctionId from, OpId op, FunctionId to, OpId copy) {
  if (running) running->copied(from, op, to, copy);
}

void noteWritten(FunctionId from, std::span<const OpId> ops, FunctionId to, size_t first) {
  if (running) running->written(from, ops, to, first);
}

void noteGone(const Function& fn, FunctionId f, OpId op, GoneKind why) {
  if (!running) return;
  running->goes(f, op, why);
  for (RegionId r : fn.ops[op].regions) noteGone(fn, f, r, why);
}

void noteGone(const Function& fn, FunctionId f, RegionId region, GoneKind why) {
  if (!running) return;
  for (OpId op : fn.regions[region].ops) noteGone(fn, f, op, why);
}

void noteOpened(FunctionId f, OpId call) {
  if (running) running->opened(f, call);
}

} // namespace melix::core
