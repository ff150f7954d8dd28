#include "transforms/batch/batch_rows.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/accumulators.h"
#include "transforms/batch/batched_branch.h"
#include "transforms/batch/batched_call.h"
#include "transforms/batch/batched_loop.h"
#include "transforms/batch/checks_to_values.h"
#include "transforms/batch/chosen_sides.h"
#include "transforms/batch/merged_rows.h"
#include "transforms/batch/row_checks.h"
#include "transforms/batch/row_functions.h"
#include "transforms/batch/speculated_nest.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// The nests of one function.
class RowBatcher {
public:
  RowBatcher(Module& m, FunctionId f, const Effects& effects, RowFunctions& functions, bool reordersSums,
             std::vector<FunctionId>& copies)
      : m_(m), f_(f), effects_(effects), functions_(functions), costs_(m, m.functions[f]),
        reordersSums_(reordersSums), copies_(copies) {}

  bool changed = false;

  void run() {
    functions_.enter(f_);
    run(fn().body, false);
    functions_.leave(f_);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void run(RegionId region, bool isInNest) {
    const std::vector<OpId> ops = std::exchange(fn().regions[region].ops, {});
    work.ops += ops.size();
    for (OpId id : ops) place(region, id, isInNest);
  }

  /// Appends an op to the region, after what batching puts before it.
  void place(RegionId region, OpId id, bool isInNest) {
    if (originals_.contains(id)) return fn().regions[region].ops.push_back(id);
    if (visited_.insert(id).second)
      for (RegionId inner : Regions(fn().ops[id].regions))
        run(inner, isInNest || fn().ops[id].kind == OpKind::Nest);
    if (hasManyPoints(costs_, fn().ops[id])) {
      Builder b(m_, f_, region, fn().ops[id].loc);
      if (!isInNest) id = merged(b, id);
      std::vector<OpId> before = std::exchange(fn().regions[region].ops, {});
      bool isGone = batchAdds(b, id);
      bool isBatched = isGone || batch(b, id, isInNest);
      if (!isBatched && !isInNest && speculate(b, id)) isGone = isBatched = true;
      const std::vector<OpId> front = std::exchange(fn().regions[region].ops, std::move(before));
      for (OpId each : front) place(region, each, isInNest);
      if (isBatched) {
        changed = true;
        if (!isGone) place(region, id, isInNest);
        return;
      }
    }
    fn().regions[region].ops.push_back(id);
  }

  /// One loop, branch or call in the body of a nest over rows: the first that can be batched.
  bool batch(Builder& b, OpId nest, bool isInNest) {
    const std::vector<RowProduct> seeds = seedsOf(nest);
    for (size_t k = 0; k < seeds.size(); ++k) {
      const OpId part = seeds[k].part;
      if (k > 0 && seeds[k - 1].part == part) continue;
      const size_t before = fn().regions[b.region].ops.size();
      if (functions_.isSpeculated(f_) && !checkBefore(b, nest, part)) continue;
      switch (fn().ops[part].kind) {
      case OpKind::For:
      case OpKind::While:
        if (batchLoop(b, nest, part)) return true;
        break;
      case OpKind::If:
      case OpKind::Match:
        if (!isInNest && batchBranch(b, nest, part, seeds)) return true;
        break;
      case OpKind::Call:
        if (!isInNest && batchCall(b, nest, part)) return true;
        break;
      case OpKind::Nest:
        if (!isInNest && groupChosen(b, nest, part)) return true;
        // A product of all rows, if nothing before it may fail.
        if (fn().regions[b.region].ops.size() > before) return true;
        break;
      default: break;
      }
    }
    return false;
  }

  /// Speculates that no check of a nest fails, if that lets a part of it be batched (speculated_nest.h).
  bool speculate(Builder& b, OpId nest) {
    if (reordersSums_ || functions_.isSpeculated(f_) || !gives(nest) || !functions_.hasEffect(fn(), nest) ||
        functions_.hasOther(fn(), nest) || seedsOf(nest, true).empty())
      return false;
    const OpId call = callOfCopy(b, nest);
    const FunctionId copy = fn().ops[call].as<CallAttr>().callee;
    functions_.speculate(copy);
    copies_.push_back(copy);
    RowBatcher rows(m_, copy, effects_, functions_, false, copies_);
    rows.run();
    eliminateDeadValues(m_, copy, effects_);
    if (!rows.changed) return fn().regions[b.region].ops.pop_back(), false;
    fallBack(b, nest, call);
    originals_.insert(nest);
    return true;
  }

  /// All that may fail before an op of the body becomes a nest before, with what it needs. Whether that is
  /// possible.
  bool checkBefore(Builder& b, OpId nest, OpId op) {
    const RegionId body = fn().ops[nest].regions[0];
    const std::vector<OpId> ops = fn().regions[body].ops;
    const auto at = std::ranges::find(ops, op);
    std::unordered_set<OpId> failing;
    for (auto each = ops.begin(); each != at; ++each)
      if (functions_.hasEffect(fn(), *each)) failing.insert(*each);
    if (failing.empty()) return true;
    const std::unordered_set<OpId> first(ops.begin(), at);
    std::vector<ValueId> needed;
    auto need = [&](OpId id) { std::ranges::copy(fn().ops[id].operands, std::back_inserter(needed)); };
    for (auto each = at; each != ops.end(); ++each) {
      need(*each);
      for (RegionId r : fn().ops[*each].regions) forEachOp(fn(), r, need);
    }
    std::vector<ValueId> live = storedFor(fn(), costs_, body, needed);
    std::erase_if(live, [&](ValueId v) { return !first.contains(fn().values[v].def); });
    if (!std::ranges::all_of(live, [&](ValueId v) { return hasOuterSizes(m_, fn(), body, v); })) return false;
    distribute(b, nest, {AxisSet::first(fn().ops[nest].dims.size()), {ops.begin(), at}, live});
    std::erase_if(fn().regions[body].ops, [&](OpId id) { return failing.contains(id); });
    return true;
  }

  /// Products of a row and a matrix in the body, and calls of functions with such, in the order of the body.
  std::vector<RowProduct> seedsOf(OpId nest) const { return seedsOf(nest, functions_.isSpeculated(f_)); }
  std::vector<RowProduct> seedsOf(OpId nest, bool isSpeculated) const {
    std::vector<RowProduct> products = rowProducts(m_, fn(), nest), out;
    for (const ChosenProduct& each : chosenProducts(m_, f_, nest, effects_))
      products.push_back({each.part, each.sum});
    for (OpId part : fn().regions[fn().ops[nest].regions[0]].ops) {
      auto call = [&](OpId id) {
        const Op& op = fn().ops[id];
        if (op.kind == OpKind::Call && functions_.mayBatch(op.as<CallAttr>().callee, isSpeculated))
          out.push_back({part, id});
      };
      for (const RowProduct& p : products)
        if (p.part == part) out.push_back(p);
      call(part);
      for (RegionId r : fn().ops[part].regions) forEachOp(fn(), r, call);
    }
    return out;
  }

  bool batchLoop(Builder& b, OpId nest, OpId loop) {
    RowLoop rows(m_, f_, nest, loop, effects_, costs_, functions_);
    if (!rows.canInterchange() || (rows.addsToSums() && !reordersSums_)) return false;
    batchedLoop(std::move(rows))->leave(b);
    return true;
  }

  bool batchBranch(Builder& b, OpId nest, OpId branch, const std::vector<RowProduct>& seeds) {
    if (!gives(nest)) return false;
    std::vector<OpId> own;
    for (const RowProduct& seed : seeds)
      if (seed.part == branch) own.push_back(seed.sum);
    RowChecks checks = checksOf(nest);
    if (!checks.mayMove() || (checks.any() && mayNotEnd(nest))) return false;
    BatchedBranch rows(m_, f_, nest, branch, own, effects_, costs_);
    if (!rows.isPossible()) return false;
    checks.move(b);
    rows.compact(b);
    return true;
  }

  bool batchCall(Builder& b, OpId nest, OpId call) {
    if (!gives(nest)) return false;
    RowChecks checks = checksOf(nest);
    if (!checks.mayMove() || (checks.any() && mayNotEnd(nest))) return false;
    BatchedCall rows(m_, f_, nest, call, effects_, costs_, functions_);
    if (!rows.isPossible()) return false;
    checks.move(b);
    rows.leave(b);
    return true;
  }

  /// The nest, or it and the nest within it as one, if rows of that one choose matrices.
  OpId merged(Builder& b, OpId nest) {
    const MergedRows rows(m_, f_, nest, effects_, costs_);
    const OpId inner = rows.inner();
    if (!inner.valid() || !(addsToChosen(inner) || !chosenProducts(m_, f_, inner, effects_).empty()))
      return nest;
    changed = true;
    const OpId made = rows.merge(b);
    std::erase(fn().regions[b.region].ops, made);
    return made;
  }
  /// Whether points of a nest add matrices at places that they choose, and may do so in another order.
  bool addsToChosen(OpId nest) const {
    return reordersSums_ && nestAccs(fn().ops[nest]) > 0 &&
           RowAdds::areAlone(m_, fn(), fn().ops[nest].regions[0]) &&
           RowAdds(m_, f_, nest, costs_).anyChosen();
  }

  /// Products by matrices that rows choose, if the part is one.
  bool groupChosen(Builder& b, OpId nest, OpId part) {
    ChosenSides rows(m_, f_, nest, part, effects_, costs_);
    if (!rows.isPossible()) return false;
    if (rows.storeChoice(b)) return true;
    RowChecks checks = checksOf(nest);
    if (!checks.mayMove() || (checks.any() && mayNotEnd(nest))) return false;
    checks.move(b);
    rows.group(b);
    return true;
  }

  /// Of rows that have products and add to accumulators, the adds, once no loop among them is to be batched:
  /// nests of their own, after one that makes all else. The same if rows choose where they add matrices.
  bool batchAdds(Builder& b, OpId nest) {
    const Results results = fn().ops[nest].results;
    const RegionId body = fn().ops[nest].regions[0];
    auto isCollected = [](const NestResult& r) { return r.kind == NestResultKind::Collect; };
    const bool onlyAdds = results.size() == nestAccs(fn().ops[nest]);
    if (!reordersSums_ || nestAccs(fn().ops[nest]) == 0 ||
        !std::ranges::all_of(nestResults(fn().ops[nest]), isCollected) ||
        !RowAdds::areAlone(m_, fn(), body) || functions_.hasEffect(fn(), nest))
      return false;
    const RowAdds adds(m_, f_, nest, costs_);
    const bool addAll = onlyAdds ? adds.haveProducts() : !seedsOf(nest).empty();
    if ((!addAll && !adds.anyChosen()) ||
        !std::ranges::all_of(adds.stored(), [&](ValueId v) { return hasOuterSizes(m_, fn(), body, v); }))
      return false;
    const Rows rows(m_, f_, nest, effects_);
    const Operands begun = fn().ops[nest].operands;
    std::vector<ValueId> sums(begun.begin(), begun.end()), given = adds.makeBefore(b);
    const std::vector<ValueId> stored(given.end() - static_cast<ptrdiff_t>(adds.stored().size()),
                                      given.end());
    adds.emit(b, rows.count(), rows.flat(b, stored), sums);
    given.resize(results.size() - sums.size());
    given.insert(given.end(), sums.begin(), sums.end());
    for (size_t k = 0; k < results.size(); ++k) {
      const ValueId same = sameAs(b, given[k]);
      takeOver(fn(), fn().values[same].def, std::span(&results[k], 1));
    }
    return true;
  }

  /// The result of an op of its own that is the same value.
  ValueId sameAs(Builder& b, ValueId v) const {
    if (!isAccumulator(m_, fn(), v)) return b.one(Builder::simple(OpKind::Reshape, {v}), b.typeOf(v));
    NestBuilder point(b);
    point.end(point.accumulator(v));
    return point.one();
  }

  RowChecks checksOf(OpId nest) const {
    return {m_, f_, nest, costs_, [&](OpId id) { return functions_.isOrdered(f_, id); }};
  }

  /// Whether a row may not end: checks of others do not move before it.
  bool mayNotEnd(OpId nest) const {
    return std::ranges::any_of(fn().regions[fn().ops[nest].regions[0]].ops,
                               [&](OpId id) { return functions_.mayNotEnd(fn(), id); });
  }

  /// Whether all rows give something, and in any order.
  bool gives(OpId nest) const {
    return (nestAccs(fn().ops[nest]) == 0 || reordersSums_) &&
           std::ranges::all_of(nestResults(fn().ops[nest]), [](const NestResult& r) {
             return r.kind == NestResultKind::Collect || (r.kind == NestResultKind::Reduce && !isCombine(r));
           });
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  RowFunctions& functions_;
  const Costs costs_;
  const bool reordersSums_;
  std::vector<FunctionId>& copies_;    ///< of nests that are speculated
  std::unordered_set<OpId> visited_;   ///< ops whose regions are done
  std::unordered_set<OpId> originals_; ///< nests that run where their copy fails
};

bool batch(Module& m, bool reordersSums) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  RowFunctions functions(m, effects);
  std::vector<FunctionId> copies;
  const bool changed = changeBodies(m, [&](FunctionId f) {
    RowBatcher s(m, f, effects, functions, reordersSums, copies);
    s.run();
    if (s.changed) eliminateDeadValues(m, f, effects);
    return s.changed;
  });
  for (FunctionId f : copies) dropLastResult(m, f);
  checksToValues(m, {functions.speculated().begin(), functions.speculated().end()}, copies);
  return changed;
}

} // namespace

bool batchRows(Module& m) { return batch(m, false); }
bool batchSums(Module& m) { return batch(m, true); }

} // namespace melix::transforms
