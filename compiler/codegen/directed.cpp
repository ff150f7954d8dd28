// Arithmetic of f64 rounded down or up: by the instructions of AVX-512 that carry a direction, else rounded
// to nearest and moved to the next float where what was lost says so. What a sum lost is a float (Dekker
// 1971; Knuth, 4.2.2); of products, quotients and roots an fma gives it, on operands scaled so that nothing
// of it is too small (Boldo, Melquiond, 2008).
#include "codegen/registers.h"
#include "codegen/scalar_ops.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace melix::codegen {

using core::OpKind;
using ops::RoundingDirection;

namespace {

/// The instructions of a register of 512 bits, and of its first lane alone.
struct Instructions {
  llvm::Intrinsic::ID all, first;
};

Instructions instructionsOf(OpKind arithmetic) {
  using namespace llvm::Intrinsic;
  switch (arithmetic) {
  case OpKind::Add: return {x86_avx512_add_pd_512, x86_avx512_mask_add_sd_round};
  case OpKind::Mul: return {x86_avx512_mul_pd_512, x86_avx512_mask_mul_sd_round};
  case OpKind::Div: return {x86_avx512_div_pd_512, x86_avx512_mask_div_sd_round};
  default: return {x86_avx512_sqrt_pd_512, x86_avx512_mask_sqrt_sd};
  }
}

/// The rounding of one instruction as its byte says it, without exceptions.
uint32_t modeOf(RoundingDirection direction) { return direction == RoundingDirection::Down ? 9 : 10; }

} // namespace

llvm::Value* ScalarOps::directed(ops::DirectedKind kind, Value* a, Value* b) {
  const ops::DirectedRow& row = ops::directedRow(kind);
  if (m_.options.optimise && machineOf(m_.options.target).rounds) return directedByMachine(row, a, b);
  llvm::Type* t = a->getType();
  llvm::Type* bits = shaped(b_.getInt64Ty(), t);
  Value* nearest = row.arithmetic == OpKind::Sqrt ? b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a)
                                                  : binary(row.arithmetic, a, b, types::TypeKind::F64);
  Value* lost = lostBy(row.arithmetic, a, b, nearest);
  llvm::Constant* zero = llvm::ConstantFP::get(t, 0.0);
  const bool isDown = row.direction == RoundingDirection::Down;
  Value* isOff = isDown ? b_.CreateFCmpOLT(lost, zero) : b_.CreateFCmpOGT(lost, zero);
  // The bits of floats of one sign are ordered as their sizes: to the next one is a step of 1.
  Value* place = b_.CreateBitCast(nearest, bits);
  Value* step =
      b_.CreateOr(b_.CreateAShr(place, 63), llvm::ConstantInt::get(bits, 1)); // up: 1, where negative -1
  Value* next = isDown ? b_.CreateSub(place, step) : b_.CreateAdd(place, step);
  Value* result = b_.CreateSelect(isOff, b_.CreateBitCast(next, t), nearest);
  if (row.arithmetic != OpKind::Add || !isDown) return result;
  // Downwards a sum of zero is +0 of two +0 only.
  Value* signs = b_.CreateBitCast(b_.CreateOr(b_.CreateBitCast(a, bits), b_.CreateBitCast(b, bits)), t);
  Value* signedZero = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, signs);
  return b_.CreateSelect(b_.CreateFCmpOEQ(nearest, zero), signedZero, result);
}

llvm::Value* ScalarOps::lostBy(OpKind arithmetic, Value* a, Value* b, Value* nearest) {
  llvm::Type* t = a->getType();
  auto number = [&](double v) { return llvm::ConstantFP::get(t, v); };
  auto size = [&](Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  auto scaledWhere = [&](Value* c, Value* v, double by) {
    return b_.CreateFMul(v, b_.CreateSelect(c, number(by), number(1)));
  };
  switch (arithmetic) {
  case OpKind::Add: {
    Value* isLess = b_.CreateFCmpOLT(size(a), size(b));
    Value *large = b_.CreateSelect(isLess, b, a), *small = b_.CreateSelect(isLess, a, b);
    return b_.CreateFSub(small, b_.CreateFSub(nearest, large));
  }
  case OpKind::Mul: {
    Value* isSmall = b_.CreateFCmpOLT(size(nearest), number(0x1p-960));
    Value* product = scaledWhere(isSmall, scaledWhere(isSmall, nearest, 0x1p538), 0x1p538);
    return fma(scaledWhere(isSmall, a, 0x1p538), scaledWhere(isSmall, b, 0x1p538), b_.CreateFNeg(product));
  }
  case OpKind::Div: {
    Value* isSmall = b_.CreateFCmpOLT(size(a), number(0x1p-900));
    Value* rest =
        fma(b_.CreateFNeg(nearest), scaledWhere(isSmall, b, 0x1p200), scaledWhere(isSmall, a, 0x1p200));
    // All of a quotient that vanished is lost; by infinity it is 0.
    Value* vanished = b_.CreateAnd(b_.CreateFCmpOEQ(nearest, number(0)),
                                   b_.CreateFCmpONE(size(b), llvm::ConstantFP::getInfinity(t)));
    rest = b_.CreateSelect(vanished, a, rest);
    return b_.CreateSelect(b_.CreateFCmpOLT(b, number(0)), b_.CreateFNeg(rest), rest);
  }
  default: {
    Value* isSmall = b_.CreateFCmpOLT(a, number(0x1p-900));
    Value* root = scaledWhere(isSmall, nearest, 0x1p100);
    return fma(b_.CreateFNeg(root), root, scaledWhere(isSmall, a, 0x1p200));
  }
  }
}

llvm::Value* ScalarOps::directedByMachine(const ops::DirectedRow& row, Value* a, Value* b) {
  const Instructions instructions = instructionsOf(row.arithmetic);
  const uint32_t mode = modeOf(row.direction);
  const bool isUnary = row.arithmetic == OpKind::Sqrt;
  if (llvm::isa<llvm::FixedVectorType>(a->getType())) {
    if (isUnary) return inWholeRegisters(b_, instructions.all, {a}, mode);
    return inWholeRegisters(b_, instructions.all, {a, b}, mode);
  }
  llvm::Type* pair = llvm::FixedVectorType::get(a->getType(), 2);
  auto first = [&](Value* v) { return b_.CreateInsertElement(llvm::PoisonValue::get(pair), v, uint64_t(0)); };
  Value* x = first(a);
  Value* y = isUnary ? x : first(b);
  Value* r = b_.CreateIntrinsic(instructions.first, {x, y, x, b_.getInt8(1), b_.getInt32(mode)});
  return b_.CreateExtractElement(r, uint64_t(0));
}

} // namespace melix::codegen
