#include "transforms/ad_emit.h"

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

} // namespace melix::transforms
