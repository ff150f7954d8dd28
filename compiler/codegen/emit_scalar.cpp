// Scalars. Integers wrap; floats follow IEEE without any fast-math flag; a NaN shows no sign or payload.
#include "codegen/function_emitter.h"

#include <llvm/IR/Intrinsics.h>

namespace melix::codegen {

using core::OpKind;
using types::ScalarClass;
using types::TypeKind;

namespace {
bool isSigned(TypeKind kind) { return types::scalarClass(kind) == ScalarClass::SInt; }
} // namespace

void FunctionEmitter::emitConst(const Stmt& s) {
  loops::ValueType type = fn_.typeOf(s.results[0]);
  uint64_t bits = s.as<uint64_t>();
  if (type.cls != loops::ClassKind::Scalar) {
    llvm::Constant* word = b_.getInt64(bits);
    return setResult(s, bits ? llvm::ConstantExpr::getIntToPtr(word, m_.ptr())
                             : llvm::ConstantPointerNull::get(m_.ptr()));
  }
  llvm::Type* t = m_.typeOf(type);
  if (type.scalar == TypeKind::Bool) return setResult(s, b_.getInt1(bits != 0));
  if (auto* integer = llvm::dyn_cast<llvm::IntegerType>(t)) {
    unsigned width = integer->getBitWidth();
    return setResult(s, b_.getInt(llvm::APInt(64, bits).trunc(width)));
  }
  llvm::APInt raw = llvm::APInt(64, bits).trunc(types::scalarBits(type.scalar));
  setResult(s, llvm::ConstantFP::get(m_.context, llvm::APFloat(t->getFltSemantics(), raw)));
}

void FunctionEmitter::emitScalar(const Stmt& s) {
  const auto& attr = s.as<loops::ScalarAttr>();
  llvm::Value* a = value(s.operands[0]);
  llvm::Value* b = s.operands.size() > 1 ? value(s.operands[1]) : nullptr;
  llvm::Value* c = s.operands.size() > 2 ? value(s.operands[2]) : nullptr;
  llvm::Type* t = a->getType();
  bool isFloat = t->isFloatingPointTy();
  auto unary = [&](llvm::Intrinsic::ID id) { return b_.CreateUnaryIntrinsic(id, a); };
  llvm::Value* r = nullptr;
  switch (attr.op) {
  case OpKind::Neg: r = isFloat ? b_.CreateFNeg(a) : b_.CreateNeg(a); break;
  case OpKind::Not: r = b_.CreateNot(a); break;
  case OpKind::Sqrt: r = unary(llvm::Intrinsic::sqrt); break;
  case OpKind::Abs:
    if (isFloat)
      r = unary(llvm::Intrinsic::fabs);
    else if (!isSigned(attr.from))
      r = a;
    else
      r = b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getInt1(false));
    break;
  case OpKind::Round: {
    static constexpr llvm::Intrinsic::ID modes[] = {llvm::Intrinsic::floor, llvm::Intrinsic::ceil,
                                                    llvm::Intrinsic::trunc, llvm::Intrinsic::roundeven};
    r = isFloat ? unary(modes[attr.index]) : a;
    break;
  }
  case OpKind::Fma: {
    // Narrow floats: one fma in f32, then one rounding.
    llvm::Type* wide = t->getScalarSizeInBits() < 32 ? b_.getFloatTy() : t;
    auto widen = [&](llvm::Value* v) { return wide == t ? v : b_.CreateFPExt(v, wide); };
    r = b_.CreateIntrinsic(wide, llvm::Intrinsic::fma, {widen(a), widen(b), widen(c)});
    if (wide != t) r = b_.CreateFPTrunc(r, t);
    break;
  }
  case OpKind::CopySign:
    // The sign of a NaN counts as positive.
    b = b_.CreateSelect(isNan(b), llvm::ConstantFP::get(t, 0.0), b);
    r = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, b);
    break;
  case OpKind::Select: r = b_.CreateSelect(a, b, c); break;
  case OpKind::Cmp: r = compare(static_cast<ops::CmpKind>(attr.index), a, b, attr.from); break;
  case OpKind::Convert:
    r = convert(a, attr.from, fn_.typeOf(s.results[0]).scalar, static_cast<ops::ConvertMode>(attr.index));
    break;
  case OpKind::Bitcast: r = b_.CreateBitCast(withoutNanBits(a), m_.typeOf(fn_.typeOf(s.results[0]))); break;
  default: r = binary(attr.op, a, b, attr.from);
  }
  setResult(s, r);
}

llvm::Value* FunctionEmitter::withoutNanBits(llvm::Value* v) {
  if (!v->getType()->isFloatingPointTy()) return v;
  return b_.CreateSelect(isNan(v), llvm::ConstantFP::getNaN(v->getType()), v);
}

llvm::Value* FunctionEmitter::binary(OpKind op, llvm::Value* a, llvm::Value* b, TypeKind kind) {
  bool isFloat = a->getType()->isFloatingPointTy();
  auto count = [&] {
    return b_.CreateAnd(b, llvm::ConstantInt::get(b->getType(), types::scalarBits(kind) - 1));
  };
  switch (op) {
  case OpKind::Add: return isFloat ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
  case OpKind::Sub: return isFloat ? b_.CreateFSub(a, b) : b_.CreateSub(a, b);
  case OpKind::Mul: return isFloat ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
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

/// Floor division. The divisor was checked, but code may stand in front of its check: nothing here traps; a
/// quotient by zero is 0.
llvm::Value* FunctionEmitter::floorDivide(llvm::Value* a, llvm::Value* b, TypeKind kind, bool remainder) {
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

/// NaN propagates; a tie follows the first operand.
llvm::Value* FunctionEmitter::minMax(bool min, llvm::Value* a, llvm::Value* b, TypeKind kind) {
  if (!a->getType()->isFloatingPointTy()) {
    llvm::CmpInst::Predicate p = isSigned(kind) ? (min ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_SGT)
                                                : (min ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_UGT);
    return b_.CreateSelect(b_.CreateICmp(p, b, a), b, a);
  }
  // The second where it is beyond the first, or NaN, or of two zeros the one that is +0, for min -0. What
  // asks for that zero knows the second alone: a reduction does not wait for it.
  llvm::Type* t = a->getType();
  llvm::Value* zero = llvm::ConstantFP::get(t, 0.0);
  llvm::Type* bits = b_.getIntNTy(t->getScalarSizeInBits());
  llvm::Constant* wanted =
      llvm::ConstantInt::get(bits, min ? llvm::APInt::getSignMask(bits->getIntegerBitWidth())
                                       : llvm::APInt(bits->getIntegerBitWidth(), 0));
  llvm::Value* isZero = b_.CreateICmpEQ(b_.CreateBitCast(b, bits), wanted);
  llvm::Value* beyond = min ? b_.CreateFCmpOLT(b, a) : b_.CreateFCmpOGT(b, a);
  llvm::Value* tie = b_.CreateAnd(isZero, b_.CreateFCmpOEQ(a, zero));
  return b_.CreateSelect(b_.CreateOr(beyond, b_.CreateOr(isNan(b), tie)), b, a);
}

llvm::Value* FunctionEmitter::compare(ops::CmpKind how, llvm::Value* a, llvm::Value* b, TypeKind kind) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P floats[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                                 P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  static constexpr P sints[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P uints[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  auto k = static_cast<size_t>(how);
  if (a->getType()->isFloatingPointTy()) return b_.CreateFCmp(floats[k], a, b);
  return b_.CreateICmp(isSigned(kind) ? sints[k] : uints[k], a, b);
}

// --- conversions
// ------------------------------------------------------------------------------------------------------

llvm::Value* FunctionEmitter::convert(llvm::Value* v, TypeKind from, TypeKind to, ops::ConvertMode mode) {
  llvm::Type* target = m_.typeOf(loops::scalarType(to));
  llvm::Type* source = v->getType();
  if (from == to) return v;
  if (source->isFloatingPointTy()) {
    if (target->isFloatingPointTy()) {
      // Between f16 and bf16: by way of f32.
      unsigned a = source->getScalarSizeInBits(), b = target->getScalarSizeInBits();
      if (a == b) return b_.CreateFPTrunc(b_.CreateFPExt(v, b_.getFloatTy()), target);
      return a < b ? b_.CreateFPExt(v, target) : b_.CreateFPTrunc(v, target);
    }
    if (to == TypeKind::Bool) return b_.CreateFCmpUNE(v, llvm::ConstantFP::get(source, 0.0));
    // From f32: LLVM's direct conversion of a half saturates wrongly where the processor has halves.
    if (source->getScalarSizeInBits() < 32) {
      v = b_.CreateFPExt(v, b_.getFloatTy());
      source = b_.getFloatTy();
    }
    return b_.CreateIntrinsic(isSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                              {target, source}, {v});
  }
  if (target->isFloatingPointTy()) {
    bool narrow = target->getScalarSizeInBits() < 32;
    llvm::Type* through = narrow ? b_.getFloatTy() : target;
    llvm::Value* f = isSigned(from) ? b_.CreateSIToFP(v, through) : b_.CreateUIToFP(v, through);
    return narrow ? b_.CreateFPTrunc(f, target) : f;
  }
  if (to == TypeKind::Bool) return b_.CreateICmpNE(v, llvm::ConstantInt::get(source, 0));
  if (mode == ops::ConvertMode::Saturate && from != TypeKind::Bool) return saturateInt(v, from, to);
  return isSigned(from) ? b_.CreateSExtOrTrunc(v, target) : b_.CreateZExtOrTrunc(v, target);
}

llvm::Value* FunctionEmitter::saturateInt(llvm::Value* v, TypeKind from, TypeKind to) {
  // In 65 bits and more every value of both types is exact.
  unsigned bits = types::scalarBits(to);
  auto* wide = llvm::IntegerType::get(m_.context, 72);
  llvm::APInt low = isSigned(to) ? llvm::APInt::getSignedMinValue(bits).sext(72) : llvm::APInt(72, 0);
  llvm::APInt high =
      isSigned(to) ? llvm::APInt::getSignedMaxValue(bits).sext(72) : llvm::APInt::getMaxValue(bits).zext(72);
  unsigned fromBits = types::scalarBits(from);
  bool lowFits = !isSigned(from) || (isSigned(to) && bits >= fromBits);
  bool highFits = isSigned(from) == isSigned(to) ? bits >= fromBits
                  : isSigned(to)                 ? bits > fromBits
                                                 : bits + 1 >= fromBits;
  llvm::Type* target = m_.typeOf(loops::scalarType(to));
  if (lowFits && highFits)
    return isSigned(from) ? b_.CreateSExtOrTrunc(v, target) : b_.CreateZExtOrTrunc(v, target);
  llvm::Value* x = isSigned(from) ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide);
  llvm::Value *lowest = b_.getInt(low), *highest = b_.getInt(high);
  x = b_.CreateSelect(b_.CreateICmpSLT(x, lowest), lowest, x);
  x = b_.CreateSelect(b_.CreateICmpSGT(x, highest), highest, x);
  return b_.CreateTrunc(x, target);
}

} // namespace melix::codegen
