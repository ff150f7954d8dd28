#pragma once
// Builds Core: a builder appends ops to a region and finds the types of their results.

#include "core/ir/path.h"

#include <span>

namespace melix::core {

/// Appends to `region` of `function`. References into stores stay valid; the lists of a region grow.
class Builder {
public:
  Builder(Module& m, FunctionId f, RegionId r, LocId l) : module(m), function(f), region(r), loc(l) {}

  Module& module;
  FunctionId function;
  RegionId region;
  LocId loc;

  Function& fn() const { return module.functions[function]; }
  types::TypeStore& types() const { return module.types; }
  types::DimStore& dims() const { return module.types.dims; }
  TypeId typeOf(ValueId v) const { return fn().values[v].type; }
  Builder in(RegionId r) const { return Builder(module, function, r, loc); }

  // Regions and functions.
  RegionId newRegion() const { return fn().regions.add(Region{}); }
  ValueId param(TypeId type, NameId hint = {});
  /// A value that nothing defines yet, and its definition as a parameter.
  ValueId placeholder(TypeId type) const { return fn().values.add(Value{type, {}, {}, 0, {}}); }
  void defineParam(ValueId placeholder);
  DimSym newDim(std::string name, types::DimSymKind kind = types::DimSymKind::Unknown,
                int64_t lowerBound = 0);

  // Any op: results of the given types are made for it; ops without a location take the builder's.
  OpId append(Op op, std::span<const TypeId> resultTypes);
  OpId append(Op op, std::initializer_list<TypeId> t) {
    return append(std::move(op), std::span(t.begin(), t.size()));
  }
  ValueId one(Op op, TypeId type) { return result(append(std::move(op), {type})); }
  ValueId result(OpId op, size_t i = 0) const { return fn().ops[op].results[i]; }
  static Op simple(OpKind kind, Operands operands, Attr attr = {});

  // Values.
  ValueId constant(TypeId type, uint64_t bits) {
    return one(simple(OpKind::Const, {}, Constant{bits, {}}), type);
  }
  ValueId text(std::string s) {
    return one(simple(OpKind::Const, {}, Constant{0, std::move(s)}), types().str());
  }
  ValueId integer(int64_t v) { return constant(types().int64(), static_cast<uint64_t>(v)); }
  ValueId boolean(bool v) { return constant(types().boolean(), v); }
  /// A float constant of any float type, rounded once from f64.
  ValueId number(TypeId type, double value);
  ValueId zero(TypeId type) { return one(simple(OpKind::Zero, {}), type); }
  ValueId undef(TypeId type) { return one(simple(OpKind::Undef, {}), type); }
  ValueId dimValue(DimId d);
  DimSym bindDim(ValueId v, std::string name);
  ValueId castDims(ValueId v, TypeId to); ///< `v` itself when the types are equal
  ValueId make(TypeId type, Operands parts) { return one(simple(OpKind::Make, std::move(parts)), type); }
  ValueId variant(TypeId type, uint32_t c, Operands payload) {
    return one(simple(OpKind::Variant, std::move(payload), c), type);
  }

  // Places.
  ValueId get(ValueId x, Path path, std::span<const ValueId> indices);
  ValueId getAt(ValueId x, std::span<const ValueId> indices);
  ValueId field(ValueId x, uint32_t k) { return get(x, {PathStep{StepKind::Field, k, {}, 1}}, {}); }
  ValueId set(ValueId x, ValueId v, Path path, std::span<const ValueId> indices);
  ValueId addAt(ValueId x, ValueId v, Path path, std::span<const ValueId> indices);

  // Scalars.
  ValueId unary(OpKind kind, ValueId a) { return one(simple(kind, {a}), typeOf(a)); }
  ValueId binary(OpKind kind, ValueId a, ValueId b) { return one(simple(kind, {a, b}), typeOf(a)); }
  ValueId compare(ops::CmpKind kind, ValueId a, ValueId b);
  ValueId select(ValueId c, ValueId a, ValueId b) {
    return one(simple(OpKind::Select, {c, a, b}), typeOf(a));
  }
  ValueId convert(ValueId v, TypeId to, ops::ConvertMode mode = ops::ConvertMode::Saturate);

  /// Checks the extents of an array that is made, each of them a size, together. A single one is no product.
  void checkFits(std::span<const DimId> extents);

  // Control.
  OpId call(FunctionId callee, Operands args, Dims dimArgs);
  void yield(Operands values, Dims dims = {});
};

/// Whether `make` puts a value of the type together: a tuple, a struct; where records are flat, a flat enum
/// and an array of records too.
bool canMake(const Module& m, TypeId type);

/// The bits of `value` rounded to a float type (f8, f16, bf16, f32, f64).
uint64_t floatBits(TypeKind kind, double value);
/// Bits of a signed or unsigned integer kind as a number.
int64_t signedBits(TypeKind kind, uint64_t bits);
/// The number a float constant stands for, exactly.
double floatValue(TypeKind kind, uint64_t bits);

/// The result types of a `call` of `callee` with these dimension arguments; new symbols for its result dims
/// are put in `defined`.
std::vector<TypeId> callResultTypes(Module& m, FunctionId callee, std::span<const DimId> dimArgs,
                                    DimSyms& defined);

} // namespace melix::core
