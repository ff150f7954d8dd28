#include "transforms/ad_emit.h"

#include <bit>

namespace melix::transforms {

ValueId Emit::param(TypeId type) {
  Function& f = fn();
  ValueId v = f.values.add(Value{type, {}, region, static_cast<uint32_t>(f.regions[region].params.size()), {}});
  f.regions[region].params.push_back(v);
  return v;
}

OpId Emit::append(Op op, std::span<const TypeId> resultTypes) {
  Function& f = fn();
  if (!op.loc.valid()) op.loc = loc;
  OpId id = f.ops.add(std::move(op));
  uint32_t index = 0;
  for (TypeId t : resultTypes) {
    ValueId v = f.values.add(Value{t, id, {}, index++, {}});
    f.ops[id].results.push_back(v);
  }
  for (RegionId r : f.ops[id].regions) f.regions[r].parent = id;
  f.regions[region].ops.push_back(id);
  return id;
}

ValueId Emit::one(Op op, TypeId type) { return fn().ops[append(std::move(op), {type})].results[0]; }

ValueId Emit::constant(TypeId type, uint64_t bits) {
  Op op = simple(OpKind::Const, {});
  op.attr = Constant{bits, {}};
  return one(std::move(op), type);
}

uint64_t floatBits(TypeKind kind, double value) {
  switch (kind) {
  case TypeKind::F64: return std::bit_cast<uint64_t>(value);
  case TypeKind::F32: return std::bit_cast<uint32_t>(static_cast<float>(value));
  default: assert(false && "only f32 and f64 constants have bits here"); return 0;
  }
}

ValueId Emit::number(TypeId type, double value) {
  TypeKind kind = types().kind(type);
  if (kind == TypeKind::F32 || kind == TypeKind::F64) return constant(type, floatBits(kind, value));
  return convert(constant(types().scalar(TypeKind::F32), floatBits(TypeKind::F32, value)), type);
}

ValueId Emit::dimValue(DimId d) {
  Op op = simple(OpKind::DimValue, {});
  op.dims.push_back(d);
  return one(std::move(op), types().int64());
}

ValueId Emit::zero(TypeId type) {
  if (types().kind(type) == TypeKind::F32 || types().kind(type) == TypeKind::F64) return constant(type, 0);
  return one(simple(OpKind::Zero, {}), type);
}

ValueId Emit::cmp(ops::CmpKind kind, ValueId a, ValueId b) {
  Op op = simple(OpKind::Cmp, {a, b});
  op.attr = static_cast<uint32_t>(kind);
  return one(std::move(op), types().boolean());
}

ValueId Emit::math(ops::MathKind kind, std::vector<ValueId> operands) {
  TypeId type = typeOf(operands[0]);
  Op op = simple(OpKind::Math, std::move(operands));
  op.attr = static_cast<uint32_t>(kind);
  return one(std::move(op), type);
}

ValueId Emit::convert(ValueId v, TypeId to) {
  if (typeOf(v) == to) return v;
  Op op = simple(OpKind::Convert, {v});
  op.attr = static_cast<uint32_t>(ops::ConvertMode::Saturate);
  return one(std::move(op), to);
}

ValueId Emit::castDims(ValueId v, TypeId to) {
  return typeOf(v) == to ? v : one(simple(OpKind::CastDims, {v}), to);
}

ValueId Emit::get(ValueId x, Path path, std::span<const ValueId> indices, TypeId type) {
  if (path.empty()) return x;
  Op op = simple(OpKind::Get, {x});
  op.operands.insert(op.operands.end(), indices.begin(), indices.end());
  op.attr = std::move(path);
  return one(std::move(op), type);
}

ValueId Emit::getAt(ValueId x, std::span<const ValueId> indices, TypeId type) {
  return get(x, Path(indices.size(), PathStep{StepKind::Index, 0, {}, 1}), indices, type);
}

static ValueId update(Emit& e, OpKind kind, ValueId x, ValueId v, Path path, std::span<const ValueId> indices) {
  Op op = Emit::simple(kind, {x, v});
  op.operands.insert(op.operands.end(), indices.begin(), indices.end());
  op.attr = std::move(path);
  return e.one(std::move(op), e.typeOf(x));
}

ValueId Emit::set(ValueId x, ValueId v, Path path, std::span<const ValueId> indices) {
  if (path.empty()) return v;
  return update(*this, OpKind::Set, x, v, std::move(path), indices);
}

ValueId Emit::addAt(ValueId x, ValueId v, Path path, std::span<const ValueId> indices) {
  return update(*this, OpKind::AddAt, x, v, std::move(path), indices);
}

ValueId Emit::kid(ValueId x, uint32_t k, TypeId type) {
  if (types().kind(typeOf(x)) == TypeKind::Known) {
    Op op = simple(OpKind::Capture, {x});
    op.attr = k;
    return one(std::move(op), type);
  }
  return get(x, {PathStep{StepKind::Field, k, {}, 1}}, {}, type);
}

ValueId Emit::make(TypeId type, std::vector<ValueId> parts) {
  OpKind kind = types().kind(type) == TypeKind::Known ? OpKind::Known : OpKind::Make;
  return one(simple(kind, std::move(parts)), type);
}

void Emit::yield(std::vector<ValueId> values, std::vector<DimId> dims) {
  Op op = simple(OpKind::Yield, std::move(values));
  op.dims = std::move(dims);
  append(std::move(op), std::span<const TypeId>());
}

} // namespace melix::transforms
