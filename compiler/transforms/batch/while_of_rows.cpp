#include "transforms/batch/while_of_rows.h"

#include "core/analysis/effect_audit.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

struct WhileOfRows::Going {
  ValueId lanes;                    ///< positions of the rows that go on
  std::span<const ValueId> carried; ///< their columns
  DimId size;
};

void WhileOfRows::around(Builder& b) {
  const Op loop = fn().ops[loop_];
  const RowSet all = rows_.all();
  const std::vector<ValueId> first = begun(b, &all), sums = sumsBegun();
  const size_t columns = columns_.size();
  Op made = Builder::simple(OpKind::While, {});
  made.loc = loop.loc;
  made.dims = {all.size};
  const DimSym end = b.newDim("m");
  made.resultDims = {end};
  // What rows end with, the accumulators, the rows that go on, what these carry.
  for (ValueId v : first) made.operands.push_back(b.zero(b.typeOf(v)));
  made.operands.insert(made.operands.end(), sums.begin(), sums.end());
  const size_t fixed = made.operands.size();
  made.operands.push_back(positions(b, all.size));
  made.operands.insert(made.operands.end(), first.begin(), first.end());

  auto typesFor = [&](DimSym size) {
    std::vector<TypeId> types;
    for (size_t k = 0; k < made.operands.size(); ++k) {
      const TypeId type = b.typeOf(made.operands[k]);
      types.push_back(k < fixed ? type : resized(type, m_.types.dims.symbol(size)));
    }
    return types;
  };
  auto enter = [&](std::vector<ValueId>& params) {
    const DimSym size = b.newDim("m");
    Builder in = b.in(b.newRegion());
    fn().regions[in.region].dimParams = {size};
    for (TypeId type : typesFor(size)) params.push_back(in.param(type));
    made.regions.push_back(in.region);
    return in;
  };
  std::vector<ValueId> tested, params;
  Builder condition = enter(tested);
  const DimId size = m_.types.dims.symbol(fn().regions[condition.region].dimParams[0]);
  condition.yield({condition.compare(ops::CmpKind::Gt, condition.dimValue(size), condition.integer(0))});
  Builder in = enter(params);
  emitIteration(in, params);
  const OpId id = b.append(std::move(made), typesFor(end));
  noteCopy(f_, loop_, f_, id);
  const std::vector<ValueId> results(fn().ops[id].results.begin(), fn().ops[id].results.end());
  give(std::span(results).first(columns), std::span(results).subspan(columns, sums.size()), {});
}

std::vector<ValueId> WhileOfRows::rowIndices(Builder& in) const { return {rows_.positionOf(in)}; }

/// An iteration: the rows that go on take part.
void WhileOfRows::emitIteration(Builder& in, std::span<const ValueId> params) const {
  const LoopView loop = view();
  const size_t columns = columns_.size();
  const std::span<const ValueId> ends = params.first(columns), carried = params.last(columns);
  std::vector<ValueId> sums(params.begin() + static_cast<ptrdiff_t>(columns),
                            params.end() - static_cast<ptrdiff_t>(columns + 1));
  const DimId size = m_.types.dims.symbol(fn().regions[in.region].dimParams[0]);
  const Going now{params[columns + sums.size()], carried, size};
  const ValueId goes = conditions(in, now), going = those(in, goes, size, true);
  const DimId left = m_.types[in.typeOf(going)].dims[0];
  const std::vector<ValueId> ended = storeEnded(in, now, goes, left, ends);

  NestBuilder on(in);
  const ValueId j = on.axis(left);
  Builder each = in.in(on.body());
  const ValueId from = each.getAt(going, std::span(&j, 1));
  on.collect(each.getAt(now.lanes, std::span(&from, 1)));
  const ValueId lanes = on.one();

  RowNest rows = rows_.openWith(in, {lanes, left}, needs_);
  Builder row = in.in(rows.nest.body());
  const ValueId at = row.getAt(going, rows.indices);
  enterCarries(rows, row, loop.carryParams(), carried, std::span(&at, 1));
  Iteration made = endIteration(rows, in, sums);
  if (made.adds) made.adds->emit(in, left, made.stored, sums);
  Operands yields(ended.begin(), ended.end());
  yields.insert(yields.end(), sums.begin(), sums.end());
  yields.push_back(lanes);
  yields.insert(yields.end(), made.given.begin(), made.given.end());
  in.yield(yields, {left});
}

/// By row of those that are there: whether it goes on.
ValueId WhileOfRows::conditions(Builder& in, const Going& now) const {
  const LoopView loop = view();
  RowNest rows = rows_.openWith(in, {now.lanes, now.size}, needs_);
  Builder row = in.in(rows.nest.body());
  enterCarries(rows, row, loop.carryParams(loop.condition()), now.carried, rows.indices);
  rows.nest.collect(rows.copy.body(loop.condition(), row).values[0]);
  return rows.nest.one();
}

/// The numbers of the rows that go on, or of those that end.
ValueId WhileOfRows::those(Builder& in, ValueId goes, DimId size, bool goOn) const {
  NestBuilder nest(in);
  const ValueId at = nest.axis(size);
  Builder each = in.in(nest.body());
  ValueId passes = each.getAt(goes, std::span(&at, 1));
  if (!goOn) passes = each.unary(OpKind::Not, passes);
  nest.add(filtering(), std::array{passes, at}, {{}, {}, in.newDim(goOn ? "k" : "e")});
  return nest.one();
}

/// What rows end with: those that end now are set.
std::vector<ValueId> WhileOfRows::storeEnded(Builder& in, const Going& now, ValueId goes, DimId left,
                                             std::span<const ValueId> ends) const {
  Op op =
      Builder::simple(OpKind::If, {in.compare(ops::CmpKind::Lt, in.dimValue(left), in.dimValue(now.size))});
  Builder some = in.in(in.newRegion()), none = in.in(in.newRegion());
  const ValueId those = this->those(some, goes, now.size, false);
  Op each = Builder::simple(OpKind::For, {some.dimValue(m_.types[some.typeOf(those)].dims[0])}, LoopAttr{});
  Builder set = some.in(some.newRegion());
  const ValueId number = set.param(m_.types.int64());
  std::vector<TypeId> types;
  std::vector<ValueId> params;
  for (ValueId v : ends) {
    each.operands.push_back(v);
    types.push_back(in.typeOf(v));
    params.push_back(set.param(types.back()));
  }
  const ValueId row = set.getAt(those, std::span(&number, 1)),
                lane = set.getAt(now.lanes, std::span(&row, 1));
  Operands yields;
  for (size_t k = 0; k < ends.size(); ++k)
    yields.push_back(set.set(params[k], set.getAt(now.carried[k], std::span(&row, 1)),
                             {PathStep{StepKind::Index, 0, {}, 1}}, std::span(&lane, 1)));
  set.yield(yields);
  each.regions = {set.region};
  const OpId loop = some.append(std::move(each), types);
  some.yield(Operands(fn().ops[loop].results.begin(), fn().ops[loop].results.end()));
  none.yield(Operands(ends.begin(), ends.end()));
  op.regions = {some.region, none.region};
  const OpId made = in.append(std::move(op), types);
  return {fn().ops[made].results.begin(), fn().ops[made].results.end()};
}

ValueId WhileOfRows::positions(Builder& b, DimId count) const {
  NestBuilder nest(b);
  nest.collect(nest.axis(count));
  return nest.one();
}

} // namespace melix::transforms
