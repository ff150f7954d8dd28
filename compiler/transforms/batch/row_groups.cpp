#include "transforms/batch/row_groups.h"

namespace melix::transforms {

using namespace core;

namespace {

const Path element{PathStep{StepKind::Index, 0, {}, 1}};

/// A loop that carries one value and collects a number in each iteration: the last value, then the numbers.
std::pair<ValueId, ValueId>
collectingLoop(Builder& b, DimId trips, ValueId begun,
               FunctionRef<Operands(Builder&, ValueId at, ValueId carried)> emit) {
  Op loop = Builder::simple(OpKind::For, {b.dimValue(trips), begun}, LoopAttr{});
  Builder in = b.in(b.newRegion());
  const ValueId at = in.param(b.types().int64()), carried = in.param(b.typeOf(begun));
  in.yield(emit(in, at, carried));
  loop.regions = {in.region};
  loop.as<LoopAttr>().collects = 1;
  loop.resultDims = {b.newDim("n")};
  const TypeId stack = b.types().array(b.types().int64(), {b.dims().symbol(loop.resultDims[0])});
  const OpId made = b.append(std::move(loop), {b.typeOf(begun), stack});
  return {b.result(made, 0), b.castDims(b.result(made, 1), b.types().array(b.types().int64(), {trips}))};
}

} // namespace

RowGroups::RowGroups(Builder& b, ValueId keys, DimId rows, DimId kinds) : kinds_(kinds) {
  count(b, keys, rows);
  start(b);
  sort(b, keys, rows);
}

ValueId RowGroups::areWorth(Builder& b, DimId rows, DimId kinds) {
  constexpr int64_t rowsOfGroup = 4;
  const DimId least = b.dims().mul(b.dims().constant(rowsOfGroup), kinds);
  return b.compare(ops::CmpKind::Le, b.dimValue(least), b.dimValue(rows));
}

void RowGroups::count(Builder& b, ValueId keys, DimId rows) {
  const ValueId none = b.zero(b.types().array(b.types().int64(), {kinds_}));
  std::tie(counts_, before_) = collectingLoop(b, rows, none, [&](Builder& in, ValueId row, ValueId counts) {
    const ValueId key = in.getAt(keys, std::span(&row, 1)), before = in.getAt(counts, std::span(&key, 1));
    const ValueId more = in.binary(OpKind::Add, before, in.integer(1));
    return Operands{in.set(counts, more, element, std::span(&key, 1)), before};
  });
}

void RowGroups::start(Builder& b) {
  starts_ = collectingLoop(b, kinds_, b.integer(0), [&](Builder& in, ValueId key, ValueId start) {
              return Operands{in.binary(OpKind::Add, start, in.getAt(counts_, std::span(&key, 1))), start};
            }).second;
}

void RowGroups::sort(Builder& b, ValueId keys, DimId rows) {
  const ValueId none = b.zero(b.types().array(b.types().int64(), {rows}));
  std::tie(order_, ranks_) = collectingLoop(b, rows, none, [&](Builder& in, ValueId row, ValueId order) {
    const ValueId key = in.getAt(keys, std::span(&row, 1));
    const ValueId rank =
        in.binary(OpKind::Add, in.getAt(starts_, std::span(&key, 1)), in.getAt(before_, std::span(&row, 1)));
    return Operands{in.set(order, row, element, std::span(&rank, 1)), rank};
  });
}

std::vector<ValueId>
RowGroups::forEach(Builder& b, std::span<const ValueId> begun,
                   FunctionRef<std::vector<ValueId>(Builder& in, const Group& group)> emit) const {
  Op loop = Builder::simple(OpKind::For, {b.dimValue(kinds_)}, LoopAttr{});
  loop.operands.insert(loop.operands.end(), begun.begin(), begun.end());
  Builder in = b.in(b.newRegion());
  Group group{in.param(b.types().int64()), {}, {}, {}};
  std::vector<TypeId> types;
  for (ValueId v : begun) {
    types.push_back(b.typeOf(v));
    group.carried.push_back(in.param(b.typeOf(v)));
  }
  group.from = in.getAt(starts_, std::span(&group.key, 1));
  group.rows.size = b.dims().symbol(in.bindDim(in.getAt(counts_, std::span(&group.key, 1)), "n"));
  group.rows.at =
      in.get(order_, {PathStep{StepKind::Slice, 0, group.rows.size, 1}}, std::span(&group.from, 1));
  const std::vector<ValueId> yields = emit(in, group);
  in.yield(Operands(yields.begin(), yields.end()));
  loop.regions = {in.region};
  const Results results = b.fn().ops[b.append(std::move(loop), types)].results;
  return {results.begin(), results.end()};
}

} // namespace melix::transforms
