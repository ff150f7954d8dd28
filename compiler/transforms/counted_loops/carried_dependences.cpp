#include "transforms/counted_loops/carried_dependences.h"

#include "core/analysis/evaluate.h"
#include "core/ir/flow.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// An arm that may run more often than it did.
constexpr size_t cheapOps = 16;
constexpr size_t mostUpdates = 16; ///< that reads are compared with

class CarryFollower {
public:
  CarryFollower(const Module& m, const Function& f, const Uses& uses, const DisjointAccesses& places,
                OpId loop, uint32_t k)
      : m_(m), f_(f), uses_(uses), places_(places), loop_(loop), k_(k), view_(f, f.ops[loop]) {}

  LoopCarry run() {
    const ValueId carry = view_.carryParams()[k_];
    hold(carry);
    while (good_ && next_ < queue_.size()) {
      const ValueId v = queue_[next_++];
      uses_.forEach(v, [&](Use use) { good_ = good_ && follow(use); });
    }
    good_ = good_ && std::ranges::all_of(needed_, [&](ValueId v) { return out_.holders.contains(v); });
    good_ = good_ && std::ranges::none_of(terms_, [&](ValueId v) { return out_.holders.contains(v); });
    good_ = good_ && out_.holders.contains(view_.carryYields()[k_]);
    if (!good_) return {};
    const bool cells = !out_.accesses.empty();
    if (cells == monoid_.has_value()) return {}; // neither, or both
    out_.kind = cells ? LoopCarry::Kind::Cells : LoopCarry::Kind::Gathered;
    if (!cells) out_.monoid = *monoid_;
    if (cells) takeOutside();
    if (cells && !findCell(carry)) return {};
    return std::move(out_);
  }

private:
  void hold(ValueId v) {
    if (out_.holders.insert(v).second) queue_.push_back(v);
  }
  /// All of these hold the carry, if one does.
  bool flow(std::span<const ValueId> from, std::span<const ValueId> to) {
    needed_.insert(needed_.end(), from.begin(), from.end());
    for (ValueId v : to) hold(v);
    return true;
  }

  bool follow(Use use) {
    const Op& op = f_.ops[use.op];
    switch (op.kind) {
    case OpKind::Yield: return yielded(use);
    case OpKind::For: return use.operand > 0 && around(op, use.operand - 1);
    case OpKind::While: return around(op, use.operand);
    case OpKind::If: return connects(op);
    case OpKind::Select: return use.operand > 0 && flow(std::span(op.operands).subspan(1), op.results);
    case OpKind::Get: return use.operand == 0 && accessed(use.op);
    case OpKind::Set:
    case OpKind::AddAt: return use.operand == 0 && accessed(use.op) && flow({}, op.results);
    default: return gathers(op, use.operand);
    }
  }

  bool yielded(Use use) {
    const RegionId region = uses_.regionOf(use.op);
    const OpId parent = f_.regions[region].parent;
    if (parent == loop_) return use.operand == k_;
    const Op& op = f_.ops[parent];
    switch (op.kind) {
    case OpKind::If:
    case OpKind::Match:
      for (RegionId r : op.regions) needed_.push_back(terminator(f_, r).operands[use.operand]);
      hold(op.results[use.operand]);
      return true;
    case OpKind::For: return use.operand < LoopView(f_, op).carries() && around(op, use.operand);
    case OpKind::While: return region == op.regions[1] && around(op, use.operand);
    default: return false;
    }
  }
  bool around(const Op& op, uint32_t k) {
    const LoopView loop(f_, op);
    if (!loop.bodyDims().empty()) return false;
    flow(loop.carryOperands().subspan(k, 1), loop.carryResults().subspan(k, 1));
    flow(loop.carryYields().subspan(k, 1), loop.carryParams().subspan(k, 1));
    if (!loop.isCounted()) hold(loop.carryParams(loop.condition())[k]);
    return true;
  }

  // --- gathered terms

  bool gathersBy(MonoidKind monoid) {
    if (monoid_ && *monoid_ != monoid) return false;
    monoid_ = monoid;
    return true;
  }
  bool gathers(const Op& op, uint32_t operand) {
    if (op.results.size() != 1 || op.operands.size() != 2) return false;
    if (f_.typeOf(op.results[0]) != f_.typeOf(op.operands[operand])) return false;
    const std::optional<MonoidKind> monoid = exactMonoid(op, operand);
    if (!monoid || !gathersBy(*monoid)) return false;
    terms_.push_back(op.operands[1 - operand]);
    hold(op.results[0]);
    return true;
  }
  std::optional<MonoidKind> exactMonoid(const Op& op, uint32_t operand) const {
    const TypeId type = f_.typeOf(op.results[0]);
    const TypeKind kind = m_.types.kind(type);
    if (op.kind == OpKind::Sub)
      return types::isIntKind(kind) && operand == 0 ? std::optional(MonoidKind::Sum) : std::nullopt;
    const std::optional<MonoidKind> monoid = monoidOf(op.kind);
    const bool isLogic = op.kind == OpKind::And || op.kind == OpKind::Or;
    return monoid && isExact(*monoid, kind) && isLogic == (kind == TypeKind::Bool) ? monoid : std::nullopt;
  }
  /// `if carry { term } { false }` is `and`, `if carry { true } { term }` is `or`: where the term is cheap
  /// and has no effect, it may be computed where the carry decides.
  bool connects(const Op& op) {
    if (op.results.size() != 1 || m_.types.kind(f_.typeOf(op.results[0])) != TypeKind::Bool) return false;
    const ValueId then = terminator(f_, op.regions[0]).operands[0];
    const ValueId other = terminator(f_, op.regions[1]).operands[0];
    const bool isAnd = isConstant(other, 0), isOr = isConstant(then, 1);
    if (isAnd == isOr || !isCheap(op.regions[isAnd ? 0 : 1])) return false;
    terms_.push_back(isAnd ? then : other);
    hold(op.results[0]);
    return gathersBy(isAnd ? MonoidKind::And : MonoidKind::Or);
  }
  bool isConstant(ValueId v, uint64_t bits) const {
    const OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == OpKind::Const && f_.ops[def].as<Constant>().bits == bits;
  }
  bool isCheap(RegionId r) const {
    const std::vector<OpId>& ops = f_.regions[r].ops;
    return ops.size() <= cheapOps && std::ranges::all_of(ops, [&](OpId id) {
             const Op& op = f_.ops[id];
             return op.regions.empty() && op.kind != OpKind::Call && op.kind != OpKind::Math &&
                    ops::opEffect(op.kind) == ops::EffectKind::None;
           });
  }

  // --- cells

  bool accessed(OpId id) {
    if (m_.types.kind(f_.typeOf(f_.ops[id].operands[0])) != TypeKind::Array) return false;
    out_.accesses.push_back(id);
    return true;
  }

  /// Takes reads of elements that no iteration updates from the accesses.
  void takeOutside() {
    std::vector<OpId> updates;
    auto isRead = [&](OpId id) { return f_.ops[id].kind == OpKind::Get; };
    for (OpId id : out_.accesses)
      if (!isRead(id)) updates.push_back(id);
    if (updates.empty() || updates.size() > mostUpdates) return;
    const uint32_t depth = places_.depthOf(uses_.regionOf(loop_));
    auto isDisjoint = [&](OpId id) {
      if (!isRead(id) || !places_.isPlace(f_.ops[id])) return false;
      const PlaceForms place = places_.formsOf(f_.ops[id]);
      return std::ranges::all_of(updates,
                                 [&](OpId by) { return places_.areDisjoint(place, f_.ops[by], depth); });
    };
    std::ranges::copy_if(out_.accesses, std::back_inserter(out_.outside), isDisjoint);
    std::erase_if(out_.accesses,
                  [&](OpId id) { return std::ranges::find(out_.outside, id) != out_.outside.end(); });
  }

  bool isInside(ValueId v) const {
    for (RegionId r = uses_.homeOf(v); r.valid();) {
      if (r == view_.body()) return true;
      const OpId around = f_.regions[r].parent;
      r = around.valid() ? uses_.regionOf(around) : RegionId();
    }
    return false;
  }
  /// Sizes that the loop does not define.
  bool isKnownOutside(DimId d) const {
    std::vector<DimSym> symbols;
    m_.types.dims.collectSymbols(d, symbols);
    auto isParameter = [&](DimSym s) { return std::ranges::find(f_.dimParams, s) != f_.dimParams.end(); };
    std::erase_if(symbols, isParameter);
    if (symbols.empty()) return true;
    std::unordered_set<DimSym> inside;
    forEachOp(f_, view_.body(), [&](OpId id) {
      const Op& op = f_.ops[id];
      inside.insert(op.resultDims.begin(), op.resultDims.end());
      for (RegionId r : op.regions)
        inside.insert(f_.regions[r].dimParams.begin(), f_.regions[r].dimParams.end());
    });
    return std::ranges::none_of(symbols, [&](DimSym s) { return inside.contains(s); });
  }
  CellStep stepOf(const PathStep& step, ValueId index) const {
    CellStep out{step, std::nullopt, index};
    const ValueId i = view_.index();
    if (step.kind == StepKind::Slice && !isKnownOutside(step.length)) return {};
    if (step.kind == StepKind::All) return {};
    out.index = affineForm(m_.types.dims, f_, index,
                           {[&](ValueId v) { return v == i; }, [&](ValueId v) { return !isInside(v); }});
    return out.index ? out : CellStep();
  }
  std::vector<CellStep> stepsOf(const Op& access) const {
    std::vector<CellStep> out;
    const Place place = placeOf(access);
    const TypeId root = f_.typeOf(access.operands[0]);
    size_t at = 0;
    for (size_t k = 0; k < leadingAxes(m_.types, root, place.path); ++k)
      out.push_back(stepOf(place.path[k], takesIndex(place.path[k].kind) ? place.indices[at++] : ValueId()));
    out.resize(m_.types[root].dims.size());
    return out;
  }
  static bool same(const CellStep& a, const CellStep& b) {
    return a.step.kind == b.step.kind && a.step.length == b.step.length && a.step.step == b.step.step &&
           a.index == b.index;
  }

  /// The place that all accesses share; it has to vary with the loop on one axis, by an index.
  bool findCell(ValueId carry) {
    for (ValueId v : out_.holders)
      if (f_.typeOf(v) != f_.typeOf(carry)) return false; // of sizes that a branch decides
    out_.steps = stepsOf(f_.ops[out_.accesses[0]]);
    for (OpId id : out_.accesses) {
      const std::vector<CellStep> more = stepsOf(f_.ops[id]);
      for (size_t k = 0; k < more.size(); ++k)
        if (!same(out_.steps[k], more[k])) out_.steps[k] = {};
    }
    size_t varying = 0;
    for (size_t k = 0; k < out_.steps.size(); ++k) {
      const CellStep& s = out_.steps[k];
      if (!s.index || s.index->axes.empty()) continue;
      if (s.step.kind != StepKind::Index) return false;
      out_.axis = k;
      ++varying;
    }
    out_.beginsAnew = true;
    out_.isRead = false;
    uses_.forEach(carry, [&](Use use) {
      const Op& op = f_.ops[use.op];
      std::vector<ValueId> indices;
      const bool replaced =
          op.kind == OpKind::Set && use.operand == 0 && withinCell(op, out_.steps, indices).empty();
      out_.beginsAnew = out_.beginsAnew && (replaced || op.kind == OpKind::Get);
      out_.isRead = out_.isRead || !replaced;
    });
    return varying == 1;
  }

  const Module& m_;
  const Function& f_;
  const Uses& uses_;
  const DisjointAccesses& places_;
  const OpId loop_;
  const uint32_t k_;
  const LoopView view_;
  LoopCarry out_;
  std::vector<ValueId> queue_, needed_;
  std::vector<ValueId> terms_; ///< that the carry is combined with: they do not hold it
  size_t next_ = 0;
  std::optional<MonoidKind> monoid_;
  bool good_ = true;
};

} // namespace

LoopCarry followCarry(const Module& m, const Function& f, const Uses& uses, const DisjointAccesses& places,
                      OpId loop, uint32_t k) {
  return CarryFollower(m, f, uses, places, loop, k).run();
}

Path withinCell(const Op& access, const std::vector<CellStep>& steps, std::vector<ValueId>& indices) {
  const Place place = placeOf(access);
  Path out;
  size_t at = 0, axis = 0;
  for (const PathStep& s : place.path) {
    const ValueId index = takesIndex(s.kind) ? place.indices[at++] : ValueId();
    if (!isIndexLike(s.kind)) axis = steps.size(); // what follows goes into elements
    const CellStep* cell = axis < steps.size() ? &steps[axis++] : nullptr;
    if (cell && cell->step.kind == StepKind::Index) continue;
    if (cell && cell->step.kind == StepKind::Slice) {
      out.push_back(PathStep{StepKind::All, 0, {}, 1});
      continue;
    }
    out.push_back(s);
    if (index.valid()) indices.push_back(index);
  }
  while (!out.empty() && out.back().kind == StepKind::All) out.pop_back();
  return out;
}

} // namespace melix::transforms
