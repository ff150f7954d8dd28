#include "transforms/walks/derivative_builder.h"

#include "core/ir/nest.h"

namespace melix::transforms {

ValueId Emit::math(ops::MathKind kind, std::vector<ValueId> operands) {
  TypeId type = typeOf(operands[0]);
  return one(simple(OpKind::Math, std::move(operands), static_cast<uint32_t>(kind)), type);
}

ValueId Emit::get(ValueId x, Path path, std::span<const ValueId> indices, TypeId type) {
  if (path.empty()) return x;
  Op op = simple(OpKind::Get, {x}, std::move(path));
  op.operands.insert(op.operands.end(), indices.begin(), indices.end());
  return one(std::move(op), type);
}

ValueId Emit::getAt(ValueId x, std::span<const ValueId> indices, TypeId type) {
  return get(x, Path(indices.size(), PathStep{StepKind::Index, 0, {}, 1}), indices, type);
}

ValueId Emit::set(ValueId x, ValueId v, Path path, std::span<const ValueId> indices) {
  if (path.empty()) return v;
  return Builder::set(x, v, std::move(path), indices);
}

ValueId Emit::kid(ValueId x, uint32_t k, TypeId type) {
  if (types().kind(typeOf(x)) == TypeKind::Known) return one(simple(OpKind::Capture, {x}, k), type);
  return get(x, {PathStep{StepKind::Field, k, {}, 1}}, {}, type);
}

ValueId Emit::make(TypeId type, std::vector<ValueId> parts) {
  OpKind kind = types().kind(type) == TypeKind::Known ? OpKind::Known : OpKind::Make;
  return one(simple(kind, std::move(parts)), type);
}

/// for %i in 0..%n carry(list) { push list, (what `element` makes for %i) }
ValueId Emit::listOf(TypeId t, ValueId n, FunctionRef<ValueId(Emit&, ValueId)> element) {
  ValueId empty = one(simple(OpKind::ListOf, {}), t);
  Emit b = in(newRegion());
  ValueId i = b.param(types().int64());
  ValueId list = b.param(t);
  b.yield({b.one(simple(OpKind::Push, {list, element(b, i)}), t)});
  Op loop = simple(OpKind::For, {n, empty}, LoopAttr{});
  loop.regions.push_back(b.region);
  return one(std::move(loop), t);
}

ValueId Emit::arrayOf(std::span<const DimId> dims,
                      FunctionRef<ValueId(Emit&, const std::vector<ValueId>&)> element) {
  NestBuilder nest(*this);
  Emit b = in(nest.body());
  const std::vector<ValueId> axes = nest.openAxes(dims);
  nest.collect(element(b, axes));
  return nest.one();
}

ValueId Emit::packOf(TypeId t, ValueId x, FunctionRef<ValueId(ValueId, const std::vector<DimId>&)> inner) {
  Op open = simple(OpKind::Unpack, {x});
  std::vector<DimId> own;
  for (uint32_t i = 0; i < types()[typeOf(x)].number; ++i) {
    DimSym s = newDim("");
    open.resultDims.push_back(s);
    own.push_back(types().dims.symbol(s));
  }
  ValueId opened = one(std::move(open), types().openPack(typeOf(x), own));
  Op pack = simple(OpKind::Pack, {inner(opened, own)});
  pack.dims = own;
  return one(std::move(pack), t);
}

} // namespace melix::transforms
