#include "transforms/batch/batched_loop.h"
#include "transforms/batch/loop_of_own_trips.h"
#include "transforms/batch/loop_of_same_trips.h"
#include "transforms/batch/while_of_rows.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

void BatchedLoop::leave(Builder& b) {
  if (!checks_.empty() || !checksOfIteration_.empty()) checkBefore(b);
  takeShared(b);
  if (const std::vector<ValueId> stored = storedFor(fn(), costs_, body_, needs_); !stored.empty())
    distribute(b, nest_, {AxisSet::first(fn().ops[nest_].dims.size()), bodyVariance().slice(stored), stored});
  around(b);
  readBy(b);
}

std::unique_ptr<BatchedLoop> batchedLoop(RowLoop loop) {
  switch (loop.trips()) {
  case RowTrips::Same: return std::make_unique<LoopOfSameTrips>(std::move(loop));
  case RowTrips::Own: return std::make_unique<LoopOfOwnTrips>(std::move(loop));
  case RowTrips::Unknown: break;
  }
  return std::make_unique<WhileOfRows>(std::move(loop));
}

/// All checks leave: a nest of them alone stands before, so that the first to fail is the same.
void BatchedLoop::checkBefore(Builder& b) {
  const AxisVariance body = bodyVariance(), iterations = iterationVariance();
  std::vector<ValueId> needed, tested;
  for (OpId id : checks_) std::ranges::copy(fn().ops[id].operands, std::back_inserter(needed));
  for (OpId id : checksOfIteration_) std::ranges::copy(fn().ops[id].operands, std::back_inserter(tested));
  if (!checksOfIteration_.empty()) {
    std::ranges::copy(neededBy(tested, iterations), std::back_inserter(needed));
    needed.push_back(fn().ops[loop_].operands[0]);
  }
  const std::vector<OpId> makes = body.slice(needed);
  std::unordered_set<OpId> copied(makes.begin(), makes.end());
  copied.insert(checks_.begin(), checks_.end());

  RowNest rows = rows_.open(b);
  Builder row = b.in(rows.nest.body());
  for (OpId id : std::vector<OpId>(fn().regions[body_].ops)) {
    if (copied.contains(id)) rows.copy.op(id, row);
    if (id == loop_ && !checksOfIteration_.empty()) checkIterations(row, rows.copy, iterations, tested);
  }
  rows.nest.finish();
  const std::unordered_set<OpId> gone(checks_.begin(), checks_.end());
  std::erase_if(fn().regions[body_].ops, [&](OpId id) { return gone.contains(id); });
  const std::unordered_set<OpId> removedInIteration(checksOfIteration_.begin(), checksOfIteration_.end());
  std::erase_if(fn().regions[iterationBody()].ops, [&](OpId id) { return removedInIteration.contains(id); });
}

/// A loop of the checks of iterations, which test these values.
void BatchedLoop::checkIterations(Builder& row, Cloner& copy, const AxisVariance& iterations,
                                  const std::vector<ValueId>& tested) const {
  const std::vector<OpId> makes = iterations.slice(tested);
  std::unordered_set<OpId> copied(makes.begin(), makes.end());
  copied.insert(checksOfIteration_.begin(), checksOfIteration_.end());
  Op made = Builder::simple(OpKind::For, {copy.value(fn().ops[loop_].operands[0])}, LoopAttr{});
  Builder in = row.in(row.newRegion());
  copy.values[fn().regions[iterationBody()].params[0]] = in.param(m_.types.int64());
  for (OpId id : std::vector<OpId>(fn().regions[iterationBody()].ops))
    if (copied.contains(id)) copy.op(id, in);
  in.yield({});
  made.regions = {in.region};
  row.append(std::move(made), {});
}

/// What rows begin with, by carries: the rows of a set, or of all points if there is none.
std::vector<ValueId> BatchedLoop::begun(Builder& b, const RowSet* set) const {
  std::vector<ValueId> columns;
  for (size_t k : columns_) columns.push_back(view().carryOperands()[k]);
  if (columns.empty()) return {};
  RowNest rows = set != nullptr ? rows_.open(b, *set) : rows_.open(b);
  Builder in = b.in(rows.nest.body());
  rows_.copy(in, rows.copy, columns);
  for (ValueId v : columns) rows.nest.collect(rows.copy.value(v));
  const Results made = fn().ops[rows.nest.finish()].results;
  return {made.begin(), made.end()};
}

/// What the accumulators of the loop begin with.
std::vector<ValueId> BatchedLoop::sumsBegun() const {
  std::vector<ValueId> out;
  for (const BatchedCarry& carry : carries_)
    if (carry.kind == CarryKind::Sums) out.push_back(fn().ops[nest_].operands[*carry.accumulator]);
  return out;
}

/// The parameters of an iteration, or of a condition, are what a row carries.
void BatchedLoop::enterCarries(RowNest& rows, Builder& row, std::span<const ValueId> params,
                               std::span<const ValueId> carried, std::span<const ValueId> indices) const {
  for (size_t k = 0; k < columns_.size(); ++k)
    rows.copy.values[params[columns_[k]]] = row.getAt(carried[k], indices);
}

/// Ends the nest with the iteration of a row, and appends it. What it adds, the caller adds, unless other
/// results depend on the ops that add: then `sums` become what it gives.
BatchedLoop::Iteration BatchedLoop::endIteration(RowNest& rows, Builder& in, std::vector<ValueId>& sums,
                                                 RegionId left) const {
  const LoopView loop = view();
  std::unordered_set<OpId> updates;
  for (const BatchedCarry& carry : carries_) updates.insert(carry.updates.begin(), carry.updates.end());
  size_t sum = 0;
  for (size_t k = 0; k < carries_.size(); ++k)
    if (carries_[k].kind == CarryKind::Sums)
      rows.copy.values[loop.carryParams()[k]] = rows.nest.accumulator(sums[sum++]);
  rows.copy.instead = [&, also = rows.copy.instead](OpId id, Builder& at) {
    return updates.contains(id) || (also && also(id, at));
  };
  Builder row = in.in(rows.nest.body());
  const std::vector<ValueId> yields = rows.copy.body(loop.body(), row).values;
  for (size_t k : columns_) {
    if (carries_[k].kind == CarryKind::Rows) rows.nest.collect(yields[k]);
    for (OpId id : carries_[k].updates) rows.nest.collect(rows.copy.value(fn().ops[id].operands[1]));
  }
  for (size_t k = carries_.size(); k < yields.size(); ++k) rows.nest.collect(yields[k]);
  const uint32_t collected = rows.nest.results();
  for (size_t k = 0; k < carries_.size(); ++k)
    if (carries_[k].kind == CarryKind::Sums) rows.nest.end(yields[k]);
  const OpId nest = rows.nest.finish();
  const Results results = fn().ops[nest].results;
  Iteration out{{results.begin(), results.begin() + collected}, std::nullopt, {}};
  if (sums.empty()) return out;
  if (!addsAreAlone()) {
    sums.assign(results.begin() + collected, results.end());
    return out;
  }
  std::erase(fn().regions[in.region].ops, nest);
  out.adds.emplace(m_, f_, nest, costs_, left);
  const std::vector<ValueId> arrays = out.adds->makeBefore(in);
  out.given.assign(arrays.begin(), arrays.begin() + collected);
  out.stored.assign(arrays.begin() + collected, arrays.end());
  return out;
}

/// Whether adds can leave their iteration: no other result depends on them, and the values that they need
/// have sizes from outside.
bool BatchedLoop::addsAreAlone() const {
  auto isInner = [&](OpId id) {
    return std::ranges::any_of(fn().ops[id].operands,
                               [&](ValueId v) { return !hasOuterSizes(m_, fn(), body_, v); });
  };
  return RowAdds::areAlone(m_, fn(), iterationBody()) &&
         std::ranges::all_of(fn().regions[iterationBody()].ops, [&](OpId id) {
           bool inner = fn().ops[id].kind != OpKind::Get && isInner(id);
           for (RegionId r : fn().ops[id].regions)
             forEachOp(fn(), r, [&](OpId each) { inner = inner || isInner(each); });
           return !inner && fn().ops[id].resultDims.empty();
         });
}

/// What stands for the results of the loop.
void BatchedLoop::give(std::span<const ValueId> columns, std::span<const ValueId> sums,
                       std::span<const ValueId> stacks) {
  given_.clear();
  size_t column = 0, sum = 0;
  for (const BatchedCarry& carry : carries_)
    given_.push_back(carry.kind == CarryKind::Sums ? sums[sum++] : columns[column++]);
  given_.insert(given_.end(), stacks.begin(), stacks.end());
}

/// Parameters for what goes around: columns, then accumulators.
std::vector<ValueId> BatchedLoop::enterParams(Builder& in, std::span<const ValueId> begun) const {
  std::vector<ValueId> out;
  for (size_t k = 0; k < begun.size(); ++k) {
    const ValueId of = k < columns_.size() ? view().carryParams()[columns_[k]] : begun[k];
    out.push_back(in.param(in.typeOf(begun[k]), fn().values[of].hint));
  }
  return out;
}

/// Copies of what makes the places of updates.
Cloner BatchedLoop::placesAt(Builder& in, ValueId index) const {
  Cloner copy(m_, f_, f_);
  const AxisVariance iterations = iterationVariance();
  copy.values[view().index()] = index;
  std::vector<ValueId> indices;
  for (const BatchedCarry& carry : carries_)
    for (OpId id : carry.updates) std::ranges::copy(indicesOf(id), std::back_inserter(indices));
  rows_.copy(in, copy, neededBy(indices, iterations));
  for (OpId id : iterations.slice(indices)) copy.op(id, in);
  return copy;
}

/// The columns that go around, of what an iteration gives. The rows of an array of all rows stand at `rows`,
/// a path with the indices `at`.
std::vector<ValueId> BatchedLoop::carryOn(Builder& in, const Cloner& places, const Iteration& made,
                                          std::span<const ValueId> carried, const Path& rows,
                                          std::span<const ValueId> at) const {
  std::vector<ValueId> out;
  const bool isPart = !at.empty();
  size_t next = 0;
  for (size_t k = 0; k < columns_.size(); ++k) {
    const BatchedCarry& carry = carries_[columns_[k]];
    ValueId array = carried[k];
    if (carry.kind == CarryKind::Rows) {
      array = isPart ? in.set(array, made.given[next], rows, at) : made.given[next];
      ++next;
    }
    for (OpId id : carry.updates) {
      Op op = Builder::simple(fn().ops[id].kind, {array, made.given[next++]}, Path(rows));
      const Path& path = fn().ops[id].as<Path>();
      op.as<Path>().insert(op.as<Path>().end(), path.begin(), path.end());
      op.operands.insert(op.operands.end(), at.begin(), at.end());
      for (ValueId v : indicesOf(id)) op.operands.push_back(places.value(v));
      array = in.one(std::move(op), in.typeOf(array));
    }
    out.push_back(array);
  }
  return out;
}

TypeId BatchedLoop::stacked(DimId extent, TypeId row) const {
  types::Type array = m_.types[row];
  std::vector<DimId> dims = {extent};
  dims.insert(dims.end(), array.dims.begin(), array.dims.end());
  return m_.types.array(m_.types.element(row), std::move(dims));
}

/// Reads of what the loop around gives stand for the one in the nest, which continues its accumulators.
void BatchedLoop::readBy(Builder& b) {
  const std::vector<OpId> ops = fn().regions[body_].ops;
  const Op loop = fn().ops[loop_];
  std::unordered_map<ValueId, ValueId> passed;
  for (size_t k = 0; k < carries_.size(); ++k) {
    if (carries_[k].kind != CarryKind::Sums) continue;
    passed[loop.results[k]] = view().carryOperands()[k];
    fn().ops[nest_].operands[*carries_[k].accumulator] = given_[k];
  }
  fn().regions[body_].ops.clear();
  Builder in(m_, f_, body_, b.loc);
  for (OpId id : ops) {
    if (id != loop_) {
      fn().regions[body_].ops.push_back(id);
      continue;
    }
    for (size_t k = 0; k < loop.results.size(); ++k) {
      if (k >= carries_.size())
        readStack(in, k);
      else if (!passed.contains(loop.results[k]))
        readCarry(in, k);
    }
  }
  finishReads();
  forEachOp(fn(), body_, [&](OpId id) {
    for (ValueId& v : fn().ops[id].operands)
      if (const auto by = passed.find(v); by != passed.end()) v = by->second;
  });
}

void BatchedLoop::readCarry(Builder& in, size_t k) const {
  const ValueId read = in.getAt(given_[k], rowIndices(in));
  takeOver(fn(), fn().values[read].def, std::span(&fn().ops[loop_].results[k], 1));
}

void BatchedLoop::readStack(Builder& in, size_t k) {
  const std::vector<ValueId> at = rowIndices(in);
  Path path{PathStep{StepKind::All, 0, {}, 1}};
  path.insert(path.end(), at.size(), PathStep{StepKind::Index, 0, {}, 1});
  const ValueId read = in.get(given_[k], std::move(path), at);
  takeOver(fn(), fn().values[read].def, std::span(&fn().ops[loop_].results[k], 1));
}

/// The type of an array that has so many rows.
TypeId BatchedLoop::resized(TypeId array, DimId rows) const {
  std::vector<DimId> dims = m_.types[array].dims;
  dims[0] = rows;
  return m_.types.array(m_.types.element(array), std::move(dims));
}

} // namespace melix::transforms
