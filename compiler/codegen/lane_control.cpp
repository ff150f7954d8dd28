// Branches and loops in lanes.
#include "codegen/lane_emitter.h"

#include "codegen/debug_info.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace melix::codegen {

using loops::RegionId;
using loops::StmtKind;

void LaneEmitter::branch(const Stmt& s) {
  if (isUniform(s.operands[0])) return branchTogether(s);
  Values results;
  for (size_t r = 0; r < s.regions.size(); ++r)
    results = emitBranchSeparately(s, s.regions[r], takes(s, r), std::move(results));
  for (size_t k = 0; k < results.size(); ++k) keep(s.results[k], results[k]);
}

/// All lanes take the same branch.
void LaneEmitter::branchTogether(const Stmt& s) {
  std::vector<llvm::BasicBlock*> blocks;
  for (size_t r = 0; r < s.regions.size(); ++r) blocks.push_back(block("case"));
  llvm::BasicBlock* join = block("end");
  if (s.kind == StmtKind::If)
    b_.CreateCondBr(host_.value(s.operands[0]), blocks[0], blocks[1]);
  else
    host_.goByNumber(s, blocks);
  std::vector<std::pair<llvm::BasicBlock*, Values>> ends;
  for (size_t r = 0; r < s.regions.size(); ++r) {
    b_.SetInsertPoint(blocks[r]);
    const ValueIds& yields = region(s.regions[r]);
    Values values;
    for (size_t k = 0; k < s.results.size(); ++k) values.push_back(kept(yields[k], isUniform(s.results[k])));
    ends.emplace_back(b_.GetInsertBlock(), std::move(values));
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(join);
  for (size_t k = 0; k < s.results.size(); ++k) {
    auto* phi = b_.CreatePHI(keptType(s.results[k]), static_cast<unsigned>(ends.size()));
    for (const auto& [from, values] : ends) phi->addIncoming(values[k], from);
    keep(s.results[k], phi);
  }
}

/// Lanes that take a region.
llvm::Value* LaneEmitter::takes(const Stmt& s, size_t region) {
  Value* on = vector(s.operands[0]);
  if (s.kind == StmtKind::If) return region == 0 ? on : b_.CreateNot(on);
  const std::vector<uint32_t>& regionOf = s.as<loops::SwitchAttr>().regionOf;
  const bool isRest = region == regionOf.back(); // it takes what no other one does
  Value* some = splat(b_.getFalse());
  for (size_t c = 0; c < regionOf.size(); ++c)
    if ((regionOf[c] == region) != isRest)
      some = b_.CreateOr(some, b_.CreateICmpEQ(on, llvm::ConstantInt::get(on->getType(), c)));
  return isRest ? b_.CreateNot(some) : some;
}

/// What a region yields for the lanes that take it, and `others`, if there are any, in the other lanes: it is
/// left out where none does and that saves something.
LaneEmitter::Values LaneEmitter::emitBranchSeparately(const Stmt& s, RegionId r, Value* mask, Values others) {
  Value* outer = std::exchange(mask_, masked(mask));
  const bool skips = mustSkip(r) || isWorthSkipping(r);
  llvm::BasicBlock *from = b_.GetInsertBlock(), *some = nullptr, *join = nullptr;
  if (skips) {
    some = block("some");
    join = block("end");
    // What it needs is spilled there, not around the loop.
    llvm::MDNode* isSeldom = llvm::MDBuilder(m_.context).createBranchWeights(1, 15);
    b_.CreateCondBr(b_.CreateOrReduce(mask_), some, join, isSeldom);
    b_.SetInsertPoint(some);
  }
  const ValueIds& yields = region(r);
  Values values;
  for (size_t k = 0; k < s.results.size(); ++k) {
    Value* v = kept(yields[k], false);
    values.push_back(others.empty() ? v : b_.CreateSelect(mask, v, others[k]));
  }
  if (skips) {
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
    for (size_t k = 0; k < values.size(); ++k) {
      llvm::Type* type = values[k]->getType();
      auto* phi = b_.CreatePHI(type, 2);
      phi->addIncoming(values[k], end);
      phi->addIncoming(others.empty() ? llvm::Constant::getNullValue(type) : others[k], from);
      values[k] = phi;
    }
  }
  mask_ = outer;
  return values;
}

/// Whether a region has to be left out if no lane takes it: something in it is done once for all lanes, which
/// might read what is not there, not end or panic.
bool LaneEmitter::mustSkip(RegionId r) const {
  return std::ranges::any_of(fn_.regions[r].stmts, [&](loops::StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind == StmtKind::While || s.kind == StmtKind::Call) return true;
    if (s.kind == StmtKind::Load) return isUniform(s.results[0]);
    return std::ranges::any_of(s.regions, [&](RegionId inner) { return mustSkip(inner); });
  });
}

/// Whether to leave a region out, if no lane takes it, saves more than to ask costs.
bool LaneEmitter::isWorthSkipping(RegionId r) const {
  constexpr size_t little = 24;
  const std::vector<loops::StmtId>& stmts = fn_.regions[r].stmts;
  return stmts.size() > little || std::ranges::any_of(stmts, [&](loops::StmtId id) {
           const Stmt& s = fn_.stmts[id];
           return s.kind == StmtKind::For ||
                  std::ranges::any_of(s.regions, [&](RegionId inner) { return isWorthSkipping(inner); });
         });
}

// --- loops
// ----------------------------------------------------------------------------------------------------------

std::vector<llvm::PHINode*> LaneEmitter::openCarries(std::span<const ValueId> params,
                                                     std::span<const ValueId> first, llvm::BasicBlock* from) {
  std::vector<llvm::PHINode*> phis;
  for (ValueId p : params) phis.push_back(b_.CreatePHI(keptType(p), 2));
  const auto here = b_.saveIP();
  b_.SetInsertPoint(from->getTerminator());
  for (size_t k = 0; k < params.size(); ++k) phis[k]->addIncoming(kept(first[k], isUniform(params[k])), from);
  b_.restoreIP(here);
  for (size_t k = 0; k < params.size(); ++k) keep(params[k], phis[k]);
  return phis;
}

/// Lanes that are not on keep what they have.
void LaneEmitter::closeCarries(std::span<llvm::PHINode* const> phis, std::span<const ValueId> params,
                               const ValueIds& next, Value* mask) {
  Values values;
  for (size_t k = 0; k < params.size(); ++k) {
    Value* v = kept(next[k], isUniform(params[k]));
    values.push_back(mask && !isUniform(params[k]) ? b_.CreateSelect(mask, v, phis[k]) : v);
  }
  for (size_t k = 0; k < params.size(); ++k) phis[k]->addIncoming(values[k], b_.GetInsertBlock());
}

/// As many iterations as the last lane makes. The loop is entered only if it iterates, so that what is the
/// same in all iterations, though it be read from memory, is moved before it.
void LaneEmitter::forLoop(const Stmt& s) {
  if (std::vector<Total> totals = totalsOf(s); !totals.empty()) return forTotals(s, std::move(totals));
  const ValueIds& params = fn_.regions[s.regions[0]].params;
  const bool isDivergent = !isUniform(s.operands[1]);
  Value* begin = host_.value(s.operands[0]);
  Value *ends = nullptr, *end = nullptr;
  if (isDivergent) {
    ends = vector(s.operands[1]);
    end = b_.CreateIntMaxReduce(mask_ ? b_.CreateSelect(mask_, ends, splat(begin)) : ends, true);
  } else {
    end = host_.value(s.operands[1]);
  }
  llvm::BasicBlock *from = b_.GetInsertBlock(), *body = block("body"), *done = block("done");
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), body, done);
  b_.SetInsertPoint(body);
  llvm::PHINode* index = b_.CreatePHI(m_.i64(), 2);
  index->addIncoming(begin, from);
  host_.set(params[0], index);
  const auto carried = std::span(params).subspan(1);
  const std::vector<llvm::PHINode*> phis = openCarries(carried, std::span(s.operands).subspan(2), from);
  Value* outer = mask_;
  if (isDivergent) mask_ = masked(b_.CreateICmpSLT(splat(index), ends));
  const ValueIds& next = region(s.regions[0]);
  if (!isCallee_) b_.SetCurrentDebugLocation(m_.debug->location(s.loc));
  if (s.as<loops::ForAttr>().polls) host_.poll();
  closeCarries(phis, carried, next, isDivergent ? mask_ : nullptr);
  mask_ = outer;
  llvm::BasicBlock* back = b_.GetInsertBlock();
  Value* after = b_.CreateNSWAdd(index, b_.getInt64(1));
  index->addIncoming(after, back);
  b_.CreateCondBr(b_.CreateICmpSLT(after, end), body, done);
  b_.SetInsertPoint(done);
  for (size_t k = 0; k < phis.size(); ++k) {
    llvm::PHINode* result = b_.CreatePHI(phis[k]->getType(), 2);
    for (llvm::BasicBlock* block : {from, back})
      result->addIncoming(phis[k]->getIncomingValueForBlock(block), block);
    keep(s.results[k], result);
  }
}

/// Until no lane goes on: one that has stopped keeps its state, so that it does not go on later.
void LaneEmitter::whileLoop(const Stmt& s) {
  const ValueIds& params = fn_.regions[s.regions[1]].params;
  const ValueIds& tested = fn_.regions[s.regions[0]].params;
  llvm::BasicBlock *from = b_.GetInsertBlock(), *head = block("while"), *body = block("body"),
                   *done = block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  const std::vector<llvm::PHINode*> phis = openCarries(params, s.operands, from);
  for (size_t k = 0; k < phis.size(); ++k) keep(tested[k], phis[k]);
  const ValueId test = region(s.regions[0])[0];
  const bool isDivergent = !isUniform(test);
  Value* on = isDivergent ? masked(vector(test)) : host_.value(test);
  b_.CreateCondBr(isDivergent ? b_.CreateOrReduce(on) : on, body, done);
  b_.SetInsertPoint(body);
  Value* outer = mask_;
  if (isDivergent) mask_ = on;
  const ValueIds& next = region(s.regions[1]);
  if (!isCallee_) b_.SetCurrentDebugLocation(m_.debug->location(s.loc));
  host_.poll();
  closeCarries(phis, params, next, isDivergent ? mask_ : nullptr);
  mask_ = outer;
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  for (size_t k = 0; k < phis.size(); ++k) keep(s.results[k], phis[k]);
}

} // namespace melix::codegen
