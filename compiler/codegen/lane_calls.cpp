// Calls in lanes: the body of the callee in lanes, or the callee for one lane after the other.
#include "codegen/lane_emitter.h"

#include <llvm/IR/Constants.h>

namespace melix::codegen {

void LaneEmitter::call(const Stmt& s) {
  switch (loops::laneCallOf(m_.unit.module, s, variance_)) {
  case loops::LaneCallKind::Merged: return callMerged(s);
  case loops::LaneCallKind::OneByOne: return callOneByOne(s);
  default: return host_.statement(s);
  }
}

/// The body of the callee in place of the call.
void LaneEmitter::callMerged(const Stmt& s) {
  const loops::Variance variance = loops::varianceOfCall(m_.unit.module, s, variance_);
  FunctionEmitter host(m_, s.as<loops::FunctionId>());
  host.function_ = host_.function_;
  host.entry_ = host_.entry_;
  host.b_.SetInsertPoint(b_.GetInsertBlock());
  host.b_.SetCurrentDebugLocation(b_.getCurrentDebugLocation());
  LaneEmitter callee(host, lanes_, variance, {});
  callee.isCallee_ = true;
  callee.mask_ = mask_;
  const ValueIds& params = host.fn_.params();
  for (size_t k = 0; k < params.size(); ++k)
    callee.keep(params[k], kept(s.operands[k], isUniform(s.operands[k])));
  const ValueIds& results = callee.region(host.fn_.body);
  Values values;
  for (ValueId v : results) values.push_back(callee.kept(v, false));
  b_.SetInsertPoint(host.b_.GetInsertBlock());
  for (size_t k = 0; k < values.size(); ++k) keep(s.results[k], values[k]);
}

/// Lanes of a value in the frame, where one is found by a number that is known only while running.
class LaneEmitter::Slot {
public:
  Slot(LaneEmitter& lanes, llvm::Type* element) : b_(lanes.b_), element_(element) {
    memory_ = element == lanes.m_.i1() ? lanes.m_.i8() : element;
    all_ = lanes.vectorOf(memory_);
    at_ = lanes.host_.slot(lanes.m_.llvm->getDataLayout().getTypeAllocSize(all_));
  }

  void storeAll(Value* v) {
    b_.CreateAlignedStore(widened(v, all_), at_, llvm::Align(FunctionEmitter::slotAlign));
  }
  Value* loadAll() {
    return narrowed(b_.CreateAlignedLoad(all_, at_, llvm::Align(FunctionEmitter::slotAlign)));
  }
  void store(Value* v, Value* lane) {
    b_.CreateStore(widened(v, memory_), b_.CreateInBoundsGEP(memory_, at_, lane));
  }
  Value* load(Value* lane) {
    return narrowed(b_.CreateLoad(memory_, b_.CreateInBoundsGEP(memory_, at_, lane)));
  }
  Value* nothing() const { return llvm::Constant::getNullValue(all_); }

private:
  Value* widened(Value* v, llvm::Type* to) { return v->getType() == to ? v : b_.CreateZExt(v, to); }
  Value* narrowed(Value* v) {
    return element_ == memory_ ? v : b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
  }

  llvm::IRBuilder<>& b_;
  llvm::Type *element_, *memory_;
  llvm::VectorType* all_;
  Value* at_;
};

/// The callee for each lane that is on, in order.
void LaneEmitter::callOneByOne(const Stmt& s) {
  auto slotOf = [&](ValueId v) { return Slot(*this, m_.typeOf(fn_.typeOf(v))); };
  std::vector<std::optional<Slot>> from;
  for (ValueId v : s.operands) {
    from.push_back(isUniform(v) ? std::nullopt : std::optional(slotOf(v)));
    if (from.back()) from.back()->storeAll(kept(v, false));
  }
  std::vector<Slot> to;
  for (ValueId v : s.results) {
    to.push_back(slotOf(v));
    if (mask_) to.back().storeAll(to.back().nothing());
  }
  forEachLane([&](Value* lane) {
    Values args;
    for (size_t k = 0; k < from.size(); ++k)
      args.push_back(from[k] ? from[k]->load(lane) : host_.value(s.operands[k]));
    const Values results = host_.resultsOf(s, std::move(args));
    for (size_t k = 0; k < to.size(); ++k) to[k].store(results[k], lane);
  });
  for (size_t k = 0; k < to.size(); ++k) keep(s.results[k], to[k].loadAll());
}

/// What `body` writes is done for each lane that is on.
void LaneEmitter::forEachLane(FunctionRef<void(Value*)> body) {
  std::optional<Slot> on;
  if (mask_) on.emplace(*this, m_.i1()).storeAll(mask_);
  llvm::BasicBlock *from = b_.GetInsertBlock(), *head = block("lane"), *next = block("next"),
                   *done = block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* lane = b_.CreatePHI(m_.i64(), 2);
  lane->addIncoming(b_.getInt64(0), from);
  if (on) {
    llvm::BasicBlock* isOn = block("on");
    b_.CreateCondBr(on->load(lane), isOn, next);
    b_.SetInsertPoint(isOn);
  }
  body(lane);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  Value* after = b_.CreateNUWAdd(lane, b_.getInt64(1));
  lane->addIncoming(after, next);
  b_.CreateCondBr(b_.CreateICmpULT(after, b_.getInt64(lanes_)), head, done);
  b_.SetInsertPoint(done);
}

} // namespace melix::codegen
