#include "transforms/canonical/flat_elements.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;
using types::Leaf;

void FlatElements::rowsOf(Builder& b, const NestView& view, const NestPart& part, Rows at,
                          std::vector<Rows>& out) {
  at.records = view.results(part)[0];
  const TypeId element = typeOf(view.yields(part).back());
  std::vector<DimId> axes;
  const Op& nest = f_.ops[f_.values[at.records].def];
  for (uint32_t a = 0; a < nest.dims.size(); ++a)
    if (part.spec->kind == NestResultKind::Filter || std::ranges::count(part.spec->keep, a) > 0)
      axes.push_back(nest.dims[a]);
  if (!isFlat(element) || axes.empty()) return;
  ElementSizes sizes(b, axes, checked_);
  for (const Leaf& leaf : types::leavesOf(m_.types, element)) {
    at.type = sizes.withSizes(leaf.type);
    if (at.type != leaf.type) out.push_back(at);
    checkLeafFits(b, axes, at.type);
    ++at.leaf, ++at.result, ++at.yielded;
  }
}

void FlatElements::castRows(Builder& b, OpId nest, const Rows& rows) {
  Op& yields = f_.ops[terminatorId(f_, f_.ops[nest].regions[0])];
  ValueId& yielded = yields.operands[rows.yielded];
  Builder inner(m_, id_, f_.ops[nest].regions[0], yields.loc);
  const OpId yield = f_.regions[inner.region].ops.back();
  f_.regions[inner.region].ops.pop_back();
  yielded = inner.castDims(yielded, rows.type);
  f_.regions[inner.region].ops.push_back(yield);
  const ValueId result = f_.ops[nest].results[rows.result];
  const std::span<const DimId> axes = m_.types[typeOf(result)].dims;
  const size_t outer = axes.size() - m_.types.rank(rows.type);
  const TypeId claimed = typeOf(result);
  f_.values[result].type =
      m_.types.array(rows.type, {axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(outer)});
  std::vector<ValueId> all(leaves(rows.records).begin(), leaves(rows.records).end());
  all[rows.leaf] = b.castDims(result, claimed);
  setLeaves(rows.records, all);
}

void FlatElements::toArray(Builder& b, const Op& op) {
  const ValueId list = one(op.operands[0]);
  const TypeId element = m_.types[typeOf(list)].parts[0], result = typeOf(op.results[0]);
  const ValueId length = b.one(Builder::simple(OpKind::Length, {list}), m_.types.int64());
  if (!op.resultDims.empty()) {
    Op bind = Builder::simple(OpKind::BindDim, {length});
    bind.resultDims = op.resultDims;
    b.append(std::move(bind), {});
  }
  const DimId extent = m_.types[result].dims[0];
  ElementSizes sizes(b, {&extent, 1}, checked_);
  NestBuilder nest(b);
  Builder inner = b.in(nest.body());
  const Place at{{{StepKind::Element, 0, {}, 1}}, {nest.axis(extent)}};
  for (const Leaf& leaf : types::leavesOf(m_.types, element)) {
    const Place place = leafPlace(typeOf(list), at, leaf);
    const TypeId row = sizes.withSizes(leaf.type);
    checkLeafFits(b, {&extent, 1}, row);
    nest.collect(inner.castDims(inner.get(list, place.path, place.indices), row));
  }
  const OpId made = nest.finish();
  const std::vector<Leaf> whole = types::leavesOf(m_.types, result);
  std::vector<ValueId> own;
  for (size_t k = 0; k < whole.size(); ++k) own.push_back(b.castDims(b.result(made, k), whole[k].type));
  setLeaves(op.results[0], own);
}

void FlatElements::toList(Builder& b, const Op& op) {
  const ValueId records = op.operands[0];
  const TypeId list = typeOf(op.results[0]), element = m_.types[list].parts[0];
  const types::Type array = m_.types[typeOf(records)];
  const bool isPacked = m_.types.kind(element) == TypeKind::Pack;
  const Dims inner(array.dims.begin() + 1, array.dims.end());
  const TypeId row = m_.types.array(array.parts[0], {inner.begin(), inner.end()});
  const ValueId count = b.dimValue(array.dims[0]), empty = b.one(Builder::simple(OpKind::ListOf, {}), list);
  Builder body = b.in(b.newRegion());
  const ValueId i = body.param(m_.types.int64()), begun = body.param(list);
  std::vector<ValueId> parts;
  for (ValueId leaf : leaves(records)) parts.push_back(body.getAt(leaf, {&i, 1}));
  size_t next = 0;
  ValueId made = join(body, row, parts, next, types::mostLeaves);
  if (isPacked) {
    Op pack = Builder::simple(OpKind::Pack, {made});
    pack.dims = inner;
    made = body.one(std::move(pack), element);
  }
  body.yield({body.one(Builder::simple(OpKind::Push, {begun, made}), list)});
  Op loop = Builder::simple(OpKind::For, {count, empty}, LoopAttr{});
  loop.regions = {body.region};
  const ValueId all = b.one(std::move(loop), list);
  setLeaves(op.results[0], {&all, 1});
}

} // namespace melix::transforms
