#include "transforms/simplify/simplify.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/simplify/folder.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>

namespace melix::transforms {

Folder::Folder(Module& m, FunctionId id)
    : m_(m), id_(id), f_(m.functions[id]), types_(m.types), ranges_(m, id), uses_(m, id),
      negation_(m, f_, ranges_), known_(f_), scratch_(f_.regions.add(Region{})) {
  bool any = false;
  forEachOp(f_, [&](OpId op) { any = any || isReadInPart(op); });
  if (any) sharing_.emplace(m, f_);
}

bool Folder::run() {
  region(f_.body);
  if (!dims_.empty()) replaceDims(m_, id_, dims_);
  if (changed_) f_.version.raise();
  return changed_;
}

const Op* Folder::defOf(ValueId v, OpKind kind) const {
  OpId def = f_.values[v].def;
  return def.valid() && f_.ops[def].kind == kind ? &f_.ops[def] : nullptr;
}

std::optional<uint64_t> Folder::constantOf(ValueId v) const {
  const Op* op = defOf(v, OpKind::Const);
  if (!op || types_.kind(f_.typeOf(v)) == TypeKind::Str) return std::nullopt;
  return op->as<Constant>().bits;
}

bool Folder::isConstant(ValueId v, int64_t value) const {
  std::optional<uint64_t> bits = constantOf(v);
  return bits && types_.isInt(f_.typeOf(v)) && signedBits(types_.kind(f_.typeOf(v)), *bits) == value;
}

void Folder::region(RegionId r) {
  known_.open();
  const Ranges::Mark mark = ranges_.enter(r);
  const size_t decided = decided_.size();
  enterArm(r);
  Passed out{r, {}};
  splice(f_.regions[r].ops, out);
  f_.regions[r].ops = std::move(out.ops);
  decided_.resize(decided);
  ranges_.leave(mark);
  known_.close();
}

void Folder::splice(const std::vector<OpId>& list, Passed& out) {
  work.ops += list.size();
  for (OpId id : list) {
    if (step(id, out)) {
      uses_.leave(id);
      changed_ = true;
    } else {
      const Op& stays = f_.ops[id];
      ranges_.define(stays);
      if (stays.kind == OpKind::BindDim && isAxis(stays.operands[0]))
        axes_.insert_or_assign(stays.resultDims[0], stays.operands[0]);
      out.ops.push_back(id);
    }
  }
}

bool Folder::isAxis(ValueId v) const {
  const Value& value = f_.values[v];
  if (value.def.valid() || value.region == f_.body) return false;
  return f_.ops[f_.regions[value.region].parent].kind == OpKind::Nest;
}

bool Folder::step(OpId id, Passed& out) {
  useDecided(id, out);
  Op& op = f_.ops[id];
  if (op.kind == OpKind::Yield) return false;
  if (op.kind == OpKind::If && chooseArm(op, out)) return true;
  if (op.kind == OpKind::Match && chooseCase(op, out)) return true;
  if (op.kind == OpKind::Match && testRegion(id, out)) return step(id, out);
  if (op.kind == OpKind::Nest && onePoint(op, out)) return true;
  if (op.kind == OpKind::For && foldLoop(id, out)) return true;
  if (op.kind == OpKind::Check && ranges_.isProved(op)) return noteGone(f_, id_, id, GoneKind::Proved), true;
  if (op.kind == OpKind::Holds && ranges_.isProved(op)) becomeConstant(id, 1);
  for (RegionId inner : op.regions) region(inner);
  if (op.kind == OpKind::If) sameInBothArms(op);
  if (op.kind == OpKind::If)
    if (const std::optional<RegionId> arm = armOfZeroFactor(op)) return takeRegion(op, *arm, out);
  if (op.kind == OpKind::If) connect(id, out);
  if (op.kind == OpKind::If || op.kind == OpKind::Select) canonicalChoice(id, out);
  if (op.kind == OpKind::For || op.kind == OpKind::While) unchangedCarries(op);
  if (op.kind == OpKind::Cmp && (compareCondition(id) || compareChoice(id, out))) return true;
  if (op.kind == OpKind::Cmp) compare(id);
  if (op.kind == OpKind::Cmp) compareMagnitude(id, out);
  if (op.kind == OpKind::Not && negate(id, out)) return true;
  if (op.kind == OpKind::Get) readInPlace(id, out);
  if (op.kind == OpKind::IDiv) partOfSize(id);
  if (identity(op) || bindKnown(op)) return true;
  constants(id);
  return common(id);
}

OpId Folder::open(RegionId r, Passed& out) {
  std::vector<OpId> inner = std::move(f_.regions[r].ops);
  const OpId end = inner.back();
  f_.regions[r].ops = {end};
  inner.pop_back();
  for (OpId id : inner) uses_.move(id, out.region);
  splice(inner, out);
  return end;
}

void Folder::becomeZero(OpId id) {
  uses_.change(id, [](Op& op) {
    op.kind = OpKind::Zero;
    op.operands.clear();
  });
  changed_ = true;
}

void Folder::becomeConstant(OpId id, uint64_t bits) {
  uses_.change(id, [&](Op& op) {
    op.kind = OpKind::Const;
    op.operands.clear();
    op.dims.clear();
    op.attr = Constant{bits, {}};
  });
  changed_ = true;
}

void Folder::becomeNot(OpId id, ValueId condition) {
  uses_.change(id, [&](Op& op) {
    op.kind = OpKind::Not;
    op.operands = {condition};
    op.attr = {};
  });
  changed_ = true;
}

bool Folder::common(OpId id) {
  const Op& op = f_.ops[id];
  // What is opened or counted twice has the same sizes both times.
  const bool open = op.kind == OpKind::Unpack || op.kind == OpKind::BindDim;
  if (!open && !isComparable(op)) return false;
  const OpId before = known_.find(id);
  if (!before.valid()) return false;
  const Op& first = f_.ops[before];
  for (size_t k = 0; k < op.resultDims.size(); ++k)
    replaceDim(op.resultDims[k], types_.dims.symbol(first.resultDims[k]));
  for (size_t k = 0; k < op.results.size(); ++k) replace(op, k, first.results[k]);
  noteGone(f_, id_, id, GoneKind::Repeated);
  return true;
}

bool Folder::isComparable(const Op& op) const {
  const bool check = op.kind == OpKind::Check;
  if (!check && ops::opEffect(op.kind) != ops::EffectKind::None) return false;
  if (!op.resultDims.empty() || op.kind == OpKind::Undef || op.kind == OpKind::Zero) return false;
  if (op.operands.empty() && op.kind != OpKind::Const && op.kind != OpKind::DimValue && !check) return false;
  return std::none_of(op.operands.begin(), op.operands.end(),
                      [&](ValueId v) { return types_.kind(f_.typeOf(v)) == TypeKind::Acc; });
}

bool foldFunction(Module& m, FunctionId f) { return Folder(m, f).run(); }

namespace {

/// Whether a round left a function as it is, where the functions that it calls have these effects.
struct Simplified {
  static constexpr char name[] = "simplified";
  bool is = false;
  std::vector<EffectSet> called;
};

std::vector<EffectSet> effectsOfCalled(const Module& m, FunctionId f, const Effects& effects) {
  std::vector<EffectSet> out;
  for (FunctionId callee : analysis<OwnEffects>(m, f)->called) out.push_back(effects.ofFunction(callee));
  return out;
}

/// One round over a function; whether it changed. A function that stayed as it was in the last round over it
/// stays as it is until it, or an effect of what it calls, changes.
bool simplifyOnce(Module& m, FunctionId f, const Effects& effects) {
  std::vector<EffectSet> called = effectsOfCalled(m, f, effects);
  const auto last = m.analyses->note<Simplified>(m, f);
  const bool isDone = last->is && last->called == called;
  if (isDone && !m.analyses->areChecked()) return false;
  const bool folded = foldFunction(m, f);
  const bool changed = eliminateDeadValues(m, f, effects) || folded;
  if (changed && isDone) m.analyses->refute(m, f, Simplified::name);
  if (!changed) *m.analyses->note<Simplified>(m, f) = {true, std::move(called)};
  return changed;
}

} // namespace

bool simplify(Module& m) {
  // Folding makes values dead and dead values make folding possible; a few rounds are enough, the bound is a
  // guard.
  bool any = false;
  for (int round = 0; round < 12; ++round) {
    const Effects effects(m);
    bool changed = false;
    forEachBody(m, [&](FunctionId f) { changed |= simplifyOnce(m, f, effects); });
    if (!changed) break;
    any = true;
  }
  return any;
}

} // namespace melix::transforms
