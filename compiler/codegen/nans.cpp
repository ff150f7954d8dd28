#include "codegen/nans.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/KnownBits.h>

#include <unordered_map>

namespace melix::codegen {

namespace {

class Reader {
public:
  explicit Reader(const llvm::Value* x) : x_(x) {}

  bool isNan(const llvm::Value* v) {
    if (v == x_) return true;
    const auto* op = llvm::dyn_cast<llvm::Instruction>(v);
    if (!op) return false;
    const auto [found, isNew] = known_.try_emplace(op, false);
    if (!isNew || known_.size() > mostOps) return found->second;
    const bool is = read(*op);
    known_[op] = is;
    return is;
  }

private:
  static constexpr size_t mostOps = 128;

  bool any(const llvm::Instruction& op, unsigned count) {
    for (unsigned k = 0; k < count; ++k)
      if (isNan(op.getOperand(k))) return true;
    return false;
  }
  bool read(const llvm::Instruction& op) {
    switch (op.getOpcode()) {
    case llvm::Instruction::FNeg:
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc: return any(op, 1);
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv: return any(op, 2);
    case llvm::Instruction::Select: return selection(op);
    case llvm::Instruction::Call: return call(op);
    default: return false;
    }
  }
  /// A comparison of NaN chooses a side.
  bool selection(const llvm::Instruction& op) {
    const auto* how = llvm::dyn_cast<llvm::FCmpInst>(op.getOperand(0));
    if (how && (isNan(how->getOperand(0)) || isNan(how->getOperand(1))))
      return isNan(op.getOperand(llvm::CmpInst::isUnordered(how->getPredicate()) ? 1 : 2));
    return isNan(op.getOperand(1)) && isNan(op.getOperand(2));
  }
  bool call(const llvm::Instruction& op) {
    const auto* known = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    if (!known) return false;
    switch (known->getIntrinsicID()) {
    case llvm::Intrinsic::fma: return any(op, 3);
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::roundeven:
    case llvm::Intrinsic::copysign: return any(op, 1);
    default: return false;
    }
  }

  const llvm::Value* x_;
  std::unordered_map<const llvm::Value*, bool> known_;
};

/// The float whose bits these are, as it was before its NaN was replaced.
llvm::Value* floatOf(llvm::Value* bits) {
  auto* choice = llvm::dyn_cast<llvm::SelectInst>(bits);
  auto* test = choice ? llvm::dyn_cast<llvm::FCmpInst>(choice->getCondition()) : nullptr;
  auto* cast = llvm::dyn_cast<llvm::BitCastInst>(test ? choice->getFalseValue() : bits);
  if (!cast || !cast->getOperand(0)->getType()->isFPOrFPVectorTy()) return nullptr;
  llvm::Value* number = cast->getOperand(0);
  if (!test) return number;
  const bool isOfNan = test->getPredicate() == llvm::FCmpInst::FCMP_UNO && test->getOperand(0) == number &&
                       test->getOperand(1) == number;
  const llvm::APInt* chosen = nullptr;
  if (!isOfNan || !llvm::PatternMatch::match(choice->getTrueValue(), llvm::PatternMatch::m_APInt(chosen)))
    return nullptr;
  const llvm::APFloat made(number->getType()->getScalarType()->getFltSemantics(), *chosen);
  return made.isNaN() ? number : nullptr;
}

/// Whether bits under zeros of the other operand stay, but for the uppermost.
bool keepsUnderZeros(unsigned opcode) {
  using I = llvm::Instruction;
  return opcode == I::Xor || opcode == I::Or || opcode == I::Add;
}

} // namespace

bool isNanWith(const llvm::Value* v, const llvm::Value* x) { return Reader(x).isNan(v); }

llvm::Value* withNansAsTheyAre(llvm::Value* bits, llvm::IRBuilder<>& builder) {
  auto* op = llvm::dyn_cast<llvm::BinaryOperator>(bits);
  if (!op) return bits;
  const bool keepsZeros = keepsUnderZeros(op->getOpcode());
  if (!keepsZeros && op->getOpcode() != llvm::Instruction::And) return bits;
  for (unsigned side : {0U, 1U}) {
    llvm::Value *number = floatOf(op->getOperand(side)), *with = op->getOperand(1 - side);
    if (!number) continue;
    const llvm::KnownBits known = llvm::computeKnownBits(with, op->getModule()->getDataLayout());
    const llvm::APInt& kept = keepsZeros ? known.Zero : known.One;
    if ((kept | llvm::APInt::getSignMask(kept.getBitWidth())).isAllOnes())
      return builder.CreateBinOp(op->getOpcode(), builder.CreateBitCast(number, bits->getType()), with);
  }
  return bits;
}

} // namespace melix::codegen
