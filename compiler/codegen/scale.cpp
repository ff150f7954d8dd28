// y·2ⁿ with one rounding: by the instruction of AVX-512 in lanes, else as a product with powers of two that
// are normal numbers, of which only the last rounds.
#include "codegen/registers.h"
#include "codegen/scalar_ops.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace melix::codegen {

namespace {

/// What is known of a format of floats.
struct Format {
  explicit Format(llvm::Type* t) : isWide(t->getScalarSizeInBits() == 64) {}

  bool isWide;
  unsigned mantissa() const { return isWide ? 52 : 23; }
  int64_t bias() const { return isWide ? 1023 : 127; }
  /// To this size, 2 to the power of it is more than any ratio of two numbers.
  double mostExponent() const { return isWide ? 2200 : 300; }
  /// Neighbours of it differ by 1: what is added to it stands in its low bits.
  double holder() const { return isWide ? 0x1.8p52 : 0x1.8p23; }
  uint64_t holderBits() const { return isWide ? 0x4338000000000000 : 0x4b400000; }
};

} // namespace

llvm::Value* ScalarOps::scale(Value* y, Value* n, ops::ScaleRange range) {
  llvm::Type* t = y->getType();
  if (t->getScalarSizeInBits() < 32) {
    llvm::Type* single = shaped(b_.getFloatTy(), t);
    return b_.CreateFPTrunc(scale(b_.CreateFPExt(y, single), b_.CreateFPExt(n, single), range), t);
  }
  const bool byMachine = isByMachine(t);
  if (range == ops::ScaleRange::Near) return byMachine ? scaledByMachine(y, n) : scaledNear(y, n);
  auto number = [&](double v) { return llvm::ConstantFP::get(t, v); };
  const double most = Format(t).mostExponent();
  Value* whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, n);
  whole = b_.CreateSelect(b_.CreateFCmpOLT(whole, number(-most)), number(-most), whole);
  whole = b_.CreateSelect(b_.CreateFCmpOGT(whole, number(most)), number(most), whole);
  Value* scaled = byMachine ? scaledByMachine(y, whole) : scaledByFactors(y, wholeBits(whole));
  return b_.CreateSelect(isNan(n), llvm::ConstantFP::getNaN(t), scaled);
}

/// A whole number, not too large, as an integer as wide; anything of NaN.
llvm::Value* ScalarOps::wholeBits(Value* n) {
  const Format format(n->getType());
  llvm::Type* bits = shaped(b_.getIntNTy(n->getType()->getScalarSizeInBits()), n->getType());
  Value* held = b_.CreateFAdd(n, llvm::ConstantFP::get(n->getType(), format.holder()));
  return b_.CreateSub(b_.CreateBitCast(held, bits), llvm::ConstantInt::get(bits, format.holderBits()));
}

llvm::Value* ScalarOps::scaledByMachine(Value* y, Value* n) {
  using namespace llvm::Intrinsic;
  static constexpr RegisterOps singles{x86_avx512_mask_scalef_ps_128, x86_avx512_mask_scalef_ps_256,
                                       x86_avx512_mask_scalef_ps_512};
  static constexpr RegisterOps doubles{x86_avx512_mask_scalef_pd_128, x86_avx512_mask_scalef_pd_256,
                                       x86_avx512_mask_scalef_pd_512};
  return inRegisters(b_, y->getType()->getScalarType()->isDoubleTy() ? doubles : singles, {y, n}, {});
}

/// Two factors, made of the bits that hold n and twice the bias.
llvm::Value* ScalarOps::scaledNear(Value* y, Value* n) {
  llvm::Type* t = y->getType();
  const Format format(t);
  llvm::Type* bits = shaped(b_.getIntNTy(t->getScalarSizeInBits()), t);
  Value* held = b_.CreateFAdd(n, llvm::ConstantFP::get(t, format.holder() + double(2 * format.bias())));
  Value* exponent = b_.CreateBitCast(held, bits);
  auto shifted = [&](unsigned by) { return b_.CreateShl(exponent, llvm::ConstantInt::get(bits, by)); };
  const auto low = static_cast<int64_t>((uint64_t(1) << format.mantissa()) - 1);
  Value* half = b_.CreateAnd(shifted(format.mantissa() - 1), llvm::ConstantInt::getSigned(bits, ~low));
  Value* rest = b_.CreateSub(shifted(format.mantissa()), half);
  return b_.CreateFMul(b_.CreateFMul(y, b_.CreateBitCast(half, t)), b_.CreateBitCast(rest, t));
}

/// Three factors. Where more than one makes it smaller, what is left to the others takes all bits of what the
/// first might have rounded: the result is 0 then.
llvm::Value* ScalarOps::scaledByFactors(Value* y, Value* exponent) {
  llvm::Type* t = y->getType();
  const Format format(t);
  llvm::Type* bits = exponent->getType();
  auto number = [&](int64_t v) { return llvm::ConstantInt::getSigned(bits, v); };
  const int64_t most = format.bias(), least = 1 - most;
  for (int k = 0; k < 3; ++k) {
    Value* high = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, exponent, number(most));
    Value* part = b_.CreateSelect(b_.CreateICmpSLT(exponent, number(least)),
                                  number(least + int64_t(format.mantissa()) + 1), high);
    Value* power = b_.CreateShl(b_.CreateAdd(part, number(most)), number(format.mantissa()));
    y = b_.CreateFMul(y, b_.CreateBitCast(power, t));
    exponent = b_.CreateSub(exponent, part);
  }
  return y;
}

} // namespace melix::codegen
