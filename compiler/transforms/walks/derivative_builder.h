#pragma once
// Builds Core for derivatives: a builder with their common expressions.

#include "core/ir/build.h"
#include "support/function_ref.h"

namespace melix::transforms {

using namespace core;

class Emit : public Builder {
public:
  using Builder::Builder;

  Emit in(RegionId r) const { return Emit(module, function, r, loc); }

  ValueId i64(int64_t value) { return integer(value); }
  ValueId zero(TypeId type) { return types().isFloat(type) ? number(type, 0) : Builder::zero(type); }
  ValueId add(ValueId a, ValueId b) { return binary(OpKind::Add, a, b); }
  ValueId sub(ValueId a, ValueId b) { return binary(OpKind::Sub, a, b); }
  ValueId mul(ValueId a, ValueId b) { return binary(OpKind::Mul, a, b); }
  ValueId div(ValueId a, ValueId b) { return binary(OpKind::Div, a, b); }
  ValueId neg(ValueId a) { return unary(OpKind::Neg, a); }
  ValueId cmp(ops::CmpKind kind, ValueId a, ValueId b) { return compare(kind, a, b); }
  ValueId math(ops::MathKind kind, std::vector<ValueId> operands);
  ValueId round(ops::RoundMode mode, ValueId v) {
    return one(simple(OpKind::Round, {v}, static_cast<uint32_t>(mode)), typeOf(v));
  }
  ValueId scale(ValueId y, ValueId n) {
    return one(simple(OpKind::Scale, {y, n}, static_cast<uint32_t>(ops::ScaleRange::Any)), typeOf(y));
  }
  ValueId convert(ValueId v, TypeId to) { return typeOf(v) == to ? v : Builder::convert(v, to); }

  using Builder::get;
  ValueId get(ValueId x, Path path, std::span<const ValueId> indices, TypeId type);
  ValueId getAt(ValueId x, std::span<const ValueId> indices, TypeId type);
  ValueId set(ValueId x, ValueId v, Path path, std::span<const ValueId> indices);
  /// Part `k` of a tuple, field of a struct or capture of a Known value.
  ValueId kid(ValueId x, uint32_t k, TypeId type);
  ValueId make(TypeId type, std::vector<ValueId> parts);
  /// The List of type `t` of the results of `element` for 0, …, `n` - 1.
  ValueId listOf(TypeId t, ValueId n, FunctionRef<ValueId(Emit&, ValueId)> element);
  /// The array of extents `dims` of the results of `element` at each place.
  ValueId arrayOf(std::span<const DimId> dims,
                  FunctionRef<ValueId(Emit&, const std::vector<ValueId>&)> element);
  /// The pack of type `t` of the result of `inner` for the value in the pack `x`, at the same hidden sizes.
  ValueId packOf(TypeId t, ValueId x, FunctionRef<ValueId(ValueId, const std::vector<DimId>&)> inner);
};

} // namespace melix::transforms
