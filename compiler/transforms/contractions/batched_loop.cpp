#include "transforms/contractions/batched_loop.h"

#include "core/analysis/sizes.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

BatchedLoop::BatchedLoop(Module& m, FunctionId f, OpId nest, OpId loop)
    : m_(m), f_(f), nest_(nest), loop_(loop), body_(fn().ops[nest].regions[0]) {
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

bool BatchedLoop::canInterchange(const Effects& effects, const Costs& costs) {
  const LoopView loop(fn(), fn().ops[loop_]);
  if (!loop.bodyDims().empty() || !hasRoom(costs)) return false;
  const AxisVariance body(m_, f_, nest_, effects), iterations(m_, f_, loop_, effects);
  const std::optional<AxisSet> count = body.axesOf(loop.count());
  return count && count->empty() && body.readsWithin(loop.count()) &&
         std::ranges::all_of(needs_, [&](ValueId v) { return body.axesOf(v).has_value(); }) &&
         !mentionsSizesOfPoint() && findChecks(body, iterations, effects) &&
         findCarries(loop, body, iterations) &&
         (checksOfIteration_.empty() || hasPoints() ||
          std::ranges::all_of(carries_, &BatchedCarry::isOfRows));
}

/// Whether what becomes an array of all rows is no larger than what all rows give, or, where these are
/// reduced, is a row of rows that are read.
bool BatchedLoop::hasRoom(const Costs& costs) const {
  const NestView nest(fn(), fn().ops[nest_]);
  bool isRead = false;
  size_t axes = 1;
  for (const NestPart& part : nest.parts()) {
    const types::Type& type = m_.types[fn().typeOf(nest.yields(part)[0])];
    isRead |= part.spec->kind == NestResultKind::Collect;
    if (part.spec->kind == NestResultKind::Collect && type.kind == TypeKind::Array)
      axes = std::max(axes, type.dims.size());
  }
  forEachOp(fn(), body_, [&](OpId id) {
    const Op& op = fn().ops[id];
    isRead |= op.kind == OpKind::Get && std::ranges::any_of(nest.axisParams(), [&](ValueId axis) {
                return std::ranges::find(op.operands, axis) != op.operands.end();
              });
  });
  auto fits = [&](ValueId v) {
    const types::Type& type = m_.types[fn().typeOf(v)];
    return isOfNumbers(m_.types, fn().typeOf(v)) &&
           (type.kind != TypeKind::Array || type.dims.size() <= axes);
  };
  return isRead && std::ranges::all_of(fn().ops[loop_].results, fits) &&
         std::ranges::all_of(expensiveNeeds(costs), fits);
}

bool BatchedLoop::hasPoints() const {
  return std::ranges::all_of(fn().ops[nest_].dims, [&](DimId d) { return m_.types.dims.atLeast(d, 1); });
}

bool BatchedLoop::mentionsSizesOfPoint() const {
  std::unordered_set<DimSym> sizes;
  for (OpId id : fn().regions[body_].ops)
    if (id != loop_) sizes.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
  return std::ranges::any_of(sizesWithin(m_, fn(), loop_), [&](DimSym s) { return sizes.contains(s); });
}

/// The checks of the body and of iterations; false if anything else has an effect, or they need what is made
/// elsewhere.
bool BatchedLoop::findChecks(const AxisVariance& body, const AxisVariance& iterations,
                             const Effects& effects) {
  checks_.clear();
  checksOfIteration_.clear();
  auto find = [&](RegionId region, const AxisVariance& sweep, std::vector<OpId>& checks) {
    return std::ranges::all_of(fn().regions[region].ops, [&](OpId id) {
      if (id == loop_ || !effects.ofOp(fn(), id).any()) return true;
      checks.push_back(id);
      const Op& op = fn().ops[id];
      return op.kind == OpKind::Check &&
             std::ranges::all_of(op.operands, [&](ValueId v) { return sweep.axesOf(v).has_value(); });
    });
  };
  return find(body_, body, checks_) && find(iterationBody(), iterations, checksOfIteration_);
}

bool BatchedLoop::findCarries(const LoopView& loop, const AxisVariance& body,
                              const AxisVariance& iterations) {
  std::unordered_map<ValueId, uint32_t> uses;
  forEachOp(fn(), loop.body(), [&](OpId id) {
    for (ValueId v : fn().ops[id].operands) ++uses[v];
  });
  const std::unordered_set<OpId> inIteration(fn().regions[loop.body()].ops.begin(),
                                             fn().regions[loop.body()].ops.end());
  carries_.clear();
  for (uint32_t k = 0; k < loop.carries(); ++k) {
    BatchedCarry carry;
    ValueId v = loop.carryYields()[k];
    for (OpId def = fn().values[v].def; isUpdate(def) && inIteration.contains(def) && uses[v] == 1;
         def = fn().values[v = fn().ops[def].operands[0]].def)
      carry.updates.push_back(def);
    std::ranges::reverse(carry.updates);
    if (v != loop.carryParams()[k]) carry.updates.clear();
    if (carry.isOfRows() ? !isRow(loop.carryYields()[k], false) : !areSameForAll(carry, body, iterations))
      return false;
    carries_.push_back(std::move(carry));
  }
  return true;
}

bool BatchedLoop::isUpdate(OpId id) const {
  return id.valid() && (fn().ops[id].kind == OpKind::Set || fn().ops[id].kind == OpKind::AddAt);
}

/// A number, or an array of one axis that is made anew: what is updated in place would be copied.
bool BatchedLoop::isRow(ValueId v, bool isUpdated) const {
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
bool BatchedLoop::areSameForAll(const BatchedCarry& carry, const AxisVariance& body,
                                const AxisVariance& iterations) const {
  std::unordered_set<DimSym> sizes;
  forEachOp(fn(), fn().ops[loop_].regions[0],
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

std::vector<ValueId> BatchedLoop::indicesOf(OpId update) const {
  const Operands& all = fn().ops[update].operands;
  return {all.begin() + 2, all.end()};
}

/// What values of an iteration need of the body of the nest.
std::vector<ValueId> BatchedLoop::neededBy(const std::vector<ValueId>& values,
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

/// What the iterations need that costs more than to read it again, with all that the same ops give.
std::vector<ValueId> BatchedLoop::expensiveNeeds(const Costs& costs) const {
  std::vector<ValueId> out;
  std::unordered_set<OpId> seen;
  const std::unordered_set<OpId> here(fn().regions[body_].ops.begin(), fn().regions[body_].ops.end());
  auto need = [&](auto& self, ValueId v) -> void {
    const OpId def = fn().values[v].def;
    if (!def.valid() || !here.contains(def) || !seen.insert(def).second) return;
    const Op& op = fn().ops[def];
    if (!op.regions.empty() || op.kind == OpKind::Call || isExpensive(costs.ofOp(def)))
      return (void)std::ranges::copy(op.results, std::back_inserter(out));
    for (ValueId each : op.operands) self(self, each);
  };
  for (ValueId v : needs_) need(need, v);
  return out;
}

} // namespace melix::transforms
