#pragma once
// Internal: emits the scalar ops of Core as LLVM IR, for single values and for vectors of them alike.
// Integers wrap; floats follow IEEE without any fast-math flag; a NaN shows no sign or payload.

#include "codegen/emitter.h"

#include <span>

namespace melix::codegen {

class ScalarOps {
public:
  ScalarOps(ModuleEmitter& module, llvm::IRBuilder<>& builder) : m_(module), b_(builder) {}

  llvm::Constant* constant(const loops::ValueType& type, uint64_t bits);
  /// The op on operands of one shape; the result is of kind `to`. The condition of a selection may be a
  /// single one.
  llvm::Value* apply(const loops::ScalarAttr& attr, std::span<llvm::Value* const> operands,
                     types::TypeKind to);

private:
  using Value = llvm::Value;

  /// The type `scalar`, as often as `like` has lanes.
  static llvm::Type* shaped(llvm::Type* scalar, llvm::Type* like);
  llvm::Type* typeLike(types::TypeKind kind, Value* like);
  /// Whether AVX-512 has instructions for lanes of that type that others have not: scaling, maxima that order
  /// zeros.
  bool isByMachine(const llvm::Type* t) const;
  Value* fma(Value* a, Value* b, Value* c);
  Value* round(Value* a, uint32_t mode);

  // scale.cpp
  Value* scale(Value* y, Value* n, ops::ScaleRange range);
  Value* scaledByMachine(Value* y, Value* n);
  Value* scaledNear(Value* y, Value* n);
  Value* scaledByFactors(Value* y, Value* exponent);
  Value* wholeBits(Value* n);

  // directed.cpp
  Value* directed(ops::DirectedKind kind, Value* a, Value* b);
  Value* directedByMachine(const ops::DirectedRow& row, Value* a, Value* b);
  /// The rounding error of the result rounded to nearest, or a value of the same sign; NaN where the rounded
  /// result is exactly the one wanted.
  Value* lostBy(core::OpKind arithmetic, Value* a, Value* b, Value* nearest);

  Value* binary(core::OpKind op, Value* a, Value* b, types::TypeKind kind);
  Value* floorDivide(Value* a, Value* b, types::TypeKind kind, bool remainder);
  Value* minMax(bool min, Value* a, Value* b, types::TypeKind kind);
  Value* compare(ops::CmpKind how, Value* a, Value* b, types::TypeKind kind);
  Value* convert(Value* v, types::TypeKind from, types::TypeKind to, ops::ConvertMode mode);
  Value* extend(Value* v, llvm::Type* to);
  Value* truncate(Value* v, llvm::Type* to);
  Value* fromFloat(Value* v, types::TypeKind to);
  Value* saturateFloat(Value* v, types::TypeKind to);
  Value* saturateInt(Value* v, types::TypeKind from, types::TypeKind to);
  Value* bitsOf(Value* v, llvm::Type* type);
  Value* isNan(Value* v) { return b_.CreateFCmpUNO(v, v); }

  ModuleEmitter& m_;
  llvm::IRBuilder<>& b_;
};

} // namespace melix::codegen
