// Totals of a loop around another one, as those of the blocks of a long sum. Vectors that a loop carries
// while one inside of it fills the registers would be written to memory before that, and read after it.
// Most sums have one block only: the first iteration's terms are the totals, and nothing is kept.
#include "codegen/lane_emitter.h"

#include "codegen/debug_info.h"
#include "loops/ir/build.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <unordered_map>

namespace melix::codegen {

using core::OpKind;
using loops::StmtKind;

/// What makes each value that a loop carries, if all of them are totals: sums of floats to each of which a
/// iteration adds one term, that begin with the same value in all lanes, and that nothing else in the loop
/// uses; and only if they are too many for the registers beside those of a loop inside.
std::vector<LaneEmitter::Total> LaneEmitter::totalsOf(const Stmt& s) const {
  constexpr uint32_t share = 4; // of the registers
  const loops::RegionId body = s.regions[0];
  const ValueIds& params = fn_.regions[body].params;
  const ValueIds& next = fn_.stmts[fn_.regions[body].stmts.back()].operands;
  const loops::Machine& machine = machineOf(m_.options.target);
  const bool holdsLoop = std::ranges::any_of(fn_.regions[body].stmts, [&](loops::StmtId id) {
    return fn_.stmts[id].kind == StmtKind::For && !fn_.stmts[id].results.empty();
  });
  if (!holdsLoop || !isUniform(s.operands[1])) return {};
  std::unordered_map<ValueId, unsigned> uses;
  loops::forEachUse(fn_, body, [&](ValueId v) { ++uses[v]; });
  std::vector<Total> out;
  uint32_t bits = 0;
  for (size_t k = 0; k < next.size(); ++k) {
    const loops::StmtId id = fn_.values[next[k]].def;
    const ValueId carried = params[k + 1];
    if (isUniform(carried) || !isUniform(s.operands[k + 2]) || !id.valid() || uses[carried] != 1 ||
        uses[next[k]] != 1)
      return {};
    const Stmt& sum = fn_.stmts[id];
    if (sum.kind != StmtKind::Scalar) return {};
    const auto& attr = sum.as<loops::ScalarAttr>();
    const auto place = std::ranges::find(sum.operands, carried);
    if (attr.op != OpKind::Add || !types::isFloatKind(attr.from) || place == sum.operands.end()) return {};
    out.push_back({id, sum.operands[place == sum.operands.begin() ? 1 : 0]});
    bits += lanes_ * types::scalarBits(attr.from);
  }
  return bits >= machine.registers / share * machine.vectorBits ? out : std::vector<Total>();
}

/// Whether all totals begin with a negative zero, to which a term is added as it is.
llvm::Value* LaneEmitter::beginWithNothing(const Stmt& s) {
  Value* all = b_.getTrue();
  std::vector<ValueId> seen;
  for (ValueId v : std::span(s.operands).subspan(2)) {
    if (std::ranges::find(seen, v) != seen.end()) continue;
    seen.push_back(v);
    Value* begun = host_.value(v);
    llvm::Type* bits = b_.getIntNTy(begun->getType()->getScalarSizeInBits());
    Value* isNothing =
        b_.CreateICmpEQ(b_.CreateBitCast(begun, bits),
                        b_.CreateBitCast(llvm::ConstantFP::getNegativeZero(begun->getType()), bits));
    all = b_.CreateAnd(all, isNothing);
  }
  return all;
}

/// The first iteration has its terms, if the totals begin with nothing; others add them to what lies in the
/// frame. Both ask by themselves whether there is one more, so that what the last iteration makes stays in
/// registers.
class LaneEmitter::TotalsLoop {
public:
  TotalsLoop(LaneEmitter& lanes, const Stmt& s, std::vector<Total> totals)
      : l_(lanes), b_(lanes.b_), s_(s), totals_(std::move(totals)),
        params_(l_.fn_.regions[s.regions[0]].params) {}

  void run() {
    const ValueIds& ends = s_.operands;
    Value *begin = l_.host_.value(ends[0]), *end = l_.host_.value(ends[1]), *one = b_.getInt64(1);
    Value* areMore = b_.CreateICmpSLT(b_.CreateNSWAdd(begin, one), end);
    open(begin, end);
    for (const Total& total : totals_) l_.late_.insert(total.sum);
    l_.region(s_.regions[0]);
    if (!l_.isCallee_) b_.SetCurrentDebugLocation(l_.m_.debug->location(s_.loc));
    if (s_.as<loops::ForAttr>().polls) l_.host_.poll();
    Value* after = b_.CreateNSWAdd(index_, one);
    b_.CreateCondBr(b_.CreateAnd(b_.CreateICmpEQ(index_, begin), areNothing_), alone_, more_);
    b_.SetInsertPoint(alone_);
    b_.CreateCondBr(areMore, back_, done_);
    b_.SetInsertPoint(more_);
    add();
    b_.CreateCondBr(b_.CreateICmpSLT(after, end), back_, done_);
    b_.SetInsertPoint(back_);
    Values next;
    for (const Total& total : totals_) next.push_back(either(total));
    store(next);
    index_->addIncoming(after, back_);
    b_.CreateBr(body_);
    b_.SetInsertPoint(done_);
    for (size_t k = 0; k < totals_.size(); ++k) {
      llvm::PHINode* result = either(totals_[k]);
      result->addIncoming(first_[k], from_);
      l_.keep(s_.results[k], result);
    }
  }

private:
  /// Up to the body.
  void open(Value* begin, Value* end) {
    areNothing_ = l_.beginWithNothing(s_);
    for (size_t k = 0; k < totals_.size(); ++k) {
      first_.push_back(l_.kept(s_.operands[k + 2], false));
      frame_.push_back(l_.host_.slot(l_.m_.llvm->getDataLayout().getTypeAllocSize(first_[k]->getType())));
    }
    from_ = b_.GetInsertBlock();
    llvm::BasicBlock *some = l_.block("some"), *entry = l_.block("entry");
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), some, done_);
    b_.SetInsertPoint(some);
    b_.CreateCondBr(areNothing_, body_, entry);
    b_.SetInsertPoint(entry);
    store(first_);
    b_.CreateBr(body_);
    b_.SetInsertPoint(body_);
    index_ = b_.CreatePHI(l_.m_.i64(), 3);
    for (llvm::BasicBlock* block : {some, entry}) index_->addIncoming(begin, block);
    l_.host_.set(params_[0], index_);
  }
  /// Volatile: no pass is to put the frame into registers, which are those of the loop inside.
  void store(const Values& values) {
    for (size_t k = 0; k < values.size(); ++k) b_.CreateAlignedStore(values[k], frame_[k], align_, true);
  }
  void add() {
    for (size_t k = 0; k < totals_.size(); ++k) {
      l_.keep(params_[k + 1], b_.CreateAlignedLoad(first_[k]->getType(), frame_[k], align_, true));
      l_.scalar(l_.fn_.stmts[totals_[k].sum]);
    }
  }
  /// What an iteration made.
  llvm::PHINode* either(const Total& total) {
    Value *term = l_.vector(total.term), *sum = l_.vector(l_.fn_.stmts[total.sum].results[0]);
    llvm::PHINode* phi = b_.CreatePHI(sum->getType(), 3);
    phi->addIncoming(term, alone_);
    phi->addIncoming(sum, more_);
    return phi;
  }

  LaneEmitter& l_;
  llvm::IRBuilder<>& b_;
  const Stmt& s_;
  const std::vector<Total> totals_;
  const ValueIds& params_;
  llvm::BasicBlock *from_ = nullptr, *body_ = l_.block("body"), *alone_ = l_.block("alone"),
                   *more_ = l_.block("more"), *back_ = l_.block("back"), *done_ = l_.block("done");
  const llvm::Align align_ = llvm::Align(FunctionEmitter::slotAlign);
  Values first_, frame_; ///< what the totals begin with, and where they lie in later iterations
  Value* areNothing_ = nullptr;
  llvm::PHINode* index_ = nullptr;
};

void LaneEmitter::forTotals(const Stmt& s, std::vector<Total> totals) {
  TotalsLoop(*this, s, std::move(totals)).run();
}

} // namespace melix::codegen
