#include "codegen/scalar_ops.h"

#include "codegen/nans.h"
#include "codegen/registers.h"
#include "codegen/target.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>

namespace melix::codegen {

using core::OpKind;
using types::ScalarClass;
using types::TypeKind;

namespace {
bool isSigned(TypeKind kind) { return types::scalarClass(kind) == ScalarClass::SInt; }
bool isFloat(const llvm::Value* v) { return v->getType()->isFPOrFPVectorTy(); }
} // namespace

llvm::Type* ScalarOps::shaped(llvm::Type* scalar, llvm::Type* like) {
  auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return lanes ? llvm::FixedVectorType::get(scalar, lanes->getNumElements()) : scalar;
}

llvm::Type* ScalarOps::typeLike(TypeKind kind, Value* like) {
  return shaped(m_.typeOf(loops::scalarType(kind)), like->getType());
}

llvm::Constant* ScalarOps::constant(const loops::ValueType& type, uint64_t bits) {
  if (type.cls != loops::ClassKind::Scalar) {
    llvm::Constant* word = b_.getInt64(bits);
    return bits ? llvm::ConstantExpr::getIntToPtr(word, m_.ptr()) : llvm::ConstantPointerNull::get(m_.ptr());
  }
  llvm::Type* t = m_.typeOf(type);
  if (type.scalar == TypeKind::Bool) return b_.getInt1(bits != 0);
  if (auto* integer = llvm::dyn_cast<llvm::IntegerType>(t))
    return b_.getInt(llvm::APInt(64, bits).trunc(integer->getBitWidth()));
  llvm::APInt raw = llvm::APInt(64, bits).trunc(types::scalarBits(type.scalar));
  return llvm::ConstantFP::get(m_.context, llvm::APFloat(t->getFltSemantics(), raw));
}

llvm::Value* ScalarOps::apply(const loops::ScalarAttr& attr, std::span<Value* const> operands, TypeKind to) {
  Value* a = operands[0];
  Value* b = operands.size() > 1 ? operands[1] : nullptr;
  Value* c = operands.size() > 2 ? operands[2] : nullptr;
  switch (attr.op) {
  case OpKind::Neg: return isFloat(a) ? b_.CreateFNeg(a) : b_.CreateNeg(a);
  case OpKind::Not: return b_.CreateNot(a);
  case OpKind::Sqrt: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
  case OpKind::Abs:
    if (isFloat(a)) return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    return isSigned(attr.from) ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getInt1(false)) : a;
  case OpKind::Round: return round(a, attr.index);
  case OpKind::Fma: return fma(a, b, c);
  case OpKind::CopySign: // the sign of a NaN counts as positive
    if (!isNanWith(a, b)) b = b_.CreateSelect(isNan(b), llvm::ConstantFP::get(b->getType(), 0.0), b);
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, b);
  case OpKind::Scale: return scale(a, b, static_cast<ops::ScaleRange>(attr.index));
  case OpKind::Directed: return directed(static_cast<ops::DirectedKind>(attr.index), a, b);
  case OpKind::Select: return b_.CreateSelect(a, b, c);
  case OpKind::Cmp: return compare(static_cast<ops::CmpKind>(attr.index), a, b, attr.from);
  case OpKind::Convert: return convert(a, attr.from, to, static_cast<ops::ConvertMode>(attr.index));
  case OpKind::Bitcast:
    if (types::isFloatKind(to)) a = withNansAsTheyAre(a, b_);
    return bitsOf(a, typeLike(to, a));
  default: return binary(attr.op, a, b, attr.from);
  }
}

llvm::Value* ScalarOps::round(Value* a, uint32_t mode) {
  static constexpr llvm::Intrinsic::ID modes[] = {llvm::Intrinsic::floor, llvm::Intrinsic::ceil,
                                                  llvm::Intrinsic::trunc, llvm::Intrinsic::roundeven};
  return isFloat(a) ? b_.CreateUnaryIntrinsic(modes[mode], a) : a;
}

bool ScalarOps::isByMachine(const llvm::Type* t) const {
  return llvm::isa<llvm::FixedVectorType>(t) && t->getScalarSizeInBits() >= 32 &&
         machineOf(m_.options.target).scales;
}

/// Narrow floats: one fma in f32, then one rounding.
llvm::Value* ScalarOps::fma(Value* a, Value* b, Value* c) {
  llvm::Type* t = a->getType();
  llvm::Type* wide = t->getScalarSizeInBits() < 32 ? shaped(b_.getFloatTy(), t) : t;
  auto widen = [&](Value* v) { return wide == t ? v : extend(v, wide); };
  Value* r = b_.CreateIntrinsic(wide, llvm::Intrinsic::fma, {widen(a), widen(b), widen(c)});
  return wide == t ? r : b_.CreateFPTrunc(r, t);
}

/// Those of NaN are chosen among integers: between floats LLVM takes one NaN for another.
llvm::Value* ScalarOps::bitsOf(llvm::Value* v, llvm::Type* type) {
  llvm::Value* bits = b_.CreateBitCast(v, type);
  if (!isFloat(v)) return bits;
  llvm::Constant* nan = llvm::ConstantFP::getNaN(v->getType());
  return b_.CreateSelect(isNan(v), llvm::ConstantExpr::getBitCast(nan, type), bits);
}

llvm::Value* ScalarOps::binary(OpKind op, llvm::Value* a, llvm::Value* b, TypeKind kind) {
  auto count = [&] {
    return b_.CreateAnd(b, llvm::ConstantInt::get(b->getType(), types::scalarBits(kind) - 1));
  };
  switch (op) {
  case OpKind::Add: return isFloat(a) ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
  case OpKind::Sub: return isFloat(a) ? b_.CreateFSub(a, b) : b_.CreateSub(a, b);
  case OpKind::Mul: return isFloat(a) ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
  case OpKind::Div: return b_.CreateFDiv(a, b);
  case OpKind::Min: return minMax(true, a, b, kind);
  case OpKind::Max: return minMax(false, a, b, kind);
  case OpKind::IDiv: return floorDivide(a, b, kind, false);
  case OpKind::IRem: return floorDivide(a, b, kind, true);
  case OpKind::And: return b_.CreateAnd(a, b);
  case OpKind::Or: return b_.CreateOr(a, b);
  case OpKind::Xor: return b_.CreateXor(a, b);
  case OpKind::Shl: return b_.CreateShl(a, count());
  case OpKind::Shr: return isSigned(kind) ? b_.CreateAShr(a, count()) : b_.CreateLShr(a, count());
  default: return llvm::PoisonValue::get(a->getType());
  }
}

/// Floor division. The divisor was checked, but code may stand before its check: nothing here traps; a
/// quotient by zero is 0.
llvm::Value* ScalarOps::floorDivide(llvm::Value* a, llvm::Value* b, TypeKind kind, bool remainder) {
  llvm::Type* t = a->getType();
  llvm::Value *zero = llvm::ConstantInt::get(t, 0), *one = llvm::ConstantInt::get(t, 1);
  llvm::Value* byZero = b_.CreateICmpEQ(b, zero);
  if (!isSigned(kind)) {
    llvm::Value* safe = b_.CreateSelect(byZero, one, b);
    return b_.CreateSelect(byZero, zero, remainder ? b_.CreateURem(a, safe) : b_.CreateUDiv(a, safe));
  }
  llvm::Value* byMinusOne = b_.CreateICmpEQ(b, llvm::ConstantInt::getAllOnesValue(t));
  llvm::Value* safe = b_.CreateSelect(b_.CreateOr(byZero, byMinusOne), one, b);
  llvm::Value* r = b_.CreateSRem(a, safe);
  // The remainder of the machine has the sign of a; the floor's has that of b.
  llvm::Value* off = b_.CreateAnd(b_.CreateICmpNE(r, zero), b_.CreateICmpSLT(b_.CreateXor(r, safe), zero));
  // By the safe 1 the remainder is 0, which is right for -1 too; by zero it is defined as 0.
  if (remainder) return b_.CreateSelect(off, b_.CreateAdd(r, safe), r);
  llvm::Value* q = b_.CreateSub(b_.CreateSDiv(a, safe), b_.CreateZExt(off, t));
  return b_.CreateSelect(byZero, zero, b_.CreateSelect(byMinusOne, b_.CreateNeg(a), q));
}

/// NaN propagates; of two zeros +0 is the greater.
llvm::Value* ScalarOps::minMax(bool min, llvm::Value* a, llvm::Value* b, TypeKind kind) {
  if (!isFloat(a)) {
    llvm::CmpInst::Predicate p = isSigned(kind) ? (min ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_SGT)
                                                : (min ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_UGT);
    return b_.CreateSelect(b_.CreateICmp(p, b, a), b, a);
  }
  // What a loop carries would wait for the test of both for NaN.
  const bool isCarried = llvm::isa<llvm::PHINode>(a) || llvm::isa<llvm::PHINode>(b);
  if (!isCarried && isByMachine(a->getType())) {
    using namespace llvm::Intrinsic;
    static constexpr RegisterOps singles{x86_avx512_mask_range_ps_128, x86_avx512_mask_range_ps_256,
                                         x86_avx512_mask_range_ps_512};
    static constexpr RegisterOps doubles{x86_avx512_mask_range_pd_128, x86_avx512_mask_range_pd_256,
                                         x86_avx512_mask_range_pd_512};
    // The lesser or greater of two with its own sign; of one NaN, the other.
    llvm::Value* r = inRegisters(b_, a->getType()->getScalarType()->isDoubleTy() ? doubles : singles, {a, b},
                                 min ? 0b0100 : 0b0101);
    return b_.CreateSelect(b_.CreateFCmpUNO(a, b), llvm::ConstantFP::getNaN(a->getType()), r);
  }
  // The second where it is beyond the first, or NaN, or of two zeros the one that is +0, for min -0. What
  // asks for that zero knows the second alone: a reduction does not wait for it.
  llvm::Type* t = a->getType();
  llvm::Value* zero = llvm::ConstantFP::get(t, 0.0);
  const unsigned width = t->getScalarSizeInBits();
  llvm::Type* bits = shaped(b_.getIntNTy(width), t);
  llvm::Constant* wanted =
      llvm::ConstantInt::get(bits, min ? llvm::APInt::getSignMask(width) : llvm::APInt(width, 0));
  llvm::Value* isZero = b_.CreateICmpEQ(b_.CreateBitCast(b, bits), wanted);
  llvm::Value* beyond = min ? b_.CreateFCmpOLT(b, a) : b_.CreateFCmpOGT(b, a);
  llvm::Value* tie = b_.CreateAnd(isZero, b_.CreateFCmpOEQ(a, zero));
  return b_.CreateSelect(b_.CreateOr(beyond, b_.CreateOr(isNan(b), tie)), b, a);
}

llvm::Value* ScalarOps::compare(ops::CmpKind how, llvm::Value* a, llvm::Value* b, TypeKind kind) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P floats[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                                 P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  static constexpr P sints[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P uints[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  auto k = static_cast<size_t>(how);
  if (isFloat(a)) return b_.CreateFCmp(floats[k], a, b);
  return b_.CreateICmp(isSigned(kind) ? sints[k] : uints[k], a, b);
}

// --- conversions
// ------------------------------------------------------------------------------------------------------

llvm::Value* ScalarOps::convert(Value* v, TypeKind from, TypeKind to, ops::ConvertMode mode) {
  if (from == to) return v;
  if (isFloat(v)) return fromFloat(v, to);
  llvm::Type *source = v->getType(), *target = typeLike(to, v);
  if (target->isFPOrFPVectorTy()) {
    const bool narrow = target->getScalarSizeInBits() < 32;
    llvm::Type* through = narrow ? shaped(b_.getFloatTy(), source) : target;
    Value* f = isSigned(from) ? b_.CreateSIToFP(v, through) : b_.CreateUIToFP(v, through);
    return narrow ? truncate(f, target) : f;
  }
  if (to == TypeKind::Bool) return b_.CreateICmpNE(v, llvm::ConstantInt::get(source, 0));
  if (mode == ops::ConvertMode::Saturate && from != TypeKind::Bool) v = saturateInt(v, from, to);
  return isSigned(from) ? b_.CreateSExtOrTrunc(v, target) : b_.CreateZExtOrTrunc(v, target);
}

/// To a wider float. The bits of a bf16 are the upper half of an f32's: where a processor has no registers of
/// bf16, LLVM would put them together one by one.
llvm::Value* ScalarOps::extend(Value* v, llvm::Type* to) {
  llvm::Type* from = v->getType();
  if (!from->getScalarType()->isBFloatTy()) return b_.CreateFPExt(v, to);
  llvm::Type* word = shaped(b_.getInt32Ty(), from);
  Value* bits = b_.CreateZExt(b_.CreateBitCast(v, shaped(b_.getInt16Ty(), from)), word);
  Value* single = b_.CreateBitCast(b_.CreateShl(bits, 16), shaped(b_.getFloatTy(), from));
  return single->getType() == to ? single : b_.CreateFPExt(single, to);
}

/// To a narrower float. An f32 to bf16, which LLVM takes one by one: what is cut off of its bits rounds the
/// others to nearest, ties to even; a NaN stays one whatever is cut off.
llvm::Value* ScalarOps::truncate(Value* v, llvm::Type* to) {
  if (!to->getScalarType()->isBFloatTy() || !v->getType()->getScalarType()->isFloatTy())
    return b_.CreateFPTrunc(v, to);
  llvm::Type* word = shaped(b_.getInt32Ty(), to);
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(word, n); };
  Value* bits = b_.CreateBitCast(v, word);
  Value* last = b_.CreateAnd(b_.CreateLShr(bits, number(16)), number(1)); // of the bits that stay
  Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(last, number(0x7fff)));
  Value* nan = b_.CreateOr(bits, number(0x00400000));
  Value* chosen = b_.CreateSelect(isNan(v), nan, rounded);
  Value* upper = b_.CreateTrunc(b_.CreateLShr(chosen, number(16)), shaped(b_.getInt16Ty(), to));
  return b_.CreateBitCast(upper, to);
}

llvm::Value* ScalarOps::fromFloat(Value* v, TypeKind to) {
  llvm::Type *source = v->getType(), *target = typeLike(to, v);
  llvm::Type* single = shaped(b_.getFloatTy(), source);
  if (target->isFPOrFPVectorTy()) {
    // Between f16 and bf16: by way of f32.
    const unsigned a = source->getScalarSizeInBits(), b = target->getScalarSizeInBits();
    if (a == b) return truncate(extend(v, single), target);
    return a < b ? extend(v, target) : truncate(v, target);
  }
  if (to == TypeKind::Bool) return b_.CreateFCmpUNE(v, llvm::ConstantFP::get(source, 0.0));
  // From f32: LLVM's direct conversion of a half saturates wrongly where the processor has halves.
  if (source->getScalarSizeInBits() < 32) v = extend(v, single);
  if (types::scalarBits(to) < 32) return saturateFloat(v, to);
  return b_.CreateIntrinsic(isSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                            {target, v->getType()}, {v});
}

/// To an integer of 8 or 16 bits, whose bounds are floats: LLVM takes such lanes one by one.
llvm::Value* ScalarOps::saturateFloat(Value* v, TypeKind to) {
  const unsigned bits = types::scalarBits(to);
  const double low = isSigned(to) ? -std::ldexp(1.0, static_cast<int>(bits) - 1) : 0;
  const double high = std::ldexp(1.0, static_cast<int>(bits - isSigned(to))) - 1;
  auto number = [&](double x) { return llvm::ConstantFP::get(v->getType(), x); };
  Value* above = b_.CreateSelect(b_.CreateFCmpOGT(v, number(low)), v, number(low)); // NaN too is `low`
  Value* held = b_.CreateSelect(b_.CreateFCmpOLT(above, number(high)), above, number(high));
  Value* known = b_.CreateSelect(isNan(v), number(0), held);
  return b_.CreateTrunc(b_.CreateFPToSI(known, shaped(b_.getInt32Ty(), v->getType())), typeLike(to, v));
}

/// What can be seen of it in the type `to`: a bound that a value of `from` may pass is one of its values.
llvm::Value* ScalarOps::saturateInt(Value* v, TypeKind from, TypeKind to) {
  const unsigned bits = types::scalarBits(to), fromBits = types::scalarBits(from);
  const bool lowFits = !isSigned(from) || (isSigned(to) && bits >= fromBits);
  const bool highFits = isSigned(from) == isSigned(to) ? bits >= fromBits
                        : isSigned(to)                 ? bits > fromBits
                                                       : bits + 1 >= fromBits;
  auto bound = [&](const llvm::APInt& x) { return llvm::ConstantInt::get(v->getType(), x); };
  if (!lowFits) {
    Value* low =
        bound(isSigned(to) ? llvm::APInt::getSignedMinValue(bits).sext(fromBits) : llvm::APInt(fromBits, 0));
    v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, low);
  }
  if (highFits) return v;
  Value* high = bound(
      (isSigned(to) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits)).zext(fromBits));
  return b_.CreateBinaryIntrinsic(isSigned(from) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, v, high);
}

} // namespace melix::codegen
