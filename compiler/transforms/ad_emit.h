#pragma once
// Appends ops to a region of a function that is being made. Ids stay valid; references into stores do not.

#include "core/ir.h"

#include <span>

namespace melix::transforms {

using namespace core;

class Emit {
public:
  Emit(Module& m, FunctionId f, RegionId r, LocId l) : module(m), function(f), region(r), loc(l) {}

  Module& module;
  FunctionId function;
  RegionId region;
  LocId loc;

  Function& fn() const { return module.functions[function]; }
  types::TypeStore& types() const { return module.types; }
  TypeId typeOf(ValueId v) const { return fn().values[v].type; }
  Emit in(RegionId r) const { return Emit(module, function, r, loc); }

  RegionId newRegion() const { return fn().regions.add(Region{}); }
  ValueId param(TypeId type);
  /// A value that no op defines yet.
  ValueId placeholder(TypeId type) const { return fn().values.add(Value{type, {}, {}, 0, {}}); }

  OpId append(Op op, std::span<const TypeId> resultTypes);
  OpId append(Op op, std::initializer_list<TypeId> t) { return append(std::move(op), std::span(t.begin(), t.size())); }
  ValueId one(Op op, TypeId type);
  ValueId result(OpId op, size_t i = 0) const { return fn().ops[op].results[i]; }

  ValueId constant(TypeId type, uint64_t bits);
  ValueId i64(int64_t value) { return constant(types().int64(), static_cast<uint64_t>(value)); }
  ValueId boolean(bool value) { return constant(types().boolean(), value); }
  /// A float constant of `type`, rounded once from f64.
  ValueId number(TypeId type, double value);
  ValueId dimValue(DimId d);
  ValueId zero(TypeId type);

  ValueId unary(OpKind kind, ValueId a) { return one(simple(kind, {a}), typeOf(a)); }
  ValueId binary(OpKind kind, ValueId a, ValueId b) { return one(simple(kind, {a, b}), typeOf(a)); }
  ValueId add(ValueId a, ValueId b) { return binary(OpKind::Add, a, b); }
  ValueId sub(ValueId a, ValueId b) { return binary(OpKind::Sub, a, b); }
  ValueId mul(ValueId a, ValueId b) { return binary(OpKind::Mul, a, b); }
  ValueId div(ValueId a, ValueId b) { return binary(OpKind::Div, a, b); }
  ValueId neg(ValueId a) { return unary(OpKind::Neg, a); }
  ValueId cmp(ops::CmpKind kind, ValueId a, ValueId b);
  ValueId select(ValueId c, ValueId a, ValueId b) { return one(simple(OpKind::Select, {c, a, b}), typeOf(a)); }
  ValueId math(ops::MathKind kind, std::vector<ValueId> operands);
  ValueId convert(ValueId v, TypeId to);
  ValueId castDims(ValueId v, TypeId to); ///< `v` itself when the types are equal

  ValueId get(ValueId x, Path path, std::span<const ValueId> indices, TypeId type);
  ValueId getAt(ValueId x, std::span<const ValueId> indices, TypeId type);
  ValueId set(ValueId x, ValueId v, Path path, std::span<const ValueId> indices);
  ValueId addAt(ValueId x, ValueId v, Path path, std::span<const ValueId> indices);
  /// Part `k` of a tuple, field of a struct or capture of a Known value.
  ValueId kid(ValueId x, uint32_t k, TypeId type);
  ValueId make(TypeId type, std::vector<ValueId> parts);
  void yield(std::vector<ValueId> values, std::vector<DimId> dims = {});

  static Op simple(OpKind kind, std::vector<ValueId> operands) {
    Op op;
    op.kind = kind;
    op.operands = std::move(operands);
    return op;
  }
};

/// The bits of `value` rounded to a float type.
uint64_t floatBits(TypeKind kind, double value);

} // namespace melix::transforms
