#include "transforms/batch/batched_branch.h"

#include "core/ir/walk.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

BatchedBranch::BatchedBranch(Module& m, FunctionId f, OpId nest, OpId branch, std::span<const OpId> seeds,
                             const Effects& effects, const Costs& costs)
    : m_(m), f_(f), nest_(nest), branch_(branch), body_(fn().ops[nest].regions[0]), effects_(effects),
      costs_(costs), rows_(m, f, nest, effects) {
  for (size_t r = 0; r < op().regions.size(); ++r) {
    bool holds = false;
    forEachOp(fn(), op().regions[r],
              [&](OpId id) { holds = holds || std::ranges::find(seeds, id) != seeds.end(); });
    if (holds) arms_.push_back({r, {}, {}, {}});
  }
}

Refused BatchedBranch::refusal() const {
  const AxisVariance body(m_, f_, nest_, effects_, OwnSizes::Copied);
  auto mayStore = [&](ValueId v) { return hasOuterSizes(m_, fn(), body_, v); };
  auto isOpen = [&](RegionId r) { return fn().regions[r].dimParams.empty(); };
  auto knowsSizesOf = [&](const Arm& arm) {
    return knowsSizes(m_, fn(), body_, branch_, body.slice(needsOf(arm)));
  };
  if (arms_.empty() || op().results.empty()) return Refusal{BatchingKind::GivesNothing};
  if (const Refused late = lateAmong(fn(), body, needs())) return late;
  if (body.axesOf(tested())->empty()) return Refusal{BatchingKind::SameArm};
  if (!op().resultDims.empty() || !std::ranges::all_of(op().regions, isOpen) ||
      !std::ranges::all_of(op().results, mayStore) || !std::ranges::all_of(arms_, knowsSizesOf) ||
      !std::ranges::all_of(stored(), mayStore))
    return Refusal{BatchingKind::OwnSize};
  return std::nullopt;
}

void BatchedBranch::compact(Builder& b) {
  if (const std::vector<ValueId> live = stored(); !live.empty())
    distribute(b, nest_,
               {AxisSet::first(fn().ops[nest_].dims.size()),
                AxisVariance(m_, f_, nest_, effects_, OwnSizes::Copied).slice(live), live});
  for (Arm& arm : arms_) {
    findRows(b, arm);
    runArm(b, arm);
  }
  countRows(b);
  readArms();
}

/// Values of the body of the nest that the arms need, and the condition.
std::vector<ValueId> BatchedBranch::needs() const {
  std::vector<ValueId> out{tested()};
  for (const Arm& arm : arms_) std::ranges::copy(needsOf(arm), std::back_inserter(out));
  return out;
}

std::vector<ValueId> BatchedBranch::needsOf(const Arm& arm) const {
  std::vector<ValueId> out;
  const std::unordered_set<OpId> here(fn().regions[body_].ops.begin(), fn().regions[body_].ops.end());
  forEachOp(fn(), op().regions[arm.number], [&](OpId id) {
    for (ValueId v : fn().ops[id].operands)
      if (const OpId def = fn().values[v].def; def.valid() && here.contains(def)) out.push_back(v);
  });
  return out;
}

std::vector<ValueId> BatchedBranch::stored() const { return storedFor(fn(), costs_, body_, needs()); }

/// Copies what makes the values for the row at this position.
Cloner BatchedBranch::rowAt(Builder& in, ValueId position, std::span<const ValueId> values) const {
  Cloner copy(m_, f_, f_);
  rows_.enter(in, copy, position);
  rows_.copy(in, copy, values);
  return copy;
}

/// A match of an enum or number that gives whether it is the arm's case; if it `opens`, the payload of that.
OpId BatchedBranch::choose(Builder& in, ValueId tested, const Arm& arm, bool opens) const {
  Op match = Builder::simple(OpKind::Match, {tested}, op().as<MatchAttr>());
  std::vector<TypeId> types;
  if (opens)
    for (ValueId v : fn().regions[op().regions[arm.number]].params) types.push_back(fn().typeOf(v));
  else
    types = {m_.types.boolean()};
  for (size_t r = 0; r < op().regions.size(); ++r) {
    Builder each = in.in(in.newRegion());
    Operands yields;
    for (ValueId v : std::vector<ValueId>(fn().regions[op().regions[r]].params)) {
      const ValueId param = each.param(fn().typeOf(v), fn().values[v].hint);
      if (opens && r == arm.number) yields.push_back(param);
    }
    if (!opens) yields = {each.boolean(r == arm.number)};
    if (opens && r != arm.number)
      for (TypeId type : types) yields.push_back(each.undef(type));
    each.yield(yields);
    match.regions.push_back(each.region);
  }
  return in.append(std::move(match), types);
}

/// Whether a row takes the arm.
ValueId BatchedBranch::takes(Builder& in, ValueId tested, const Arm& arm) const {
  if (op().kind == OpKind::If) return arm.number == 0 ? tested : in.unary(OpKind::Not, tested);
  return in.result(choose(in, tested, arm, false));
}

void BatchedBranch::findRows(Builder& b, Arm& arm) const {
  NestBuilder rows(b);
  const ValueId position = rows.axis(rows_.count());
  Builder in = b.in(rows.body());
  const ValueId test = tested();
  const Cloner copy = rowAt(in, position, std::span(&test, 1));
  rows.add(filtering(), std::array{takes(in, copy.value(test), arm), position}, {{}, {}, b.newDim("m")});
  arm.rows = rows.one();
}

void BatchedBranch::runArm(Builder& b, Arm& arm) const {
  NestBuilder rows(b);
  const ValueId at = rows.axis(m_.types[b.typeOf(arm.rows)].dims[0]);
  Builder in = b.in(rows.body());
  const ValueId position = in.getAt(arm.rows, std::span(&at, 1));
  std::vector<ValueId> needed = needsOf(arm);
  const std::vector<ValueId>& payload = fn().regions[op().regions[arm.number]].params;
  if (!payload.empty()) needed.push_back(tested());
  Cloner copy = rowAt(in, position, needed);
  if (!payload.empty()) {
    const OpId opened = choose(in, copy.value(tested()), arm, true);
    for (size_t k = 0; k < payload.size(); ++k) copy.values[payload[k]] = in.result(opened, k);
  }
  for (ValueId v : copy.body(op().regions[arm.number], in).values) rows.collect(v);
  const OpId made = rows.finish();
  arm.results.assign(fn().ops[made].results.begin(), fn().ops[made].results.end());
}

/// A running count for each arm.
void BatchedBranch::countRows(Builder& b) {
  Op loop = Builder::simple(OpKind::For, {b.dimValue(rows_.count())}, LoopAttr{});
  for (size_t k = 0; k < arms_.size(); ++k) loop.operands.push_back(b.integer(0));
  Builder in = b.in(b.newRegion());
  const ValueId position = in.param(m_.types.int64()), test = tested();
  std::vector<ValueId> counts;
  for (size_t k = 0; k < arms_.size(); ++k) counts.push_back(in.param(m_.types.int64()));
  const Cloner copy = rowAt(in, position, std::span(&test, 1));
  Operands yields;
  for (size_t k = 0; k < arms_.size(); ++k)
    yields.push_back(in.select(takes(in, copy.value(test), arms_[k]),
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
void BatchedBranch::readArms() {
  for (const Arm& arm : arms_) {
    const RegionId region = op().regions[arm.number];
    fn().regions[region].ops.clear();
    Builder in(m_, f_, region, op().loc);
    const ValueId position = rows_.positionOf(in);
    const ValueId at = in.getAt(arm.before, std::span(&position, 1));
    std::vector<ValueId> results;
    for (ValueId v : arm.results) results.push_back(in.getAt(v, std::span(&at, 1)));
    in.yield(Operands(results.begin(), results.end()));
  }
}

} // namespace melix::transforms
