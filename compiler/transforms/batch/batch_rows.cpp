#include "transforms/batch/batch_rows.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/batched_branch.h"
#include "transforms/batch/batched_call.h"
#include "transforms/batch/batched_loop.h"
#include "transforms/batch/row_checks.h"
#include "transforms/batch/row_functions.h"
#include "transforms/batch/rows_left.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// The nests of one function.
class RowBatcher {
public:
  RowBatcher(Module& m, FunctionId f, const Effects& effects, RowFunctions& functions, bool reordersSums,
             BatchingLog* log)
      : m_(m), f_(f), effects_(effects), functions_(functions), costs_(m, m.functions[f]),
        reordersSums_(reordersSums), log_(log) {}

  bool changed = false;

  void run(RegionId region, bool isInNest = false) {
    const std::vector<OpId> ops = std::exchange(fn().regions[region].ops, {});
    work.ops += ops.size();
    for (OpId id : ops) place(region, id, isInNest);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Appends an op to the region, after what batching puts before it.
  void place(RegionId region, OpId id, bool isInNest) {
    if (visited_.insert(id).second)
      for (RegionId inner : Regions(fn().ops[id].regions))
        run(inner, isInNest || fn().ops[id].kind == OpKind::Nest);
    if (hasManyPoints(costs_, fn().ops[id])) {
      Builder b(m_, f_, region, fn().ops[id].loc);
      std::vector<OpId> before = std::exchange(fn().regions[region].ops, {});
      const bool isGone = batchAdds(b, id), isBatched = isGone || batch(b, id, isInNest);
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

  /// One loop, branch or call in the body of a nest over rows: the first that can be batched.
  bool batch(Builder& b, OpId nest, bool isInNest) {
    const std::vector<RowProduct> seeds = seedsOf(nest);
    BatchingLog left = log_ ? rowsLeft(m_, fn(), nest, functions_) : BatchingLog();
    for (size_t k = 0; k < seeds.size(); ++k) {
      const OpId part = seeds[k].part;
      if ((k > 0 && seeds[k - 1].part == part) || !isBatchedAlone(fn().ops[part].kind)) continue;
      const Refused why = batchPart(b, nest, part, isInNest, seeds);
      if (!why) return true;
      left.push_back({why->reason, fn().ops[part].loc, why->cause});
    }
    if (log_) log_->insert(log_->end(), left.begin(), left.end());
    return false;
  }

  Refused batchPart(Builder& b, OpId nest, OpId part, bool isInNest, const std::vector<RowProduct>& seeds) {
    const OpKind kind = fn().ops[part].kind;
    if (kind == OpKind::For || kind == OpKind::While) return batchLoop(b, nest, part);
    if (isInNest) return Refusal{BatchingKind::Nested};
    return kind == OpKind::Call ? batchCall(b, nest, part) : batchBranch(b, nest, part, seeds);
  }

  void note(BatchingKind kind, OpId op) {
    if (log_) log_->push_back({kind, fn().ops[op].loc});
  }

  /// Products of a row and a matrix in the body, and calls of functions with such, in the order of the body.
  std::vector<RowProduct> seedsOf(OpId nest) const {
    std::vector<RowProduct> products = rowProducts(m_, fn(), nest), out;
    for (OpId part : fn().regions[fn().ops[nest].regions[0]].ops) {
      auto call = [&](OpId id) {
        const Op& op = fn().ops[id];
        if (op.kind == OpKind::Call && functions_.mayBatch(op.as<CallAttr>().callee))
          out.push_back({part, id});
      };
      for (const RowProduct& p : products)
        if (p.part == part) out.push_back(p);
      call(part);
      for (RegionId r : fn().ops[part].regions) forEachOp(fn(), r, call);
    }
    return out;
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
    note(BatchingKind::Arms, branch);
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
    rows.leave(b);
    return std::nullopt;
  }

  /// Of rows that have products and add to accumulators, the adds, once no loop among them is to be batched:
  /// nests of their own, after one that makes all else.
  bool batchAdds(Builder& b, OpId nest) {
    const Results results = fn().ops[nest].results;
    const RegionId body = fn().ops[nest].regions[0];
    auto isCollected = [](const NestResult& r) { return r.kind == NestResultKind::Collect; };
    if (!reordersSums_ || nestAccs(fn().ops[nest]) == 0 || results.size() == nestAccs(fn().ops[nest]) ||
        !std::ranges::all_of(nestResults(fn().ops[nest]), isCollected) ||
        !RowAdds::areAlone(m_, fn(), body) || functions_.hasEffect(fn(), nest) || seedsOf(nest).empty())
      return false;
    note(BatchingKind::Sums, nest);
    const RowAdds adds(m_, f_, nest, costs_);
    const Rows rows(m_, f_, nest, effects_);
    const Operands begun = fn().ops[nest].operands;
    std::vector<ValueId> sums(begun.begin(), begun.end()), given = adds.makeBefore(b);
    const std::vector<ValueId> stored(given.end() - static_cast<ptrdiff_t>(adds.stored().size()),
                                      given.end());
    adds.emit(b, rows.count(), rows.flat(b, stored), sums);
    given.resize(results.size() - sums.size());
    given.insert(given.end(), sums.begin(), sums.end());
    for (size_t k = 0; k < results.size(); ++k) {
      const ValueId same = b.one(Builder::simple(OpKind::Reshape, {given[k]}), b.typeOf(given[k]));
      takeOver(fn(), fn().values[same].def, std::span(&results[k], 1));
    }
    return true;
  }

  RowChecks checksOf(OpId nest) const {
    return {m_, f_, nest, costs_, [&](OpId id) { return functions_.hasEffect(fn(), id); }};
  }

  /// None if nothing but checks has an effect, and they may stand before the nest: not if a row may not end.
  Refused refusalOf(const RowChecks& checks, OpId nest) const {
    if (!checks.mayMove()) return functions_.refusalOf(fn(), checks.obstacle());
    return checks.any() ? functions_.endlessIn(fn(), fn().ops[nest].regions[0]) : Refused();
  }

  /// None if all rows give something, and in any order.
  Refused refusalOfResults(OpId nest) const {
    if (nestAccs(fn().ops[nest]) > 0)
      return Refusal{reordersSums_ ? BatchingKind::AddsInside : BatchingKind::OrderKept};
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
  BatchingLog* const log_;
  std::unordered_set<OpId> visited_; ///< ops whose regions are done
};

bool batch(Module& m, bool reordersSums, BatchingLog* log) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  RowFunctions functions(m, effects);
  if (log) forgetRefused(*log);
  return changeBodies(m, [&](FunctionId f) {
    RowBatcher s(m, f, effects, functions, reordersSums, log);
    s.run(m.functions[f].body);
    if (s.changed) eliminateDeadValues(m, f, effects);
    return s.changed;
  });
}

} // namespace

bool batchRows(Module& m, BatchingLog* log) { return batch(m, false, log); }
bool batchSums(Module& m, BatchingLog* log) { return batch(m, true, log); }

} // namespace melix::transforms
