#include "device/kernel_entry.h"

#include "codegen/debug_info.h"
#include "device/ptx.h"

#include <llvm/IR/CallingConv.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <set>

namespace melix::device {
namespace {

using loops::FunctionId;
using loops::ModeKind;

void addCallees(const loops::Module& module, FunctionId f, std::set<FunctionId>& all) {
  if (!all.insert(f).second) return;
  for (const loops::Stmt& s : module.functions[f].stmts)
    if (s.kind == loops::StmtKind::Call) addCallees(module, s.as<FunctionId>(), all);
}

/// The kernel and what it calls.
codegen::Unit unitOf(const loops::Module& module, FunctionId kernel) {
  std::set<FunctionId> all;
  addCallees(module, kernel, all);
  codegen::Unit unit{module, {}, {}, true};
  for (FunctionId f : all)
    (codegen::isCopied(module.functions[f]) ? unit.copies : unit.functions).push_back(f);
  return unit;
}

uint64_t rounded(uint64_t bytes) { return (bytes + 63) & ~uint64_t{63}; }

} // namespace

uint64_t scratchBytes(const loops::Function& kernel, const uint64_t* captures) {
  uint64_t sum = 0;
  for (size_t k = 2; k < kernel.params().size(); ++k)
    if (kernel.modes[k] == ModeKind::Scratch) sum += rounded(captures[k - 2]);
  return sum;
}

KernelEntry::KernelEntry(const loops::Module& module, FunctionId kernel, const codegen::Options& options,
                         PlaceKind place)
    : module_(module), kernel_(kernel), options_(options), layouts_(module.core.types),
      unit_(unitOf(module, kernel)), emitter_(unit_, options_, layouts_, context_) {
  if (place == PlaceKind::Gpu) aimAtGpu(ir());
  emitter_.run();
  addEntry(place);
  leaveEntryAlone();
  llvm::StripDebugInfo(ir());
  llvm::raw_string_ostream out(problem);
  llvm::verifyModule(ir(), &out);
}

/// void run(turns, extent, scratch, failures, captures …): the turns of one thread.
void KernelEntry::addEntry(PlaceKind place) {
  const loops::Function& fn = module_.functions[kernel_];
  const size_t captureCount = fn.params().size() - 2;
  std::vector<llvm::Type*> params(FirstCapture + captureCount + (place == PlaceKind::Here), emitter_.i64());
  auto* entry =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context_), params, false),
                             llvm::Function::ExternalLinkage, symbol, ir());
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "", entry));
  llvm::Value* thread = entry->getArg(static_cast<unsigned>(params.size()) - 1);
  if (place == PlaceKind::Gpu) {
    entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
    auto read = [&](llvm::Intrinsic::ID id) {
      return b.CreateZExt(b.CreateIntrinsic(b.getInt32Ty(), id, {}), b.getInt64Ty());
    };
    thread = b.CreateAdd(b.CreateMul(read(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                                     read(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x)),
                         read(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
  }
  llvm::Value* begin = b.CreateMul(thread, entry->getArg(Turns));
  llvm::Value* end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(begin, entry->getArg(Turns)),
                                             entry->getArg(Extent));
  auto* some = llvm::BasicBlock::Create(context_, "some", entry);
  auto* none = llvm::BasicBlock::Create(context_, "none", entry);
  b.CreateCondBr(b.CreateICmpSLT(begin, end), some, none);
  llvm::ReturnInst::Create(context_, none);
  b.SetInsertPoint(some);
  std::vector<llvm::Value*> args{begin, end};
  for (llvm::Value* capture : captures(b, entry, thread, place)) args.push_back(capture);
  llvm::Value* at = b.CreateAdd(entry->getArg(Failures), b.CreateMul(thread, b.getInt64(failureBytes)));
  args.push_back(b.CreateIntToPtr(b.CreateAdd(at, b.getInt64(8)), emitter_.ptr()));
  llvm::Value* failed = b.CreateCall(emitter_.kernelOf(kernel_), args);
  b.CreateStore(failed, b.CreateIntToPtr(at, emitter_.ptr()));
  b.CreateRetVoid();
}

std::vector<llvm::Value*> KernelEntry::captures(llvm::IRBuilder<>& b, llvm::Function* entry,
                                                llvm::Value* thread, PlaceKind place) {
  const loops::Function& fn = module_.functions[kernel_];
  llvm::FunctionType* kernel = emitter_.kernelOf(kernel_)->getFunctionType();
  std::vector<llvm::Value*> out;
  std::vector<size_t> scratches;
  llvm::Value* bytes = b.getInt64(0); // of scratch in front
  for (unsigned k = 2; k < fn.params().size(); ++k) {
    llvm::Value* slot = entry->getArg(FirstCapture + k - 2);
    llvm::Type* type = kernel->getParamType(k);
    if (fn.modes[k] == ModeKind::Scratch) {
      scratches.push_back(out.size());
      out.push_back(bytes);
      bytes = b.CreateAdd(bytes, b.CreateAnd(b.CreateAdd(slot, b.getInt64(63)), b.getInt64(~uint64_t{63})));
    } else if (type->isPointerTy()) {
      out.push_back(b.CreateIntToPtr(slot, type));
    } else {
      llvm::Value* low = b.CreateTrunc(slot, b.getIntNTy(type->getPrimitiveSizeInBits()));
      out.push_back(b.CreateBitCast(low, type));
    }
  }
  if (scratches.empty()) return out;
  llvm::PointerType* pointer = llvm::PointerType::get(context_, options_.addressing.scratch);
  llvm::Value* own = nullptr;
  if (sharesScratch(options_, place)) {
    auto* shared = new llvm::GlobalVariable(ir(), llvm::ArrayType::get(b.getInt8Ty(), 0), false,
                                            llvm::GlobalValue::ExternalLinkage, nullptr, "scratch", nullptr,
                                            llvm::GlobalValue::NotThreadLocal, options_.addressing.scratch);
    shared->setAlignment(llvm::Align(64));
    own = shared;
  } else {
    own = b.CreateIntToPtr(b.CreateAdd(entry->getArg(Scratch), b.CreateMul(thread, bytes)), pointer);
  }
  for (size_t k : scratches) out[k] = b.CreateInBoundsGEP(b.getInt8Ty(), own, {out[k]});
  return out;
}

/// What launches kernels in a program, and may panic, has no place on a device.
void KernelEntry::leaveEntryAlone() {
  llvm::Function* launcher = emitter_.functionOf(kernel_);
  launcher->deleteBody();
  launcher->eraseFromParent();
  std::vector<llvm::Function*> unused;
  for (llvm::Function& f : ir())
    if (f.isDeclaration() && f.use_empty()) unused.push_back(&f);
  for (llvm::Function* f : unused) f->eraseFromParent();
}

} // namespace melix::device
