#include "transforms/predication/speculate_sums.h"

#include "core/analysis/predicate.h"
#include "core/ir/build.h"
#include "transforms/analysis/axis_variance.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/if_to_select.h"
#include "transforms/walks/speculation.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class SumSpeculator {
public:
  SumSpeculator(Module& m, FunctionId f, const FreeingFacts& facts)
      : m_(m), f_(f), effects_(facts.effects), undefined_(facts.undefined), costs_(m, m.functions[f]) {}

  void nest(OpId id, Ranges& ranges) {
    if (isMade(fn().ops[id])) branchesOf(id, ranges);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// A nest of which every point counts.
  static bool isMade(const Op& op) {
    return op.dims.size() <= AxisSet::most && nestAccs(op) == 0 &&
           std::ranges::all_of(nestResults(op), [](const NestResult& r) {
             return r.kind == NestResultKind::Collect || (r.kind == NestResultKind::Reduce && !isCombine(r));
           });
  }

  void branchesOf(OpId nest, Ranges& ranges) {
    const RegionId region = fn().ops[nest].regions[0];
    auto isMasked = [this](OpId id) {
      const Op& op = fn().ops[id];
      return op.kind == OpKind::If && (hasNest(op.regions[0]) || hasNest(op.regions[1]));
    };
    if (!hasNest(region) && std::ranges::none_of(fn().regions[region].ops, isMasked)) return;
    const Sides sides = sidesOf(m_, fn(), nest);
    std::vector<OpId> out;
    for (OpId id : fn().regions[region].ops) {
      std::vector<OpId> guarded;
      const bool isMask =
          isMasked(id) && isOfMost(fn().ops[id], region, sides) && isSpeculatable(id, ranges, guarded);
      if (!isMask && !isChoice(fn().ops[id])) {
        out.push_back(id);
        continue;
      }
      for (OpId read : guarded) guard(id, read);
      ifConvert(m_, f_, id, out);
    }
    fn().regions[region].ops = std::move(out);
  }
  /// Whether a branch is between numbers that are there, or cost no more than it.
  bool isChoice(const Op& op) const {
    return op.kind == OpKind::If && givesNumbers(op) &&
           std::ranges::all_of(op.regions, [this](RegionId arm) { return isSoonMade(arm); });
  }
  bool isSoonMade(RegionId arm) const {
    uint32_t flops = 0;
    for (OpId id : fn().regions[arm].ops) {
      const Op& op = fn().ops[id];
      if (op.kind == OpKind::Const || op.kind == OpKind::Yield) continue;
      auto isCheap = [this](ValueId v) {
        return isFloat(v) || m_.types.kind(fn().typeOf(v)) == TypeKind::Bool;
      };
      if (!op.regions.empty() || op.operands.empty() || effects_.ofOp(fn(), id).any() ||
          !std::ranges::all_of(op.operands, isCheap) || !std::ranges::all_of(op.results, isCheap))
        return false;
      flops += costs_.ofOp(id).flops;
    }
    return flops < mathFlops;
  }
  bool isFloat(ValueId v) const { return m_.types.isFloat(fn().typeOf(v)); }
  bool givesNumbers(const Op& op) const {
    return op.resultDims.empty() &&
           std::ranges::all_of(op.results, [this](ValueId v) { return m_.types.isScalar(fn().typeOf(v)); });
  }
  bool hasNest(RegionId region) const {
    return std::ranges::any_of(fn().regions[region].ops,
                               [this](OpId id) { return fn().ops[id].kind == OpKind::Nest; });
  }

  // --- the condition

  /// What has to hold of axes: how they are compared, and whether the order of some separates the sides of a
  /// product, so that there are whole blocks where it does not hold.
  struct Compared {
    bool areAxes = true, areSame = false, areOrdered = false, separatesSides = false;
  };
  Compared compare(ValueId condition, RegionId body, const Sides& sides) const {
    Compared out;
    auto isAxis = [&](ValueId v) { return fn().values[v].region == body && !fn().values[v].def.valid(); };
    auto isOutside = [&](ValueId v) {
      return !fn().values[v].def.valid() || !stands(fn().values[v].def, body);
    };
    for (ValueId each : conjunctsOf(fn(), condition)) {
      const auto cmp = affineComparison(m_, fn(), each, {isAxis, isOutside});
      out.areAxes &= cmp.has_value();
      if (!cmp) continue;
      out.areSame |= cmp->how == ops::CmpKind::Eq;
      if (!cmp->isOrder()) continue;
      uint64_t axes = 0;
      for (ValueId axis : cmp->axes()) axes |= uint64_t{1} << fn().values[axis].index;
      out.areOrdered = true;
      out.separatesSides |= (axes & sides.axes(0)) != 0 && (axes & sides.axes(1)) != 0;
    }
    return out;
  }
  /// Whether the sums in the arms are needed at most points, or not in whole blocks of a product. What data,
  /// or bounds of one side, decide may hold anywhere: a product at all points costs less than each of one in
  /// thirty by itself.
  bool isOfMost(const Op& branch, RegionId body, const Sides& sides) const {
    const Compared seen = compare(branch.operands[0], body, sides);
    if (!seen.areAxes || (seen.areOrdered && !seen.separatesSides))
      return sides.areTwo() &&
             std::ranges::all_of(branch.regions, [this](RegionId arm) { return areOfProducts(arm); });
    const bool whereTheyHold = !seen.areSame, whereTheyDoNot = seen.areSame || seen.separatesSides;
    return (!hasNest(branch.regions[0]) || whereTheyHold) && (!hasNest(branch.regions[1]) || whereTheyDoNot);
  }
  /// Whether the sums of an arm have terms that cost no more than products.
  bool areOfProducts(RegionId arm) const {
    return std::ranges::all_of(fn().regions[arm].ops, [this](OpId id) {
      const Op& op = fn().ops[id];
      return op.kind != OpKind::Nest || !isExpensive(costs_.ofRegion(op.regions[0]));
    });
  }
  bool stands(OpId op, RegionId region) const {
    return std::ranges::find(fn().regions[region].ops, op) != fn().regions[region].ops.end();
  }

  // --- the arms

  /// Whether the arms may run at all points, but for reads of theirs that are to be guarded. Those are of
  /// floats: where an integer that is read is an index, that is in range by what it is, not by a 0.
  bool isSpeculatable(OpId branch, Ranges& ranges, std::vector<OpId>& guarded) const {
    const Op& op = fn().ops[branch];
    if (!givesNumbers(op)) return false;
    bool areSpeculatable = true;
    std::unordered_set<OpId> made;
    for (RegionId arm : op.regions) {
      forEachOp(fn(), arm, [&](OpId id) { made.insert(id); });
      forEachOp(fn(), arm, [&](OpId id) {
        if (isSpeculatable(id, ranges, made)) return;
        if (stands(id, arm) && isReadOfThere(id, made) && isFloat(fn().ops[id].results[0]))
          guarded.push_back(id);
        else
          areSpeculatable = false;
      });
    }
    return areSpeculatable;
  }
  /// An op of an arm: numbers, sums of them, and reads in range of arrays that are there whatever arm is
  /// taken.
  bool isSpeculatable(OpId id, Ranges& ranges, const std::unordered_set<OpId>& made) const {
    const Op& op = fn().ops[id];
    if (effects_.ofOp(fn(), id).any()) return false;
    if (op.kind == OpKind::Yield) return true;
    if (!std::ranges::all_of(op.results, [&](ValueId v) { return m_.types.isScalar(fn().typeOf(v)); }))
      return false;
    if (op.kind == OpKind::Nest) return nestAccs(op) == 0;
    if (op.kind == OpKind::If) return true;
    if (op.kind != OpKind::Get) return op.regions.empty() && op.kind != OpKind::Call;
    return isReadOfThere(id, made) && readsInRange(m_, fn(), ranges, op);
  }
  /// Whether an op of an arm reads a number of an array that is there whatever arm is taken.
  bool isReadOfThere(OpId id, const std::unordered_set<OpId>& made) const {
    const Op& op = fn().ops[id];
    return op.kind == OpKind::Get && !effects_.ofOp(fn(), id).any() &&
           m_.types.isScalar(fn().typeOf(op.results[0])) && !made.contains(fn().values[op.operands[0]].def) &&
           !undefined_.mayBe(f_, op.operands[0]);
  }

  /// A read of an arm keeps a branch of its own, on the same condition: 0 where the arm is not taken.
  void guard(OpId branch, OpId read) {
    const size_t arm = stands(read, fn().ops[branch].regions[0]) ? 0 : 1;
    const RegionId region = fn().ops[branch].regions[arm];
    const ValueId v = fn().ops[read].results[0];
    const TypeId type = fn().typeOf(v);
    Builder b(m_, f_, fn().regions.add(Region{}), fn().ops[read].loc);
    Op choice = Builder::simple(OpKind::If, {fn().ops[branch].operands[0]});
    for (size_t k = 0; k < 2; ++k) {
      choice.regions.push_back(b.newRegion());
      Builder in = b.in(choice.regions[k]);
      Op copy = fn().ops[read];
      copy.results.clear();
      in.yield({k == arm ? in.one(std::move(copy), type) : in.zero(type)});
    }
    const OpId made = b.append(std::move(choice), {type});
    takeOver(fn(), made, std::span(&v, 1));
    std::ranges::replace(fn().regions[region].ops, read, made);
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Undefined& undefined_;
  const Costs costs_;
};

} // namespace

void speculateSums(Module& m) { speculateInsideOut<SumSpeculator>(m); }

} // namespace melix::transforms
