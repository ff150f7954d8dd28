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

bool RowLoop::canInterchange() {
  const AxisVariance body = bodyVariance();
  if (!view().bodyDims().empty() || !findTrips(body) || !findCarries(body)) return false;
  std::erase_if(needs_, [&](ValueId v) { return isAccumulator(m_, fn(), v); });
  const bool areRows =
      std::ranges::none_of(carries_, [](const BatchedCarry& c) { return c.kind == CarryKind::Updates; });
  return std::ranges::all_of(needs_, [&](ValueId v) { return body.axesOf(v).has_value(); }) &&
         knowsSizes(m_, fn(), body_, loop_, body.slice(needs_)) && hasRoom() && findChecks(body) &&
         (checksOfIteration_.empty() || hasPoints() || areRows);
}

bool RowLoop::findTrips(const AxisVariance& body) {
  if (fn().ops[loop_].kind == OpKind::While) {
    trips_ = RowTrips::Unknown;
    return true;
  }
  const std::optional<AxisSet> count = body.axesOf(view().count());
  if (count && !count->empty()) trips_ = RowTrips::Own;
  return count.has_value();
}

/// The axes of an array; of a pack, the most of an array in it.
size_t RowLoop::axesOf(const types::Type& type) const {
  if (type.kind == TypeKind::Array) return type.dims.size();
  size_t most = 0;
  if (type.kind == TypeKind::Pack || type.kind == TypeKind::Tuple)
    for (TypeId part : type.parts) most = std::max(most, axesOf(m_.types[part]));
  return most;
}

/// Whether the values that are stored for all rows take no more room than the results of all rows, or, where
/// these are reduced, than rows that are read.
bool RowLoop::hasRoom() const {
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
  auto fits = [&](ValueId v, size_t most) {
    const types::Type& type = m_.types[fn().typeOf(v)];
    return type.kind != TypeKind::Array || type.dims.size() <= most;
  };
  const LoopView loop = view();
  for (size_t k = 0; k < carries_.size(); ++k)
    if (carries_[k].kind != CarryKind::Sums &&
        (!fits(loop.carryYields()[k], axes) || !canBeStored(m_, fn(), body_, loop.carryResults()[k])))
      return false;
  // Rows that are stacked by their own trip counts make no larger an array than these stacks together.
  const size_t room = trips_ == RowTrips::Own ? axes : axes - 1;
  const bool mayStack = std::ranges::all_of(loop.stackYields(), [&](ValueId v) {
    return fits(v, room) && canBeStored(m_, fn(), body_, v) && canBeStored(m_, fn(), loop.body(), v);
  });
  return isRead && mayStack && std::ranges::all_of(storedFor(fn(), costs_, body_, needs_), [&](ValueId v) {
           return fits(v, axes) && canBeStored(m_, fn(), body_, v);
         });
}

bool RowLoop::hasPoints() const {
  return std::ranges::all_of(fn().ops[nest_].dims, [&](DimId d) { return m_.types.dims.atLeast(d, 1); });
}

/// The checks of the body and of iterations; false if anything else has an effect, or they cannot stand
/// before the nest: they need what takes long or cannot be copied, or a row has a loop that may not end.
bool RowLoop::findChecks(const AxisVariance& body) {
  checks_.clear();
  checksOfIteration_.clear();
  if (!findChecks(body_, body, checks_) || !needLittle(checks_, body)) return false;
  const bool isWhile = trips_ == RowTrips::Unknown;
  if (isWhile && (!isSilent(view().condition()) || !isSilent(iterationBody()))) return false;
  if (!isWhile && !findChecks(iterationBody(), iterationVariance(), checksOfIteration_)) return false;
  return (checks_.empty() && checksOfIteration_.empty()) ||
         std::ranges::none_of(fn().regions[body_].ops,
                              [&](OpId id) { return functions_.mayNotEnd(fn(), id); });
}

bool RowLoop::findChecks(RegionId region, const AxisVariance& sweep, std::vector<OpId>& checks) const {
  return std::ranges::all_of(fn().regions[region].ops, [&](OpId id) {
    if (id == loop_ || !functions_.isOrdered(f_, id)) return true;
    checks.push_back(id);
    const Op& op = fn().ops[id];
    return op.kind == OpKind::Check &&
           std::ranges::all_of(op.operands, [&](ValueId v) { return sweep.axesOf(v).has_value(); });
  });
}

/// Whether checks of the body need nothing that has regions.
bool RowLoop::needLittle(const std::vector<OpId>& checks, const AxisVariance& body) const {
  std::vector<ValueId> needed;
  for (OpId id : checks) std::ranges::copy(fn().ops[id].operands, std::back_inserter(needed));
  return std::ranges::all_of(body.slice(needed), [&](OpId id) { return fn().ops[id].regions.empty(); });
}

bool RowLoop::isSilent(RegionId region) const {
  return std::ranges::none_of(fn().regions[region].ops,
                              [&](OpId id) { return functions_.isOrdered(f_, id); });
}

bool RowLoop::findCarries(const AxisVariance& body) {
  std::unordered_map<ValueId, uint32_t> uses;
  forEachOp(fn(), iterationBody(), [&](OpId id) {
    for (ValueId v : fn().ops[id].operands) ++uses[v];
  });
  carries_.clear();
  columns_.clear();
  for (uint32_t k = 0; k < view().carries(); ++k) {
    std::optional<BatchedCarry> carry = carryOf(k, uses, body);
    if (!carry) return false;
    if (carry->kind != CarryKind::Sums) columns_.push_back(k);
    carries_.push_back(std::move(*carry));
  }
  return true;
}

std::optional<BatchedCarry> RowLoop::carryOf(uint32_t k, const std::unordered_map<ValueId, uint32_t>& uses,
                                             const AxisVariance& body) const {
  const LoopView loop = view();
  ValueId v = loop.carryYields()[k];
  if (isAccumulator(m_, fn(), v)) {
    const std::optional<uint32_t> accumulator = rows_.accumulatorOf(loop.carryOperands()[k]);
    if (!accumulator) return std::nullopt;
    return BatchedCarry{CarryKind::Sums, {}, *accumulator};
  }
  const std::unordered_set<OpId> inIteration(fn().regions[loop.body()].ops.begin(),
                                             fn().regions[loop.body()].ops.end());
  BatchedCarry carry{CarryKind::Rows, {}, 0};
  for (OpId def = fn().values[v].def; isUpdate(def) && inIteration.contains(def) && uses.at(v) == 1;
       def = fn().values[v = fn().ops[def].operands[0]].def)
    carry.updates.push_back(def);
  std::ranges::reverse(carry.updates);
  if (v != loop.carryParams()[k]) carry.updates.clear();
  if (!carry.updates.empty()) carry.kind = CarryKind::Updates;
  const bool may = carry.kind == CarryKind::Updates
                       ? trips_ != RowTrips::Unknown && areSameForAll(carry, body)
                       : isRow(loop.carryYields()[k], false);
  return may ? std::optional(std::move(carry)) : std::nullopt;
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
