#include "codegen/emit_groups.h"

#include "loops/groups/group_schedule.h"
#include "melix/abi.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>

namespace melix::codegen {

using loops::StmtKind;

namespace {

constexpr int allThreads = -1, lastLane = loops::warpThreads - 1;

/// Calls visit(statement) for those of a region in their order, until it gives true.
template <class Visit>
bool visitUntil(const loops::Function& kernel, loops::RegionId region, const Visit& visit) {
  for (loops::StmtId id : kernel.regions[region].stmts) {
    if (visit(kernel.stmts[id])) return true;
    for (loops::RegionId inner : kernel.stmts[id].regions)
      if (visitUntil(kernel, inner, visit)) return true;
  }
  return false;
}

/// Where the shared memory of a statement begins in that of its kernel; none: how many bytes that is in all.
uint64_t sharedPlace(const loops::Function& kernel, const loops::Stmt* end) {
  uint64_t bytes = 0;
  visitUntil(kernel, kernel.body, [&](const loops::Stmt& s) {
    if (&s != end && s.kind == StmtKind::Shared) bytes += loops::inShared(s.as<uint64_t>());
    return &s == end;
  });
  return bytes;
}

} // namespace

void GroupEmitter::statement(const loops::Stmt& s) {
  switch (s.kind) {
  case StmtKind::Thread: return kernel_.setResult(s, thread());
  case StmtKind::Shared: return kernel_.setResult(s, shared(s));
  case StmtKind::Barrier: return barrier(s);
  case StmtKind::Shuffle: return kernel_.setResult(s, shuffle(s));
  default: return;
  }
}

llvm::Value* GroupEmitter::thread() {
  if (!isGpu()) return b_.CreateCall(m_.runtime("melix_group_thread", m_.i64(), {}));
  llvm::Value* inBlock = b_.CreateIntrinsic(b_.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  return b_.CreateZExt(b_.CreateAnd(inBlock, b_.getInt32(static_cast<uint32_t>(threads() - 1))), m_.i64());
}

/// Of a block on a GPU each of its groups has a part.
llvm::Value* GroupEmitter::shared(const loops::Stmt& s) {
  const uint64_t place = sharedPlace(kernel_.fn_, &s), bytes = sharedPlace(kernel_.fn_, nullptr);
  if (!isGpu()) {
    llvm::Value* memory = b_.CreateCall(m_.runtime("melix_group_shared", m_.ptr(), {}));
    return b_.CreateConstInBoundsGEP1_64(m_.i8(), memory, place);
  }
  constexpr unsigned sharedSpace = 3;
  const std::string name = std::string(kernel_.function_->getName()) + ".shared";
  llvm::GlobalVariable* all = m_.llvm->getNamedGlobal(name);
  if (!all) {
    auto* type = llvm::ArrayType::get(m_.i8(), bytes * (MELIX_BLOCK_THREADS / threads()));
    all = new llvm::GlobalVariable(*m_.llvm, type, false, llvm::GlobalValue::InternalLinkage,
                                   llvm::PoisonValue::get(type), name, nullptr,
                                   llvm::GlobalValue::NotThreadLocal, sharedSpace);
    all->setAlignment(llvm::Align(16));
  }
  llvm::Value* inBlock = b_.CreateIntrinsic(b_.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  llvm::Value* group = b_.CreateUDiv(inBlock, b_.getInt32(static_cast<uint32_t>(threads())));
  llvm::Value* offset =
      b_.CreateAdd(b_.CreateMul(b_.CreateZExt(group, m_.i64()), b_.getInt64(bytes)), b_.getInt64(place));
  return b_.CreateAddrSpaceCast(b_.CreateInBoundsGEP(m_.i8(), all, {offset}), m_.ptr());
}

/// By which the emulated device sees that all threads come to the same barrier.
llvm::Value* GroupEmitter::number(const loops::Stmt& s) {
  uint64_t before = 0;
  visitUntil(kernel_.fn_, kernel_.fn_.body, [&](const loops::Stmt& other) {
    ++before;
    return &other == &s;
  });
  return b_.getInt64(before);
}

void GroupEmitter::barrier(const loops::Stmt& s) {
  if (!isGpu())
    b_.CreateCall(m_.runtime("melix_group_barrier", b_.getVoidTy(), {m_.i64()}), {number(s)});
  else if (threads() == loops::warpThreads)
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::nvvm_bar_warp_sync, {b_.getInt32(allThreads)});
  else
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {b_.getInt32(0)});
}

llvm::Value* GroupEmitter::shuffleWord(llvm::Value* half, uint64_t distance) {
  return b_.CreateIntrinsic(
      b_.getInt32Ty(), llvm::Intrinsic::nvvm_shfl_sync_bfly_i32,
      {b_.getInt32(allThreads), half, b_.getInt32(static_cast<uint32_t>(distance)), b_.getInt32(lastLane)});
}

/// In halves on a GPU, whose shuffles are of 32 bits.
llvm::Value* GroupEmitter::shuffle(const loops::Stmt& s) {
  llvm::Value* v = kernel_.value(s.operands[0]);
  const auto distance = s.as<uint64_t>();
  llvm::Type* type = v->getType();
  const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  llvm::Value* word = b_.CreateZExt(b_.CreateBitCast(v, b_.getIntNTy(bits)), m_.i64());
  llvm::Value* other = nullptr;
  if (!isGpu()) {
    llvm::FunctionCallee shuffle =
        m_.runtime("melix_group_shuffle", m_.i64(), {m_.i64(), m_.i64(), m_.i64()});
    other = b_.CreateCall(shuffle, {word, b_.getInt64(distance), number(s)});
  } else {
    other = b_.CreateZExt(shuffleWord(b_.CreateTrunc(word, b_.getInt32Ty()), distance), m_.i64());
    if (bits > 32) {
      llvm::Value* high = shuffleWord(b_.CreateTrunc(b_.CreateLShr(word, 32), b_.getInt32Ty()), distance);
      other = b_.CreateOr(other, b_.CreateShl(b_.CreateZExt(high, m_.i64()), 32));
    }
  }
  return b_.CreateBitCast(b_.CreateTrunc(other, b_.getIntNTy(bits)), type);
}

void GroupEmitter::emulatedEntry(llvm::Function* entry, llvm::Function* thread) {
  kernel_.beginBody(entry);
  llvm::FunctionCallee run = m_.runtime(
      "melix_group_run", m_.i64(), {m_.ptr(), m_.i64(), m_.i64(), m_.ptr(), m_.ptr(), m_.i64(), m_.i64()});
  b_.CreateRet(
      b_.CreateCall(run, {thread, b_.getInt64(threads()), b_.getInt64(sharedPlace(kernel_.fn_, nullptr)),
                          entry->getArg(0), entry->getArg(1), entry->getArg(2), entry->getArg(3)}));
}

} // namespace melix::codegen
