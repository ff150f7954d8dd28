#include "transforms/batch/loop_of_same_trips.h"

namespace melix::transforms {

using namespace core;

void LoopOfSameTrips::around(Builder& b) {
  const Op loop = fn().ops[loop_];
  const LoopView view(fn(), loop);
  Op made = Builder::simple(OpKind::For, {count_}, loop.as<LoopAttr>());
  for (ValueId v : begun(b, nullptr)) made.operands.push_back(v);
  for (ValueId v : sumsBegun()) made.operands.push_back(v);
  made.resultDims = loop.resultDims;
  made.loc = loop.loc;
  Builder in = b.in(b.newRegion());
  const Operands yields = emitIteration(in, std::span(made.operands).subspan(1));
  std::vector<TypeId> types;
  for (size_t k = 0; k < yields.size(); ++k) {
    const TypeId type = b.typeOf(yields[k]);
    types.push_back(k < carries_.size() ? type : stacked(m_.types.dims.symbol(view.extent()), type));
  }
  in.yield(yields);
  made.regions = {in.region};
  const OpId id = b.append(std::move(made), types);
  const std::span<const ValueId> results(fn().ops[id].results);
  give(results, results.subspan(columns_.size()), results.subspan(carries_.size()));
}

/// The trip count; 0 if there are no rows and what it is made of may not be read then.
void LoopOfSameTrips::takeShared(Builder& b) {
  const ValueId count = view().count();
  Cloner outside(m_, f_, f_);
  if (bodyVariance().readsWithin(count)) {
    rows_.copy(b, outside, std::span(&count, 1));
    count_ = outside.value(count);
    return;
  }
  Op branch =
      Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Gt, b.dimValue(rows_.count()), b.integer(0))});
  Builder some = b.in(b.newRegion()), none = b.in(b.newRegion());
  rows_.copy(some, outside, std::span(&count, 1));
  some.yield({outside.value(count)});
  none.yield({none.integer(0)});
  branch.regions = {some.region, none.region};
  count_ = b.one(std::move(branch), m_.types.int64());
}

std::vector<ValueId> LoopOfSameTrips::rowIndices(Builder&) const {
  const std::span<const ValueId> params(fn().regions[body_].params);
  const std::span<const ValueId> axes = params.first(fn().ops[nest_].dims.size());
  return {axes.begin(), axes.end()};
}

/// An iteration of all rows; gives what it yields.
Operands LoopOfSameTrips::emitIteration(Builder& in, std::span<const ValueId> begun) const {
  const LoopView loop = view();
  const ValueId index = in.param(m_.types.int64(), fn().values[loop.index()].hint);
  const std::vector<ValueId> carried = enterParams(in, begun);
  const Cloner places = placesAt(in, index);
  RowNest rows = rows_.open(in);
  Builder row = in.in(rows.nest.body());
  rows_.copy(row, rows.copy, needs_);
  rows.copy.values[loop.index()] = index;
  enterCarries(rows, row, loop.carryParams(), carried, rows.indices);
  std::vector<ValueId> sums(carried.begin() + static_cast<ptrdiff_t>(columns_.size()), carried.end());
  Iteration made = endIteration(rows, in, sums);
  const Path all(fn().ops[nest_].dims.size(), PathStep{StepKind::All, 0, {}, 1});
  Operands out;
  for (ValueId v : carryOn(in, places, made, carried, all, {})) out.push_back(v);
  // The stored values have the axes of the nest: as rows they have one.
  if (made.adds) made.adds->emit(in, rows_.count(), rows_.flat(in, made.stored), sums);
  for (ValueId v : sums) out.push_back(v);
  for (size_t k = 0; k < loop.stacks(); ++k) out.push_back(made.given[made.given.size() - loop.stacks() + k]);
  return out;
}

} // namespace melix::transforms
