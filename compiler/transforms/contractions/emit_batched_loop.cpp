#include "transforms/contractions/batched_loop.h"

#include "core/ir/flow.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

OpId BatchedLoop::leave(Builder& b, const Effects& effects, const Costs& costs) {
  if (!checks_.empty() || !checksOfIteration_.empty()) checkBefore(b, effects);
  if (const std::vector<ValueId> expensive = expensiveNeeds(costs); !expensive.empty())
    distribute(b, nest_, {allAxes(), AxisVariance(m_, f_, nest_, effects).slice(expensive), expensive});
  const OpId made = around(b, AxisVariance(m_, f_, nest_, effects), AxisVariance(m_, f_, loop_, effects));
  readBy(b, made);
  return made;
}

/// All checks leave: a nest of them alone stands before, so that the first to fail is the same.
void BatchedLoop::checkBefore(Builder& b, const Effects& effects) {
  const AxisVariance body(m_, f_, nest_, effects), iterations(m_, f_, loop_, effects);
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

  Rows rows = openRows(b);
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

BatchedLoop::Rows BatchedLoop::openRows(Builder& b) const {
  Rows rows{NestBuilder(b), Cloner(m_, f_, f_), {}};
  openAxes(rows.nest, rows.copy, fn(), fn().ops[nest_], allAxes());
  const std::vector<ValueId>& params = fn().regions[body_].params;
  for (size_t a = 0; a < fn().ops[nest_].dims.size(); ++a) rows.indices.push_back(rows.copy.value(params[a]));
  return rows;
}

/// The body has copies of what makes `values`.
BatchedLoop::Rows BatchedLoop::rowsAt(Builder& b, const AxisVariance& body,
                                      std::span<const ValueId> values) const {
  Rows rows = openRows(b);
  Builder in = b.in(rows.nest.body());
  for (OpId id : body.slice(values)) rows.copy.op(id, in);
  return rows;
}

OpId BatchedLoop::around(Builder& b, const AxisVariance& body, const AxisVariance& iterations) {
  const Op loop = fn().ops[loop_];
  const LoopView view(fn(), loop);
  Cloner outside(m_, f_, f_);
  const ValueId count = view.count();
  for (OpId id : body.slice(std::span(&count, 1))) outside.op(id, b);
  Op made = Builder::simple(OpKind::For, {outside.value(count)}, loop.as<LoopAttr>());
  for (ValueId v : begun(b, body, view.carryOperands())) made.operands.push_back(v);
  made.resultDims = loop.resultDims;
  made.loc = loop.loc;
  Builder in = b.in(b.newRegion());
  const Operands yields = emitIteration(in, body, iterations, view, std::span(made.operands).subspan(1));
  std::vector<TypeId> types;
  for (size_t k = 0; k < yields.size(); ++k) {
    const TypeId type = b.typeOf(yields[k]);
    types.push_back(k < view.carries() ? type : stacked(view.extent(), type));
  }
  in.yield(yields);
  made.regions = {in.region};
  return b.append(std::move(made), types);
}

/// What all rows begin with.
std::vector<ValueId> BatchedLoop::begun(Builder& b, const AxisVariance& body,
                                        std::span<const ValueId> carries) const {
  if (carries.empty()) return {};
  Rows rows = rowsAt(b, body, carries);
  for (ValueId v : carries) rows.nest.collect(rows.copy.value(v));
  const OpId made = rows.nest.finish();
  return {fn().ops[made].results.begin(), fn().ops[made].results.end()};
}

/// An iteration of all rows; gives what it yields.
Operands BatchedLoop::emitIteration(Builder& in, const AxisVariance& body, const AxisVariance& iterations,
                                    const LoopView& loop, std::span<const ValueId> begun) const {
  const ValueId index = in.param(m_.types.int64(), fn().values[loop.index()].hint);
  std::vector<ValueId> carried;
  for (size_t k = 0; k < begun.size(); ++k)
    carried.push_back(in.param(in.typeOf(begun[k]), fn().values[loop.carryParams()[k]].hint));
  Cloner places = placesAt(in, body, iterations, loop.index(), index);
  Rows rows = rowsAt(in, body, needs_);
  Builder row = in.in(rows.nest.body());
  rows.copy.values[loop.index()] = index;
  for (size_t k = 0; k < carried.size(); ++k)
    rows.copy.values[loop.carryParams()[k]] = row.getAt(carried[k], rows.indices);
  collectIteration(rows, loop, row);
  const OpId made = rows.nest.finish();
  return carry(in, places, loop, made, carried);
}

/// Copies of what makes the places of updates.
Cloner BatchedLoop::placesAt(Builder& in, const AxisVariance& body, const AxisVariance& iterations,
                             ValueId iteration, ValueId index) const {
  Cloner copy(m_, f_, f_);
  copy.values[iteration] = index;
  std::vector<ValueId> indices;
  for (const BatchedCarry& carry : carries_)
    for (OpId id : carry.updates) std::ranges::copy(indicesOf(id), std::back_inserter(indices));
  for (OpId id : body.slice(neededBy(indices, iterations))) copy.op(id, in);
  for (OpId id : iterations.slice(indices)) copy.op(id, in);
  return copy;
}

/// The iteration of a row. The nest gives the rows that go around, what updates put into arrays, what is
/// stacked.
void BatchedLoop::collectIteration(Rows& rows, const LoopView& loop, Builder& row) const {
  std::unordered_set<OpId> updates;
  for (const BatchedCarry& carry : carries_) updates.insert(carry.updates.begin(), carry.updates.end());
  rows.copy.instead = [&](OpId id, Builder&) { return updates.contains(id); };
  const std::vector<ValueId> yields = rows.copy.body(loop.body(), row).values;
  for (size_t k = 0; k < carries_.size(); ++k) {
    if (carries_[k].isOfRows()) rows.nest.collect(yields[k]);
    for (OpId id : carries_[k].updates) rows.nest.collect(rows.copy.value(fn().ops[id].operands[1]));
  }
  for (size_t k = carries_.size(); k < yields.size(); ++k) rows.nest.collect(yields[k]);
}

Operands BatchedLoop::carry(Builder& in, const Cloner& places, const LoopView& loop, OpId made,
                            std::span<const ValueId> carried) const {
  Operands out;
  const size_t axes = fn().ops[nest_].dims.size();
  const Results given = fn().ops[made].results;
  size_t next = 0;
  for (size_t k = 0; k < carries_.size(); ++k) {
    ValueId array = carries_[k].isOfRows() ? given[next++] : carried[k];
    for (OpId id : carries_[k].updates) {
      Op op = Builder::simple(fn().ops[id].kind, {array, given[next++]},
                              Path(axes, PathStep{StepKind::All, 0, {}, 1}));
      const Path& path = fn().ops[id].as<Path>();
      op.as<Path>().insert(op.as<Path>().end(), path.begin(), path.end());
      for (ValueId v : indicesOf(id)) op.operands.push_back(places.value(v));
      array = in.one(std::move(op), in.typeOf(array));
    }
    out.push_back(array);
  }
  for (size_t k = 0; k < loop.stacks(); ++k) out.push_back(given[next++]);
  return out;
}

TypeId BatchedLoop::stacked(DimSym extent, TypeId row) const {
  types::Type array = m_.types[row];
  std::vector<DimId> dims = {m_.types.dims.symbol(extent)};
  dims.insert(dims.end(), array.dims.begin(), array.dims.end());
  return m_.types.array(m_.types.element(row), std::move(dims));
}

/// Reads of what the loop around gives stand for the one in the nest.
void BatchedLoop::readBy(Builder& b, OpId made) {
  const std::vector<OpId> ops = fn().regions[body_].ops;
  const size_t axes = fn().ops[nest_].dims.size();
  const Op& loop = fn().ops[loop_];
  const size_t carries = LoopView(fn(), loop).carries();
  fn().regions[body_].ops.clear();
  Builder in(m_, f_, body_, b.loc);
  const std::vector<ValueId> params(fn().regions[body_].params.begin(),
                                    fn().regions[body_].params.begin() + static_cast<ptrdiff_t>(axes));
  for (OpId id : ops) {
    if (id != loop_) {
      fn().regions[body_].ops.push_back(id);
      continue;
    }
    for (size_t k = 0; k < loop.results.size(); ++k) {
      Path path;
      if (k >= carries) path.push_back(PathStep{StepKind::All, 0, {}, 1});
      path.insert(path.end(), axes, PathStep{StepKind::Index, 0, {}, 1});
      const ValueId read = in.get(fn().ops[made].results[k], std::move(path), params);
      takeOver(fn(), fn().values[read].def, std::span(&loop.results[k], 1));
    }
  }
}

} // namespace melix::transforms
