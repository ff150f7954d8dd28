// y·2ⁿ with one rounding: by the instruction of AVX-512 in lanes, else as a product with powers of two that
// are normal numbers, of which only the last rounds.
#include "codegen/scalar_ops.h"
#include "codegen/target.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <numeric>

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
  const bool byMachine = llvm::isa<llvm::FixedVectorType>(t) && machineOf(m_.options.target).scales;
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

/// Registers of 512 bits, and one of less for what is left.
llvm::Value* ScalarOps::scaledByMachine(Value* y, Value* n) {
  using namespace llvm::Intrinsic;
  auto* all = llvm::cast<llvm::FixedVectorType>(y->getType());
  llvm::Type* element = all->getElementType();
  const bool isWide = element->isDoubleTy();
  const unsigned count = all->getNumElements(), width = element->getScalarSizeInBits();
  const unsigned lanes = std::clamp(count * width, 128U, 512U) / width;
  const ID id =
      lanes * width == 512   ? (isWide ? x86_avx512_mask_scalef_pd_512 : x86_avx512_mask_scalef_ps_512)
      : lanes * width == 256 ? (isWide ? x86_avx512_mask_scalef_pd_256 : x86_avx512_mask_scalef_ps_256)
                             : (isWide ? x86_avx512_mask_scalef_pd_128 : x86_avx512_mask_scalef_ps_128);
  std::vector<Value*> parts;
  for (unsigned first = 0; first < count; first += lanes) {
    std::vector<int> places(lanes, llvm::PoisonMaskElem);
    std::iota(places.begin(), places.begin() + std::min(lanes, count), int(first));
    Value *a = b_.CreateShuffleVector(y, places), *b = b_.CreateShuffleVector(n, places);
    std::vector<Value*> operands{a, b, a, b_.getIntN(std::max(8U, lanes), (uint64_t(1) << lanes) - 1)};
    if (lanes * width == 512) operands.push_back(b_.getInt32(4)); // rounds as everything else does
    parts.push_back(b_.CreateIntrinsic(id, operands));
  }
  while (parts.size() > 1) {
    std::vector<int> places(2 * llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements());
    std::iota(places.begin(), places.end(), 0);
    for (size_t k = 0; k < parts.size() / 2; ++k)
      parts[k] = b_.CreateShuffleVector(parts[2 * k], parts[2 * k + 1], places);
    parts.resize(parts.size() / 2);
  }
  if (count >= lanes) return parts[0];
  std::vector<int> places(count);
  std::iota(places.begin(), places.end(), 0);
  return b_.CreateShuffleVector(parts[0], places);
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
