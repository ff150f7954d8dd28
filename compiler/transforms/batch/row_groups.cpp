#include "transforms/batch/row_groups.h"

namespace melix::transforms {

using namespace core;

RowGroups::RowGroups(Builder& b, ValueId keys, DimId rows)
    : order_(b.one(Builder::simple(OpKind::ArgSort, {keys}, uint32_t(0)), b.typeOf(keys))) {
  NestBuilder nest(b);
  const ValueId at = nest.axis(rows);
  Builder in = b.in(nest.body());
  const ValueId next = in.binary(OpKind::Add, at, in.integer(1));
  auto keyAt = [&](Builder& by, ValueId place) {
    const ValueId row = by.getAt(order_, std::span(&place, 1));
    return by.getAt(keys, std::span(&row, 1));
  };
  Op branch = Builder::simple(OpKind::If, {in.compare(ops::CmpKind::Lt, next, in.dimValue(rows))});
  Builder hasNext = in.in(in.newRegion()), isLast = in.in(in.newRegion());
  hasNext.yield({hasNext.compare(ops::CmpKind::Ne, keyAt(hasNext, at), keyAt(hasNext, next))});
  isLast.yield({isLast.boolean(true)});
  branch.regions = {hasNext.region, isLast.region};
  nest.add(filtering(), std::array{in.one(std::move(branch), b.types().boolean()), next}, {{}, {}, b.newDim("G")});
  ends_ = nest.one();
}

std::vector<ValueId>
RowGroups::forEach(Builder& b, std::span<const ValueId> begun,
                   FunctionRef<std::vector<ValueId>(Builder& in, const Group& group)> emit) const {
  Op loop = Builder::simple(OpKind::For, {b.dimValue(b.types()[b.typeOf(ends_)].dims[0]), b.integer(0)}, LoopAttr{});
  loop.operands.insert(loop.operands.end(), begun.begin(), begun.end());
  Builder in = b.in(b.newRegion());
  const ValueId number = in.param(b.types().int64()), from = in.param(b.types().int64());
  std::vector<TypeId> types{b.types().int64()};
  Group group{{}, {}, from, {}};
  for (ValueId v : begun) {
    types.push_back(b.typeOf(v));
    group.carried.push_back(in.param(b.typeOf(v)));
  }
  const ValueId to = in.getAt(ends_, std::span(&number, 1));
  group.rows.size = b.dims().symbol(in.bindDim(in.binary(OpKind::Sub, to, from), "n"));
  group.rows.at = in.get(order_, {PathStep{StepKind::Slice, 0, group.rows.size, 1}}, std::span(&from, 1));
  group.first = in.getAt(order_, std::span(&from, 1));
  Operands yields{to};
  for (ValueId v : emit(in, group)) yields.push_back(v);
  in.yield(std::move(yields));
  loop.regions = {in.region};
  const Results results = b.fn().ops[b.append(std::move(loop), types)].results;
  return {results.begin() + 1, results.end()};
}

} // namespace melix::transforms
