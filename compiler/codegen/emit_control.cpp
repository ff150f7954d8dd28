// Branches, loops, calls and launches.
#include "codegen/emit_devices.h"
#include "codegen/function_emitter.h"

#include "codegen/debug_info.h"
#include "codegen/lane_emitter.h"
#include "melix/abi.h"

namespace melix::codegen {

using loops::ForAttr;
using loops::StmtKind;

/// Joins the ends of branches; results become phis.
void FunctionEmitter::merge(const Stmt& s, llvm::BasicBlock* join,
                            const std::vector<std::pair<llvm::BasicBlock*, Values>>& ends) {
  b_.SetInsertPoint(join);
  for (size_t k = 0; k < s.results.size(); ++k) {
    auto* phi = b_.CreatePHI(m_.typeOf(fn_.typeOf(s.results[k])), static_cast<unsigned>(ends.size()));
    for (const auto& [from, values] : ends) phi->addIncoming(values[k], from);
    set(s.results[k], phi);
  }
}

void FunctionEmitter::emitIf(const Stmt& s) {
  llvm::BasicBlock *yes = block("then"), *no = block("else"), *join = block("end");
  b_.CreateCondBr(value(s.operands[0]), yes, no);
  std::vector<std::pair<llvm::BasicBlock*, Values>> ends;
  for (size_t k = 0; k < 2; ++k) {
    b_.SetInsertPoint(k == 0 ? yes : no);
    Values values = region(s.regions[k]);
    ends.emplace_back(b_.GetInsertBlock(), std::move(values));
    b_.CreateBr(join);
  }
  merge(s, join, ends);
}

void FunctionEmitter::goByNumber(const Stmt& s, llvm::ArrayRef<llvm::BasicBlock*> blocks) {
  const std::vector<uint32_t>& regionOf = s.as<loops::SwitchAttr>().regionOf;
  auto* type = llvm::cast<llvm::IntegerType>(value(s.operands[0])->getType());
  auto* branch =
      b_.CreateSwitch(value(s.operands[0]), blocks[regionOf.back()], static_cast<unsigned>(regionOf.size()));
  for (size_t c = 0; c < regionOf.size(); ++c)
    if (regionOf[c] != regionOf.back()) branch->addCase(llvm::ConstantInt::get(type, c), blocks[regionOf[c]]);
}

void FunctionEmitter::emitSwitch(const Stmt& s) {
  std::vector<llvm::BasicBlock*> blocks;
  for (size_t k = 0; k < s.regions.size(); ++k) blocks.push_back(block("case"));
  llvm::BasicBlock* join = block("end");
  goByNumber(s, blocks);
  std::vector<std::pair<llvm::BasicBlock*, Values>> ends;
  for (size_t k = 0; k < s.regions.size(); ++k) {
    b_.SetInsertPoint(blocks[k]);
    Values values = region(s.regions[k]);
    ends.emplace_back(b_.GetInsertBlock(), std::move(values));
    b_.CreateBr(join);
  }
  merge(s, join, ends);
}

void FunctionEmitter::poll() {
  // A kernel and what it calls know no task.
  if (!task_ || fn_.isClosed()) return;
  auto* cancel = b_.CreateLoad(m_.i32(), task_);
  cancel->setAtomic(llvm::AtomicOrdering::Monotonic);
  cancel->setAlignment(llvm::Align(4));
  llvm::BasicBlock *cancelled = block("cancelled"), *on = block("on");
  b_.CreateCondBr(b_.CreateICmpNE(cancel, b_.getInt32(0)), cancelled, on);
  b_.SetInsertPoint(cancelled);
  call(m_.runtime("melix_cancelled", b_.getVoidTy(), {m_.ptr()}, false), {task_});
  b_.CreateUnreachable();
  b_.SetInsertPoint(on);
}

void FunctionEmitter::emitFor(const Stmt& s) {
  if (s.as<ForAttr>().vectorWidth > 0) return emitLanes(*this, s);
  Values carried;
  for (size_t k = 2; k < s.operands.size(); ++k) carried.push_back(generic(value(s.operands[k])));
  carried = emitIterations(s, value(s.operands[0]), std::move(carried));
  for (size_t k = 0; k < s.results.size(); ++k) set(s.results[k], carried[k]);
}

FunctionEmitter::Values FunctionEmitter::emitIterations(const Stmt& s, llvm::Value* begin, Values carried) {
  llvm::Value* end = value(s.operands[1]);
  llvm::BasicBlock *head = block("for"), *body = block("body"), *done = block("done");
  llvm::BasicBlock* from = b_.GetInsertBlock();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  const std::vector<ValueId>& params = fn_.regions[s.regions[0]].params;
  std::vector<llvm::PHINode*> phis;
  for (ValueId p : params) {
    phis.push_back(b_.CreatePHI(m_.typeOf(fn_.typeOf(p)), 2));
    set(p, phis.back());
  }
  phis[0]->addIncoming(begin, from);
  for (size_t k = 1; k < phis.size(); ++k) phis[k]->addIncoming(carried[k - 1], from);
  b_.CreateCondBr(b_.CreateICmpSLT(phis[0], end), body, done);
  b_.SetInsertPoint(body);
  Values next = region(s.regions[0]);
  b_.SetCurrentDebugLocation(m_.debug->location(s.loc));
  if (s.as<ForAttr>().polls) poll();
  phis[0]->addIncoming(b_.CreateNSWAdd(phis[0], b_.getInt64(1)), b_.GetInsertBlock());
  for (size_t k = 1; k < phis.size(); ++k) phis[k]->addIncoming(next[k - 1], b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  return {phis.begin() + 1, phis.end()};
}

void FunctionEmitter::emitWhile(const Stmt& s) {
  llvm::BasicBlock *head = block("while"), *body = block("body"), *done = block("done");
  llvm::BasicBlock* from = b_.GetInsertBlock();
  Values first;
  for (ValueId v : s.operands) first.push_back(generic(value(v)));
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  const std::vector<ValueId>&conditionParams = fn_.regions[s.regions[0]].params,
        &params = fn_.regions[s.regions[1]].params;
  std::vector<llvm::PHINode*> phis;
  for (size_t k = 0; k < params.size(); ++k) {
    phis.push_back(b_.CreatePHI(m_.typeOf(fn_.typeOf(params[k])), 2));
    phis[k]->addIncoming(first[k], from);
    set(params[k], phis[k]);
    set(conditionParams[k], phis[k]);
  }
  llvm::Value* on = region(s.regions[0])[0];
  b_.CreateCondBr(on, body, done);
  b_.SetInsertPoint(body);
  Values next = region(s.regions[1]);
  b_.SetCurrentDebugLocation(m_.debug->location(s.loc));
  poll();
  for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  for (size_t k = 0; k < s.results.size(); ++k) set(s.results[k], phis[k]);
}

void FunctionEmitter::emitCall(const Stmt& s) {
  Values args;
  for (ValueId v : s.operands) args.push_back(value(v));
  const Values results = resultsOf(s, std::move(args));
  for (size_t k = 0; k < results.size(); ++k) set(s.results[k], results[k]);
}

FunctionEmitter::Values FunctionEmitter::resultsOf(const Stmt& s, Values args) {
  llvm::Function* callee = m_.functionOf(s.as<loops::FunctionId>());
  for (llvm::Value*& v : args) v = generic(v);
  // A closed function asks nothing of its task.
  args.insert(args.begin(),
              task_ ? task_ : static_cast<llvm::Value*>(llvm::ConstantPointerNull::get(m_.ptr())));
  const bool isClosed =
      m_.unit.module.functions[s.as<loops::FunctionId>()].isClosed(); // no panic comes out of it
  llvm::CallInst* r = isClosed ? b_.CreateCall(callee, args) : call(callee, args);
  // Straight-line code with very many elementary functions calls them: merged, each is some hundred
  // instructions.
  constexpr unsigned mostMerged = 32;
  if (callee->hasFnAttribute(llvm::Attribute::AlwaysInline) && ++merged_ > mostMerged) r->setIsNoInline();
  if (s.results.size() == 1) return {r};
  Values results;
  for (unsigned k = 0; k < s.results.size(); ++k) results.push_back(b_.CreateExtractValue(r, k));
  return results;
}

void FunctionEmitter::emitLaunch(const Stmt& s) {
  const loops::FunctionId callee = s.as<loops::FunctionId>();
  llvm::Value *extent = value(s.operands[0]), *work = value(s.operands[1]);
  size_t captures = s.operands.size() - 2;
  llvm::Value* record = slot(8 * std::max<size_t>(captures, 1));
  for (size_t k = 0; k < captures; ++k)
    b_.CreateStore(value(s.operands[k + 2]), b_.CreateConstInBoundsGEP1_64(m_.i64(), record, k));
  if (m_.unit.module.functions[callee].kind == loops::FunctionKind::Device)
    return DeviceEmitter(*this).launch(s, record);
  llvm::Function* chunk = m_.functionOf(callee);
  // The frame of the chunk shows the place; this one would show the same function again.
  b_.SetCurrentDebugLocation(m_.debug->nowhere());
  llvm::BasicBlock *here = block("here"), *pool = block("pool"), *done = block("launched");
  // As melix_parallel would say.
  b_.CreateCondBr(b_.CreateICmpSLT(work, b_.getInt64(MELIX_INLINE_WORK)), here, pool);
  b_.SetInsertPoint(here);
  call(chunk, {task_, record, b_.getInt64(0), extent});
  b_.CreateBr(done);
  b_.SetInsertPoint(pool);
  call(runtime("melix_parallel", m_.i64(), {m_.ptr(), m_.ptr(), m_.ptr(), m_.i64(), m_.i64(), m_.i64()}),
       {task_, chunk, record, extent, b_.getInt64(m_.unit.module.functions[callee].tripCount.unrolledBy),
        work});
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

} // namespace melix::codegen
