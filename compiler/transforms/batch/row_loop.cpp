#include "transforms/batch/row_loop.h"

#include "core/analysis/sizes.h"
#include "core/ir/walk.h"
#include "transforms/batch/accumulators.h"
#include "transforms/batch/row_adds.h"
#include "transforms/batch/row_functions.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

RowLoop::RowLoop(Module& m, FunctionId f, OpId nest, OpId loop, const Effects& effects, const Costs& costs,
                 const RowFunctions& functions)
    : m_(m), f_(f), nest_(nest), loop_(loop), body_(fn().ops[nest].regions[0]), effects_(effects),
      costs_(costs), functions_(functions), rows_(m, f, nest, effects) {
  std::unordered_set<RegionId> own(fn().ops[loop_].regions.begin(), fn().ops[loop_].regions.end());
  std::unordered_set<OpId> made;
  auto need = [&](OpId id) {
    needs_.insert(needs_.end(), fn().ops[id].operands.begin(), fn().ops[id].operands.end());
    made.insert(id);
    own.insert(fn().ops[id].regions.begin(), fn().ops[id].regions.end());
  };
  need(loop_);
  for (RegionId r : fn().ops[loop_].regions) forEachOp(fn(), r, need);
  std::erase_if(needs_, [&](ValueId v) {
    const Value& value = fn().values[v];
    return value.def.valid() ? made.contains(value.def) : own.contains(value.region);
  });
}

Refused RowLoop::refusal() {
  const AxisVariance body = bodyVariance();
  if (!view().bodyDims().empty()) return Refusal{BatchingKind::OwnSize};
  findTrips(body);
  if (const Refused why = findCarries(body)) return why;
  std::erase_if(needs_, [&](ValueId v) { return isAccumulator(m_, fn(), v); });
  const bool areRows =
      std::ranges::none_of(carries_, [](const BatchedCarry& c) { return c.kind == CarryKind::Updates; });
  if (const Refused late = lateAmong(fn(), body, needs_)) return late;
  if (!knowsSizes(m_, fn(), body_, loop_, body.slice(needs_))) return Refusal{BatchingKind::OwnSize};
  if (const Refused why = refusalOfRoom()) return why;
  if (const Refused why = findChecks(body)) return why;
  if (checksOfIteration_.empty() || hasPoints() || areRows) return std::nullopt;
  return Refusal{BatchingKind::CheckOfNoRows, fn().ops[checksOfIteration_[0]].loc};
}

/// Where the count cannot be copied, `lateAmong` refuses.
void RowLoop::findTrips(const AxisVariance& body) {
  if (fn().ops[loop_].kind == OpKind::While) {
    trips_ = RowTrips::Unknown;
    return;
  }
  const std::optional<AxisSet> count = body.axesOf(view().count());
  if (count && !count->empty()) trips_ = RowTrips::Own;
}

/// The axes of an array; of a pack, the most of an array in it.
size_t RowLoop::axesOf(const types::Type& type) const {
  if (type.kind == TypeKind::Array) return type.dims.size();
  size_t most = 0;
  if (type.kind == TypeKind::Pack || type.kind == TypeKind::Tuple)
    for (TypeId part : type.parts) most = std::max(most, axesOf(m_.types[part]));
  return most;
}

/// None if the values that are stored for all rows take no more room than the results of all rows, or, where
/// these are reduced, than rows that are read.
Refused RowLoop::refusalOfRoom() const {
  const NestView nest(fn(), fn().ops[nest_]);
  bool isRead = false;
  size_t axes = 1;
  for (const NestPart& part : nest.parts()) {
    const types::Type& type = m_.types[fn().typeOf(nest.yields(part)[0])];
    isRead |= part.spec->kind == NestResultKind::Collect;
    if (part.spec->kind == NestResultKind::Collect) axes = std::max(axes, axesOf(type));
  }
  forEachOp(fn(), body_, [&](OpId id) {
    const Op& op = fn().ops[id];
    isRead |= op.kind == OpKind::Get && std::ranges::any_of(nest.axisParams(), [&](ValueId axis) {
                return std::ranges::find(op.operands, axis) != op.operands.end();
              });
  });
  auto refusalOf = [&](ValueId v, size_t most, RegionId region) -> Refused {
    const types::Type& type = m_.types[fn().typeOf(v)];
    if (!isOfNumbers(m_.types, fn().typeOf(v))) return Refusal{BatchingKind::List};
    if (type.kind == TypeKind::Array && type.dims.size() > most) return Refusal{BatchingKind::MoreAxes};
    return hasOuterSizes(m_, fn(), region, v) ? Refused() : Refusal{BatchingKind::OwnSize};
  };
  const LoopView loop = view();
  for (size_t k = 0; k < carries_.size(); ++k)
    if (carries_[k].kind != CarryKind::Sums)
      if (const Refused why = refusalOf(loop.carryResults()[k], axes, body_)) return why;
  // Rows that are stacked by their own trip counts make no larger an array than these stacks together.
  const size_t room = trips_ == RowTrips::Own ? axes : axes - 1;
  for (ValueId v : loop.stackYields())
    for (RegionId region : {body_, loop.body()})
      if (const Refused why = refusalOf(v, room, region)) return why;
  for (ValueId v : storedFor(fn(), costs_, body_, needs_))
    if (const Refused why = refusalOf(v, axes, body_)) return why;
  return isRead ? Refused() : Refusal{BatchingKind::NothingRead};
}

bool RowLoop::hasPoints() const {
  return std::ranges::all_of(fn().ops[nest_].dims, [&](DimId d) { return m_.types.dims.atLeast(d, 1); });
}

/// The checks of the body and of iterations; a refusal if anything else has an effect, or they cannot stand
/// before the nest: they need what takes long or cannot be copied, or a row has a loop that may not end.
Refused RowLoop::findChecks(const AxisVariance& body) {
  checks_.clear();
  checksOfIteration_.clear();
  if (const Refused why = findChecks(body_, body, checks_)) return why;
  if (const Refused why = refusalOfNeeds(checks_, body)) return why;
  if (trips_ == RowTrips::Unknown) {
    if (const Refused why = effectIn(view().condition())) return why;
    if (const Refused why = effectIn(iterationBody())) return why;
  } else {
    const AxisVariance iterations = iterationVariance();
    if (const Refused why = findChecks(iterationBody(), iterations, checksOfIteration_)) return why;
    if (const Refused why = refusalOfNeeds(checksOfIteration_, iterations)) return why;
  }
  return checks_.empty() && checksOfIteration_.empty() ? Refused() : functions_.endlessIn(fn(), body_);
}

Refused RowLoop::findChecks(RegionId region, const AxisVariance& sweep, std::vector<OpId>& checks) const {
  for (OpId id : fn().regions[region].ops) {
    if (id == loop_ || !functions_.isOrdered(f_, id)) continue;
    checks.push_back(id);
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Check ||
        !std::ranges::all_of(op.operands, [&](ValueId v) { return sweep.axesOf(v).has_value(); }))
      return functions_.refusalOf(f_, id);
  }
  return std::nullopt;
}

/// None if checks need no op of their region that has regions: rows would run it twice, one by one the first
/// time.
Refused RowLoop::refusalOfNeeds(const std::vector<OpId>& checks, const AxisVariance& body) const {
  for (OpId id : checks)
    if (!std::ranges::all_of(body.slice(fn().ops[id].operands),
                             [&](OpId each) { return fn().ops[each].regions.empty(); }))
      return functions_.refusalOf(f_, id);
  return std::nullopt;
}

Refused RowLoop::effectIn(RegionId region) const {
  for (OpId id : fn().regions[region].ops)
    if (functions_.isOrdered(f_, id)) return functions_.refusalOf(f_, id);
  return std::nullopt;
}

Refused RowLoop::findCarries(const AxisVariance& body) {
  std::unordered_map<ValueId, uint32_t> uses;
  forEachOp(fn(), iterationBody(), [&](OpId id) {
    for (ValueId v : fn().ops[id].operands) ++uses[v];
  });
  carries_.clear();
  columns_.clear();
  for (uint32_t k = 0; k < view().carries(); ++k) {
    BatchedCarry carry = carryOf(k, uses);
    if (const Refused why = refusalOf(carry, k, body)) return why;
    if (carry.kind != CarryKind::Sums) columns_.push_back(k);
    carries_.push_back(std::move(carry));
  }
  return std::nullopt;
}

BatchedCarry RowLoop::carryOf(uint32_t k, const std::unordered_map<ValueId, uint32_t>& uses) const {
  const LoopView loop = view();
  ValueId v = loop.carryYields()[k];
  if (isAccumulator(m_, fn(), v)) return {CarryKind::Sums, {}, rows_.accumulatorOf(loop.carryOperands()[k])};
  const std::unordered_set<OpId> inIteration(fn().regions[loop.body()].ops.begin(),
                                             fn().regions[loop.body()].ops.end());
  BatchedCarry carry{CarryKind::Rows, {}, {}};
  for (OpId def = fn().values[v].def; isUpdate(def) && inIteration.contains(def) && uses.at(v) == 1;
       def = fn().values[v = fn().ops[def].operands[0]].def)
    carry.updates.push_back(def);
  std::ranges::reverse(carry.updates);
  if (v != loop.carryParams()[k]) carry.updates.clear();
  if (!carry.updates.empty()) carry.kind = CarryKind::Updates;
  return carry;
}

Refused RowLoop::refusalOf(const BatchedCarry& carry, uint32_t k, const AxisVariance& body) const {
  if (carry.kind == CarryKind::Updates && trips_ != RowTrips::Unknown)
    return areSameForAll(carry, body) ? Refused() : Refusal{BatchingKind::OwnPlaces};
  const bool may = carry.kind == CarryKind::Sums   ? carry.accumulator.has_value()
                   : carry.kind == CarryKind::Rows ? isRow(view().carryYields()[k], false)
                                                   : false;
  return may ? Refused() : Refusal{BatchingKind::CarriesMatrix};
}

bool RowLoop::isUpdate(OpId id) const {
  return id.valid() && (fn().ops[id].kind == OpKind::Set || fn().ops[id].kind == OpKind::AddAt);
}

/// A number, or an array of one axis that is made anew: what is updated in place would be copied.
bool RowLoop::isRow(ValueId v, bool isUpdated) const {
  const types::Type& type = m_.types[fn().typeOf(v)];
  if (type.kind != TypeKind::Array) return true;
  const OpId def = fn().values[v].def;
  if (type.dims.size() > 1) return false;
  if (!def.valid()) return !isUpdated;
  const Op& op = fn().ops[def];
  if (isUpdate(def)) return isRow(op.operands[0], isUpdated || !op.as<Path>().empty());
  if (op.kind == OpKind::Nest) {
    const NestView nest(fn(), op);
    const uint32_t k = fn().values[v].index;
    return k < nest.partResults() || isRow(nest.accOperands()[k - nest.partResults()], true);
  }
  if (op.regions.empty()) return true;
  const size_t k = static_cast<size_t>(std::ranges::find(op.results, v) - op.results.begin());
  const bool isChoice = op.kind == OpKind::If || op.kind == OpKind::Match || op.kind == OpKind::For;
  return isChoice && std::ranges::all_of(op.regions, [&](RegionId r) {
           return isRow(terminator(fn(), r).operands[k], isUpdated);
         });
}

/// Whether the places of updates depend on the iteration alone, and are known where there are no rows.
bool RowLoop::areSameForAll(const BatchedCarry& carry, const AxisVariance& body) const {
  const AxisVariance iterations = iterationVariance();
  std::unordered_set<DimSym> sizes;
  forEachOp(fn(), iterationBody(),
            [&](OpId id) { sizes.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end()); });
  return std::ranges::all_of(carry.updates, [&](OpId id) {
    const std::vector<ValueId> indices = indicesOf(id);
    return std::ranges::none_of(sizesOf(m_, fn(), fn().ops[id]),
                                [&](DimSym s) { return sizes.contains(s); }) &&
           std::ranges::all_of(
               indices,
               [&](ValueId v) { return iterations.axesOf(v).has_value() && iterations.readsWithin(v); }) &&
           std::ranges::all_of(neededBy(indices, iterations), [&](ValueId v) {
             const std::optional<AxisSet> axes = body.axesOf(v);
             return axes && axes->empty() && body.readsWithin(v);
           });
  });
}

std::vector<ValueId> RowLoop::indicesOf(OpId update) const {
  const Operands& all = fn().ops[update].operands;
  return {all.begin() + 2, all.end()};
}

/// What values of an iteration need of the body of the nest.
std::vector<ValueId> RowLoop::neededBy(const std::vector<ValueId>& values,
                                       const AxisVariance& iterations) const {
  std::vector<ValueId> out = values;
  for (OpId id : iterations.slice(values)) {
    auto add = [&](OpId each) {
      out.insert(out.end(), fn().ops[each].operands.begin(), fn().ops[each].operands.end());
    };
    add(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, add);
  }
  const std::unordered_set<ValueId> outside(needs_.begin(), needs_.end());
  std::erase_if(out, [&](ValueId v) { return !outside.contains(v); });
  return out;
}

} // namespace melix::transforms
