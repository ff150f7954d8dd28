#include "codegen/emit_devices.h"

#include "codegen/device_images.h"
#include "codegen/emit_groups.h"
#include "melix/abi.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstddef>

namespace melix::codegen {

using loops::StmtKind;

void DeviceEmitter::statement(const loops::Stmt& s) {
  switch (s.kind) {
  case StmtKind::Acquire:
  case StmtKind::AcquireUpdate: return acquire(s);
  case StmtKind::Undefine: return setValidCopies(s, 0);
  case StmtKind::Clear: return setValidCopies(s, MELIX_VALID_ZERO);
  case StmtKind::DeviceCopy: return callRuntime("melix_device_copy", s);
  case StmtKind::Fetch: return callRuntime("melix_device_fetch", s);
  case StmtKind::Put: return callRuntime("melix_device_put", s);
  default: return;
  }
}

/// Where the header of a block says which of its copies are valid.
llvm::Value* DeviceEmitter::validCopies(llvm::Value* data) {
  return b_.CreateConstInBoundsGEP1_64(m_.i8(), data,
                                       offsetof(MelixBlock, valid) - uint64_t{MELIX_HEADER_BYTES});
}

/// A copy that is valid, or alone so, takes no call.
void DeviceEmitter::acquire(const loops::Stmt& s) {
  const bool isUpdate = s.kind == StmtKind::AcquireUpdate;
  llvm::Value* data = host_.generic(host_.value(s.operands[0]));
  llvm::BasicBlock *look = host_.block("look"), *stale = host_.block("stale"), *done = host_.block("valid");
  b_.CreateCondBr(b_.CreateIsNull(data), done, look);
  b_.SetInsertPoint(look);
  llvm::Value *valid = b_.CreateLoad(b_.getInt16Ty(), validCopies(data)),
              *host = b_.getInt16(MELIX_VALID_HOST);
  llvm::Value* found = isUpdate ? valid : b_.CreateAnd(valid, host);
  b_.CreateCondBr(b_.CreateICmpEQ(found, host), done, stale);
  b_.SetInsertPoint(stale);
  host_.call(host_.runtime("melix_device_acquire", b_.getVoidTy(), {m_.ptr(), m_.ptr(), m_.i32()}),
             {host_.task_, data, b_.getInt32(isUpdate)});
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void DeviceEmitter::setValidCopies(const loops::Stmt& s, uint16_t valid) {
  b_.CreateStore(b_.getInt16(valid), validCopies(host_.generic(host_.value(s.operands[0]))));
}

/// A function that takes the task and the operands.
void DeviceEmitter::callRuntime(const char* name, const loops::Stmt& s) {
  FunctionEmitter::Values args{host_.task_};
  std::vector<llvm::Type*> types{m_.ptr()};
  for (loops::ValueId v : s.operands) {
    args.push_back(host_.generic(host_.value(v)));
    types.push_back(args.back()->getType());
  }
  host_.call(host_.runtime(name, b_.getVoidTy(), types), args);
}

/// As of a constant: nobody counts an array of the frame.
llvm::Value* DeviceEmitter::frameBlock(uint64_t bytes) {
  llvm::Value* header = host_.slot(MELIX_HEADER_BYTES + bytes);
  const uint64_t valid = uint64_t{MELIX_VALID_HOST} << (8 * offsetof(MelixBlock, valid));
  b_.CreateStore(b_.getInt64(valid | static_cast<uint32_t>(MELIX_IMMORTAL)), header);
  return b_.CreateConstInBoundsGEP1_64(m_.i8(), header, MELIX_HEADER_BYTES);
}

void DeviceEmitter::launch(const loops::Stmt& s, llvm::Value* captures) {
  const auto kernel = s.as<loops::FunctionId>();
  const std::vector<const loops::Stmt*> checks = checksOf(m_.unit.module.functions[kernel]);
  llvm::Value* numbers =
      checks.empty() ? llvm::ConstantPointerNull::get(m_.ptr()) : host_.slot(8 * MELIX_CHECK_NUMBERS);
  llvm::Value* failed = host_.call(
      host_.runtime("melix_device_launch", m_.i64(), {m_.ptr(), m_.ptr(), m_.i64(), m_.ptr(), m_.ptr()}),
      {host_.task_, kernelRecord(m_, kernel), host_.value(s.operands[0]), captures, numbers});
  if (!checks.empty()) host_.panicOfCheck(checks, failed, numbers);
}

void DeviceEmitter::entry() {
  if (m_.options.target == TargetKind::Gpu) return gpuEntry();
  llvm::Function *emulated = m_.functionOf(host_.id_), *thread = emulated;
  const bool isGroup = host_.fn_.points.threads > 1;
  host_.kernel_ = false;
  if (isGroup)
    thread = llvm::Function::Create(emulated->getFunctionType(), llvm::Function::InternalLinkage,
                                    host_.fn_.key + ".thread", *m_.llvm);
  host_.beginBody(thread);
  FunctionEmitter::Values args =
      host_.kernelArguments(thread->getArg(2), thread->getArg(3), thread->getArg(1));
  // Points run one after the other, so all have the first piece.
  host_.giveScratch(args, [&](llvm::Value*) {
    const size_t captures = host_.fn_.params().size() - loops::boundOperands;
    return b_.CreateLoad(m_.ptr(), b_.CreateConstInBoundsGEP1_64(m_.i64(), thread->getArg(1), captures + 1));
  });
  args.push_back(thread->getArg(0));
  b_.CreateRet(b_.CreateCall(m_.kernelOf(host_.id_), args));
  if (isGroup) GroupEmitter(host_).emulatedEntry(emulated, thread);
}

// --- on a GPU
// -----------------------------------------------------------------------------------------------------------------

llvm::Value* DeviceEmitter::threadNumber() {
  auto read = [&](llvm::Intrinsic::ID id) {
    return b_.CreateZExt(b_.CreateIntrinsic(b_.getInt32Ty(), id, {}), m_.i64());
  };
  llvm::Value* block = b_.CreateNUWMul(read(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                                       read(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x));
  return b_.CreateNUWAdd(block, read(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
}

/// What a launch stores into 8 bytes: the bits of a number are the low ones.
llvm::Value* DeviceEmitter::fromWord(llvm::Value* word, llvm::Type* type) {
  if (type->isPointerTy()) return b_.CreateIntToPtr(word, type);
  return b_.CreateBitCast(b_.CreateTrunc(word, b_.getIntNTy(type->getPrimitiveSizeInBits())), type);
}

/// Of all points that fail, the first is noted, whatever the order of the threads.
llvm::Function* DeviceEmitter::noteFailure() {
  constexpr const char* name = "note_failure";
  if (llvm::Function* made = m_.llvm->getFunction(name)) return made;
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {m_.ptr(), m_.i64(), m_.i64(), m_.ptr()}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, *m_.llvm);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  auto block = [&](const char* label) { return llvm::BasicBlock::Create(m_.context, label, f); };
  llvm::BasicBlock *begin = block("begin"), *look = block("look"), *take = block("take"),
                   *held = block("held"), *write = block("write"), *release = block("release"),
                   *done = block("done");
  llvm::IRBuilder<> b(begin);
  b.CreateBr(look);
  b.SetInsertPoint(look);
  llvm::Argument *record = f->getArg(0), *left = f->getArg(1), *check = f->getArg(2), *numbers = f->getArg(3);
  auto at = [&](uint64_t offset) { return b.CreateConstInBoundsGEP1_64(m_.i8(), record, offset); };
  auto isLater = [&] {
    llvm::LoadInst* noted = b.CreateAlignedLoad(m_.i64(), at(offsetof(MelixFailure, left)), llvm::Align(8));
    noted->setAtomic(llvm::AtomicOrdering::Monotonic);
    return b.CreateICmpUGE(noted, left);
  };
  b.CreateCondBr(isLater(), done, take);
  b.SetInsertPoint(take);
  llvm::Value* taken = b.CreateAtomicCmpXchg(at(offsetof(MelixFailure, lock)), b.getInt32(0), b.getInt32(1),
                                             llvm::MaybeAlign(4), llvm::AtomicOrdering::Acquire,
                                             llvm::AtomicOrdering::Monotonic);
  b.CreateCondBr(b.CreateExtractValue(taken, 1), held, look);
  b.SetInsertPoint(held);
  b.CreateCondBr(isLater(), release, write);
  b.SetInsertPoint(write);
  b.CreateStore(check, at(offsetof(MelixFailure, check)));
  for (uint64_t k = 0; k < MELIX_CHECK_NUMBERS; ++k)
    b.CreateStore(b.CreateLoad(m_.i64(), b.CreateConstInBoundsGEP1_64(m_.i64(), numbers, k)),
                  at(offsetof(MelixFailure, numbers) + 8 * k));
  b.CreateAlignedStore(left, at(offsetof(MelixFailure, left)), llvm::Align(8))
      ->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateBr(release);
  b.SetInsertPoint(release);
  b.CreateAlignedStore(b.getInt32(0), at(offsetof(MelixFailure, lock)), llvm::Align(4))
      ->setAtomic(llvm::AtomicOrdering::Release);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return f;
}

/// The arguments of the kernel but for its points and the numbers of a check. A point has the piece of
/// scratch of that number.
FunctionEmitter::Values DeviceEmitter::entryArguments(llvm::Function* entry, llvm::Value* piece) {
  llvm::FunctionType* type = m_.kernelOf(host_.id_)->getFunctionType();
  FunctionEmitter::Values args{nullptr, nullptr};
  const auto captures = static_cast<unsigned>(host_.fn_.params().size() - loops::boundOperands);
  for (unsigned k = 0; k < captures; ++k) {
    const bool isScratch = host_.fn_.modeOf(k + loops::boundOperands) == loops::ModeKind::Scratch;
    llvm::Value* word = entry->getArg(k + 1);
    args.push_back(isScratch ? word : fromWord(word, type->getParamType(k + loops::boundOperands)));
  }
  host_.giveScratch(args, [&](llvm::Value* bytes) {
    llvm::Value* all = fromWord(entry->getArg(captures + 2), m_.ptr());
    return b_.CreateInBoundsGEP(m_.i8(), all, {b_.CreateNUWMul(piece, host_.wholePieces(bytes))});
  });
  return args;
}

/// A thread or group has a point. Those with scratch are as many as there are pieces of it, and go on with
/// the points that are left.
void DeviceEmitter::gpuEntry() {
  llvm::Function *entry = m_.functionOf(host_.id_), *kernel = m_.kernelOf(host_.id_);
  const bool hasChecks = !host_.checks_.empty(), hasScratch = host_.fn_.hasScratch();
  const auto captures = static_cast<unsigned>(host_.fn_.params().size() - loops::boundOperands);
  host_.beginBody(entry);
  llvm::BasicBlock *begin = host_.block("begin"), *run = host_.block("run"), *failed = host_.block("failed"),
                   *next = host_.block("next"), *done = host_.block("done");
  llvm::Value* first = b_.CreateUDiv(threadNumber(), b_.getInt64(host_.fn_.points.threads));
  llvm::Value *extent = entry->getArg(0), *atOnce = hasScratch ? entry->getArg(captures + 1) : extent;
  b_.CreateCondBr(b_.CreateICmpSLT(first, atOnce), begin, done);
  b_.SetInsertPoint(begin);
  FunctionEmitter::Values args = entryArguments(entry, first);
  args.push_back(hasChecks ? host_.generic(host_.slot(8 * MELIX_CHECK_NUMBERS))
                           : llvm::ConstantPointerNull::get(m_.ptr()));
  b_.CreateBr(run);
  b_.SetInsertPoint(run);
  llvm::PHINode* point = b_.CreatePHI(m_.i64(), 2);
  point->addIncoming(first, begin);
  args[0] = point;
  args[1] = b_.CreateNSWAdd(point, b_.getInt64(1));
  llvm::Value* check = b_.CreateCall(kernel, args);
  b_.CreateCondBr(b_.CreateICmpSLT(check, b_.getInt64(0)), next, failed);
  b_.SetInsertPoint(failed);
  if (hasChecks) {
    llvm::Value* record = b_.CreateIntToPtr(entry->getArg(entry->arg_size() - 1), m_.ptr());
    b_.CreateCall(noteFailure(), {record, b_.CreateNSWSub(extent, point), check, args.back()});
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(next);
  if (hasScratch) {
    llvm::Value* after = b_.CreateNSWAdd(point, atOnce);
    point->addIncoming(after, next);
    b_.CreateCondBr(b_.CreateICmpSLT(after, extent), run, done);
  } else {
    b_.CreateBr(done);
  }
  b_.SetInsertPoint(done);
  b_.CreateRetVoid();
}

} // namespace melix::codegen
