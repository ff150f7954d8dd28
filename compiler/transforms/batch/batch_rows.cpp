#include "transforms/batch/batch_rows.h"

#include "core/ir/call_graph.h"
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
#include "transforms/batch/pushing_loop.h"
#include "transforms/batch/row_checks.h"
#include "transforms/batch/row_functions.h"
#include "transforms/batch/row_seeds.h"
#include "transforms/batch/rows_left.h"
#include "transforms/batch/speculated_nest.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/define_collected.h"
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
             std::vector<FunctionId>& copies, BatchingLog* log)
      : m_(m), f_(f), effects_(effects), functions_(functions), costs_(m, m.functions[f]),
        reordersSums_(reordersSums), calls_(m, f, functions), copies_(copies), log_(log),
        logged_(log ? log->size() : 0) {}

  bool changed = false;

  void run() {
    functions_.enter(f_);
    run(fn().body, false);
    calls_.finish();
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
    if (!isInNest && distributePushes(region, id)) return;
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
    } else if (log_ && fn().ops[id].kind == OpKind::Nest) {
      for (const RowProduct& seed : seedsOf(id))
        if (isBatchedAlone(fn().ops[seed.part].kind)) note(BatchingKind::FewRows, seed.part);
    }
    fn().regions[region].ops.push_back(id);
  }

  /// Of a loop that pushes to lists, the nest that makes what it pushes, if that has products.
  bool distributePushes(RegionId region, OpId id) {
    PushingLoop loop(m_, f_, id);
    if (!loop.matches([&](OpId each) { return functions_.hasOther(fn(), each); })) return false;
    const std::vector<OpId> before = std::exchange(fn().regions[region].ops, {});
    Builder b(m_, f_, region, fn().ops[id].loc);
    const OpId nest = loop.makeNest(b);
    const bool isWorth = !seedsOf(nest).empty();
    const std::vector<OpId> made = std::exchange(fn().regions[region].ops, before);
    if (!isWorth) return false;
    loop.push(nest);
    for (OpId each : made) place(region, each, false);
    fn().regions[region].ops.push_back(id);
    return changed = true;
  }

  /// One loop, branch, call or product in the body of a nest over rows: the first that can be batched.
  bool batch(Builder& b, OpId nest, bool isInNest) {
    const std::vector<RowProduct> products = productsOf(nest), seeds = seedsOf(nest, products);
    std::vector<BatchingDecision> left;
    if (log_) left = rowsLeft(m_, f_, nest, products, functions_);
    for (size_t k = 0; k < seeds.size(); ++k) {
      const OpId part = seeds[k].part;
      if (k > 0 && seeds[k - 1].part == part) continue;
      const size_t before = fn().regions[b.region].ops.size();
      Refused why;
      if (functions_.isSpeculated(f_) && !checkBefore(b, nest, part))
        why = Refusal{BatchingKind::OwnSize};
      else if (batchPart(b, nest, part, isInNest, seeds, why))
        return true;
      else if (fn().ops[part].kind == OpKind::Nest && fn().regions[b.region].ops.size() > before)
        return true; // A product of all rows, if nothing before it may fail.
      if (why) left.push_back({why->reason, fn().ops[part].loc, why->cause});
    }
    if (log_) log_->add(left);
    return false;
  }

  /// Whether a part is batched; else why it is not, if there is a reason. A product of a row alone has none.
  bool batchPart(Builder& b, OpId nest, OpId part, bool isInNest, const std::vector<RowProduct>& seeds,
                 Refused& why) {
    switch (fn().ops[part].kind) {
    case OpKind::For:
    case OpKind::While: return !(why = batchLoop(b, nest, part));
    case OpKind::If:
    case OpKind::Match: return !(why = isInNest ? nested() : batchBranch(b, nest, part, seeds));
    case OpKind::Call: return !(why = isInNest ? nested() : batchCall(b, nest, part));
    case OpKind::Nest: {
      ChosenSides rows(m_, f_, nest, part, effects_, costs_);
      return rows.any() && !(why = isInNest ? nested() : groupChosen(b, nest, part, rows));
    }
    default: return false;
    }
  }
  static Refused nested() { return Refusal{BatchingKind::Nested}; }

  /// Speculates that no check of a nest fails, if that lets a part of it be batched (speculated_nest.h).
  bool speculate(Builder& b, OpId nest) {
    if (reordersSums_ || functions_.isSpeculated(f_) || refusalOfResults(nest) ||
        !functions_.hasEffect(fn(), nest) || functions_.hasOther(fn(), nest) ||
        seedsOfRows(fn(), nest, productsOf(nest), functions_, true).empty())
      return false;
    const OpId call = callOfCopy(b, nest);
    const FunctionId copy = fn().ops[call].as<CallAttr>().callee;
    functions_.speculate(copy);
    copies_.push_back(copy);
    BatchingLog ofCopy;
    RowBatcher rows(m_, copy, effects_, functions_, false, copies_, log_ ? &ofCopy : nullptr);
    rows.run();
    if (!rows.changed) return fn().regions[b.region].ops.pop_back(), false;
    fallBack(b, nest, call);
    originals_.insert(nest);
    if (log_) log_->forgetNest(m_, f_, nest, logged_);
    if (log_) log_->add(ofCopy.decisions());
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

  void note(BatchingKind kind, OpId op) {
    if (log_) log_->add({kind, fn().ops[op].loc});
  }

  std::vector<RowProduct> productsOf(OpId nest) const { return productsOfRows(m_, f_, nest, effects_); }
  std::vector<RowProduct> seedsOf(OpId nest) const { return seedsOf(nest, productsOf(nest)); }
  std::vector<RowProduct> seedsOf(OpId nest, const std::vector<RowProduct>& products) const {
    return seedsOfRows(fn(), nest, products, functions_, functions_.isSpeculated(f_));
  }

  Refused batchLoop(Builder& b, OpId nest, OpId loop) {
    RowLoop rows(m_, f_, nest, loop, effects_, costs_, functions_);
    if (const Refused why = rows.refusal()) return why;
    if (rows.addsToSums() && !reordersSums_) return Refusal{BatchingKind::OrderKept};
    note(batchedAs(rows.trips()), loop);
    if (rows.addsToSums()) note(BatchingKind::Sums, loop);
    batchedLoop(std::move(rows))->leave(b);
    return std::nullopt;
  }

  Refused batchBranch(Builder& b, OpId nest, OpId branch, const std::vector<RowProduct>& seeds) {
    if (const Refused why = refusalOfResults(nest)) return why;
    std::vector<OpId> own;
    for (const RowProduct& seed : seeds)
      if (seed.part == branch) own.push_back(seed.sum);
    RowChecks checks = checksOf(nest);
    if (const Refused why = refusalOf(checks, nest)) return why;
    BatchedBranch rows(m_, f_, nest, branch, own, effects_, costs_);
    if (const Refused why = rows.refusal()) return why;
    note(rows.isSame() ? BatchingKind::SameArm : BatchingKind::Arms, branch);
    checks.move(b);
    rows.compact(b);
    return std::nullopt;
  }

  Refused batchCall(Builder& b, OpId nest, OpId call) {
    if (const Refused why = refusalOfResults(nest)) return why;
    RowChecks checks = checksOf(nest);
    if (const Refused why = refusalOf(checks, nest)) return why;
    BatchedCall rows(m_, f_, nest, call, effects_, costs_, functions_);
    if (const Refused why = rows.refusal()) return why;
    note(BatchingKind::Call, call);
    checks.move(b);
    calls_.add(b.region, rows.leave(b));
    return std::nullopt;
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

  /// Products by matrices that rows choose.
  Refused groupChosen(Builder& b, OpId nest, OpId part, ChosenSides& rows) {
    if (const Refused why = rows.refusal()) return why;
    if (rows.storeChoice(b)) return std::nullopt;
    RowChecks checks = checksOf(nest);
    if (const Refused why = refusalOf(checks, nest)) return why;
    note(BatchingKind::Chosen, part);
    checks.move(b);
    rows.group(b);
    return std::nullopt;
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
    note(BatchingKind::Sums, nest);
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

  /// None if nothing but checks has an effect, and they may stand before the nest: not if a row may not end.
  Refused refusalOf(const RowChecks& checks, OpId nest) const {
    if (!checks.mayMove()) return functions_.refusalOf(f_, checks.obstacle());
    return checks.any() ? functions_.endlessIn(fn(), fn().ops[nest].regions[0]) : Refused();
  }

  /// None if all rows give something, and in any order.
  Refused refusalOfResults(OpId nest) const {
    if (nestAccs(fn().ops[nest]) > 0 && !reordersSums_) return Refusal{BatchingKind::OrderKept};
    const bool inAnyOrder = std::ranges::all_of(nestResults(fn().ops[nest]), [](const NestResult& r) {
      return r.kind == NestResultKind::Collect || (r.kind == NestResultKind::Reduce && !isCombine(r));
    });
    return inAnyOrder ? Refused() : Refusal{BatchingKind::OtherResult};
  }

  static BatchingKind batchedAs(RowTrips trips) {
    switch (trips) {
    case RowTrips::Same: return BatchingKind::SameTrips;
    case RowTrips::Own: return BatchingKind::OwnTrips;
    case RowTrips::Unknown: break;
    }
    return BatchingKind::WhileOfRows;
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  RowFunctions& functions_;
  const Costs costs_;
  const bool reordersSums_;
  RowCalls calls_;
  std::vector<FunctionId>& copies_; ///< of nests that are speculated
  BatchingLog* const log_;
  const size_t logged_;                ///< decisions before the first of this function
  std::unordered_set<OpId> visited_;   ///< ops whose regions are done
  std::unordered_set<OpId> originals_; ///< nests that run where their copy fails
};

bool batch(Module& m, bool reordersSums, BatchingLog* log) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  RowFunctions functions(m, effects);
  std::vector<FunctionId> copies;
  if (log) log->forgetRefused();
  const std::vector<bool> reached = reachedFunctions(m);
  // Decisions in a copy are logged where it is made, if it is called.
  auto isLogged = [&](FunctionId f) {
    return (f.index >= reached.size() || reached[f.index]) && std::ranges::find(copies, f) == copies.end();
  };
  std::vector<FunctionId> changed;
  changeBodies(m, [&](FunctionId f) {
    RowBatcher s(m, f, effects, functions, reordersSums, copies, isLogged(f) ? log : nullptr);
    s.run();
    if (s.changed) changed.push_back(f);
    return s.changed;
  });
  changed.insert(changed.end(), copies.begin(), copies.end());
  const Effects now(m); // of instances too, which may fail where they are speculated
  for (FunctionId f : changed) {
    eliminateDeadValues(m, f, now);
    m.functions[f].version.raise();
  }
  for (uint32_t k = 0; k < m.functions.size() && !changed.empty(); ++k)
    if (m.functions[FunctionId(k)].body.valid()) defineCollected(m, FunctionId(k));
  for (FunctionId f : copies) dropLastResult(m, f);
  checksToValues(m, {functions.speculated().begin(), functions.speculated().end()}, copies);
  return !changed.empty();
}

} // namespace

bool batchRows(Module& m, BatchingLog* log) { return batch(m, false, log); }
bool batchSums(Module& m, BatchingLog* log) { return batch(m, true, log); }

} // namespace melix::transforms
