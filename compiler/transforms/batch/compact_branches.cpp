#include "transforms/batch/compact_branches.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/row_checks.h"
#include "transforms/batch/rows.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// One branch in the body of a nest over rows.
class Compaction {
public:
  Compaction(Module& m, FunctionId f, OpId nest, OpId branch, const Effects& effects, const Costs& costs)
      : m_(m), f_(f), nest_(nest), branch_(branch), body_(fn().ops[nest].regions[0]), effects_(effects),
        costs_(costs), rows_(m, f, nest, effects) {}

  /// `products`: the sums of products of a row and a matrix in the nest.
  bool isPossible(const std::vector<RowProduct>& products) {
    const Op& op = fn().ops[branch_];
    const AxisVariance body(m_, f_, nest_, effects_);
    const std::optional<AxisSet> tested = body.axesOf(op.operands[0]);
    if (isMatchOfEnum(m_, fn(), op) || op.results.empty() || !op.resultDims.empty() ||
        !body.axesOf(branch_) || !tested || tested->empty() ||
        !std::ranges::all_of(op.results, [&](ValueId v) { return isOfNumbers(m_.types, fn().typeOf(v)); }))
      return false;
    for (size_t r = 0; r < op.regions.size(); ++r)
      if (holdsProduct(op.regions[r], products)) arms_.push_back({r, {}, {}, {}});
    return !arms_.empty() && std::ranges::all_of(stored(), [&](ValueId v) { return canBeStored(m_, fn(), body_, v); });
  }

  /// Appends what comes before the nest; gives the nests over the rows of each arm.
  std::vector<OpId> compact(Builder& b) {
    if (const std::vector<ValueId> live = stored(); !live.empty())
      distribute(b, nest_,
                 {AxisSet::first(fn().ops[nest_].dims.size()),
                  AxisVariance(m_, f_, nest_, effects_, OwnSizes::Copied).slice(live), live});
    std::vector<OpId> made;
    for (Arm& arm : arms_) {
      findRows(b, arm);
      made.push_back(runArm(b, arm));
    }
    countRows(b);
    readArms();
    return made;
  }

private:
  /// An arm that is compacted.
  struct Arm {
    size_t number;                ///< of its region
    ValueId rows;                 ///< those that take it, by their row-major positions
    std::vector<ValueId> results; ///< what it gives for these
    ValueId before;               ///< by row: how many of `rows` come before it
  };
  Function& fn() const { return m_.functions[f_]; }
  bool holdsProduct(RegionId arm, const std::vector<RowProduct>& products) const {
    bool holds = false;
    forEachOp(fn(), arm, [&](OpId id) {
      holds = holds || std::ranges::any_of(products, [&](const RowProduct& p) { return p.sum == id; });
    });
    return holds;
  }

  /// Values of the body of the nest that the arms need, and the condition.
  std::vector<ValueId> needs() const {
    const Op& op = fn().ops[branch_];
    std::vector<ValueId> out{op.operands[0]};
    for (const Arm& arm : arms_) std::ranges::copy(needsOf(arm), std::back_inserter(out));
    return out;
  }
  std::vector<ValueId> needsOf(const Arm& arm) const {
    std::vector<ValueId> out;
    const std::unordered_set<OpId> here(fn().regions[body_].ops.begin(), fn().regions[body_].ops.end());
    forEachOp(fn(), fn().ops[branch_].regions[arm.number], [&](OpId id) {
      for (ValueId v : fn().ops[id].operands)
        if (const OpId def = fn().values[v].def; def.valid() && here.contains(def)) out.push_back(v);
    });
    return out;
  }
  std::vector<ValueId> stored() const { return storedFor(fn(), costs_, body_, needs()); }

  /// Copies what makes the values for the row at this position.
  Cloner rowAt(Builder& in, ValueId position, std::span<const ValueId> values) const {
    Cloner copy(m_, f_, f_);
    rows_.enter(in, copy, position);
    rows_.copy(in, copy, values);
    return copy;
  }

  /// Whether a row takes the arm.
  ValueId takes(Builder& in, ValueId tested, const Arm& arm) const {
    const Op& op = fn().ops[branch_];
    if (op.kind == OpKind::If) return arm.number == 0 ? tested : in.unary(OpKind::Not, tested);
    Op match = Builder::simple(OpKind::Match, {tested}, op.as<MatchAttr>());
    for (size_t r = 0; r < op.regions.size(); ++r) {
      Builder each = in.in(in.newRegion());
      each.yield({each.boolean(r == arm.number)});
      match.regions.push_back(each.region);
    }
    return in.one(std::move(match), m_.types.boolean());
  }

  void findRows(Builder& b, Arm& arm) const {
    NestBuilder rows(b);
    const ValueId position = rows.axis(rows_.count());
    Builder in = b.in(rows.body());
    const ValueId tested = fn().ops[branch_].operands[0];
    const Cloner copy = rowAt(in, position, std::span(&tested, 1));
    rows.add(filtering(), std::array{takes(in, copy.value(tested), arm), position}, {{}, {}, b.newDim("m")});
    arm.rows = rows.one();
  }

  OpId runArm(Builder& b, Arm& arm) const {
    NestBuilder rows(b);
    const ValueId at = rows.axis(m_.types[b.typeOf(arm.rows)].dims[0]);
    Builder in = b.in(rows.body());
    const ValueId position = in.getAt(arm.rows, std::span(&at, 1));
    Cloner copy = rowAt(in, position, needsOf(arm));
    for (ValueId v : copy.body(fn().ops[branch_].regions[arm.number], in).values) rows.collect(v);
    const OpId made = rows.finish();
    arm.results.assign(fn().ops[made].results.begin(), fn().ops[made].results.end());
    return made;
  }

  /// A running count for each arm.
  void countRows(Builder& b) {
    Op loop = Builder::simple(OpKind::For, {b.dimValue(rows_.count())}, LoopAttr{});
    for (size_t k = 0; k < arms_.size(); ++k) loop.operands.push_back(b.integer(0));
    Builder in = b.in(b.newRegion());
    const ValueId position = in.param(m_.types.int64()), tested = fn().ops[branch_].operands[0];
    std::vector<ValueId> counts;
    for (size_t k = 0; k < arms_.size(); ++k) counts.push_back(in.param(m_.types.int64()));
    const Cloner copy = rowAt(in, position, std::span(&tested, 1));
    Operands yields;
    for (size_t k = 0; k < arms_.size(); ++k)
      yields.push_back(in.select(takes(in, copy.value(tested), arms_[k]),
                                 in.binary(OpKind::Add, counts[k], in.integer(1)), counts[k]));
    yields.insert(yields.end(), counts.begin(), counts.end());
    in.yield(yields);
    loop.regions = {in.region};
    loop.as<LoopAttr>().collects = static_cast<uint32_t>(arms_.size());
    loop.resultDims = {b.newDim("n")};
    std::vector<TypeId> types(arms_.size(), m_.types.int64());
    const TypeId stack = m_.types.array(m_.types.int64(), {m_.types.dims.symbol(loop.resultDims[0])}),
                 byRow = m_.types.array(m_.types.int64(), {rows_.count()});
    types.resize(2 * arms_.size(), stack);
    const OpId made = b.append(std::move(loop), types);
    for (size_t k = 0; k < arms_.size(); ++k)
      arms_[k].before = b.castDims(b.result(made, arms_.size() + k), byRow);
  }

  /// The arms of the branch read what stands before the nest.
  void readArms() {
    for (const Arm& arm : arms_) {
      const RegionId region = fn().ops[branch_].regions[arm.number];
      fn().regions[region].ops.clear();
      Builder in(m_, f_, region, fn().ops[branch_].loc);
      const ValueId position = rows_.positionOf(in);
      const ValueId at = in.getAt(arm.before, std::span(&position, 1));
      std::vector<ValueId> results;
      for (ValueId v : arm.results) results.push_back(in.getAt(v, std::span(&at, 1)));
      in.yield(Operands(results.begin(), results.end()));
    }
  }

  Module& m_;
  const FunctionId f_;
  const OpId nest_, branch_;
  const RegionId body_;
  const Effects& effects_;
  const Costs& costs_;
  const Rows rows_;
  std::vector<Arm> arms_;
};

class BranchCompactor {
public:
  BranchCompactor(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), costs_(m, m.functions[f]) {}

  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      if (fn().ops[id].kind != OpKind::Nest)
        for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      if (!isOverRows(costs_, fn().ops[id]) || !gives(fn().ops[id])) return true;
      Builder b(m_, f_, region, fn().ops[id].loc);
      if (!branches(b, id)) return true;
      fn().regions[region].ops.push_back(id);
      return !(changed = true);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Whether all rows give something, and in any order.
  static bool gives(const Op& nest) {
    return std::ranges::all_of(nestResults(nest), [](const NestResult& r) {
      return r.kind == NestResultKind::Collect || (r.kind == NestResultKind::Reduce && !isCombine(r));
    });
  }

  bool isBranch(OpId id) const {
    return fn().ops[id].kind == OpKind::If || fn().ops[id].kind == OpKind::Match;
  }

  /// Of a nest, and of the nests over the rows of arms, which only the nest needs so far.
  bool branches(Builder& b, OpId id) {
    const std::vector<RowProduct> products = rowProducts(m_, fn(), id);
    if (std::ranges::none_of(products, [&](const RowProduct& p) { return isBranch(p.part); })) return false;
    RowChecks checks(m_, f_, id, effects_, costs_);
    if (!checks.mayMove()) return false;
    bool any = false;
    for (const RowProduct& product : products) {
      if (!isBranch(product.part) || !done_.insert(product.part).second) continue;
      Compaction compaction(m_, f_, id, product.part, effects_, costs_);
      if (!compaction.isPossible(products)) continue;
      if (!any) checks.move(b);
      for (OpId arm : compaction.compact(b)) {
        std::erase(fn().regions[b.region].ops, arm);
        branches(b, arm);
        fn().regions[b.region].ops.push_back(arm);
      }
      any = true;
    }
    return any;
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  const Costs costs_;
  std::unordered_set<OpId> done_; ///< branches that were looked at
};

} // namespace

bool compactBranches(Module& m) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    BranchCompactor s(m, f, effects);
    s.run(m.functions[f].body);
    if (s.changed) eliminateDeadValues(m, f, effects);
    return s.changed;
  });
}

} // namespace melix::transforms
