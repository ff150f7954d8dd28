#include "codegen/function_emitter.h"

#include "codegen/debug_info.h"
#include "codegen/emit_devices.h"
#include "codegen/emit_groups.h"
#include "melix/abi.h"

#include <llvm/IR/MDBuilder.h>

namespace melix::codegen {

using loops::FunctionKind;
using loops::StmtKind;

FunctionEmitter::FunctionEmitter(ModuleEmitter& module, loops::FunctionId id)
    : m_(module), fn_(module.unit.module.functions[id]), id_(id), b_(module.context) {}

void emitFunction(ModuleEmitter& module, loops::FunctionId f) { FunctionEmitter(module, f).run(); }

void FunctionEmitter::run() {
  switch (fn_.kind) {
  case FunctionKind::Orchestration: return emitOrchestration();
  case FunctionKind::Chunk: return emitChunk();
  case FunctionKind::Kernel:
  case FunctionKind::Device:
    emitKernel();
    if (fn_.kind == FunctionKind::Kernel) return emitKernelLauncher();
    return DeviceEmitter(*this).entry();
  }
}

/// Opens the body. Slots of the frame are put into a block of their own, which jumps to the body.
void FunctionEmitter::beginBody(llvm::Function* f) {
  function_ = f;
  values_.clear();
  m_.debug->beginFunction(f, fn_.name, fn_.loc);
  entry_ = block("entry");
  llvm::BasicBlock* body = block("body");
  b_.SetInsertPoint(entry_);
  b_.SetCurrentDebugLocation(llvm::DebugLoc());
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  b_.SetCurrentDebugLocation(m_.debug->nowhere());
}

void FunctionEmitter::emitOrchestration() {
  beginBody(m_.functionOf(id_));
  task_ = function_->getArg(0);
  for (size_t k = 0; k < fn_.params().size(); ++k)
    set(fn_.params()[k], function_->getArg(static_cast<unsigned>(k + 1)));
  Values results = region(fn_.body);
  if (results.empty()) {
    b_.CreateRetVoid();
  } else if (results.size() == 1) {
    b_.CreateRet(results[0]);
  } else {
    llvm::Value* all = llvm::PoisonValue::get(m_.resultOf(fn_));
    for (unsigned k = 0; k < results.size(); ++k) all = b_.CreateInsertValue(all, results[k], k);
    b_.CreateRet(all);
  }
}

/// Captures lie in a struct of the launching frame, each in 8 bytes.
void FunctionEmitter::emitChunk() {
  beginBody(m_.functionOf(id_));
  task_ = function_->getArg(0);
  const std::vector<ValueId>& params = fn_.params();
  set(params[0], function_->getArg(2));
  set(params[1], function_->getArg(3));
  for (size_t k = 2; k < params.size(); ++k) {
    llvm::Value* at = b_.CreateConstInBoundsGEP1_64(m_.i64(), function_->getArg(1), k - 2);
    set(params[k], capture(k, m_.typeOf(fn_.typeOf(params[k])), at));
  }
  region(fn_.body);
  b_.CreateRet(b_.getInt64(-1));
}

llvm::Value* FunctionEmitter::capture(size_t param, llvm::Type* type, llvm::Value* at) {
  llvm::LoadInst* read = b_.CreateLoad(type, at);
  if (const auto range = rangeOfParam(fn_, param)) {
    llvm::MDBuilder metadata(m_.context);
    read->setMetadata(llvm::LLVMContext::MD_range,
                      metadata.createRange(range->getLower(), range->getUpper()));
  }
  return read;
}

std::vector<const loops::Stmt*> checksOf(const loops::Function& kernel) {
  std::vector<const loops::Stmt*> out;
  for (const loops::Region& region : kernel.regions)
    for (loops::StmtId id : region.stmts)
      if (kernel.stmts[id].kind == StmtKind::Check) out.push_back(&kernel.stmts[id]);
  return out;
}

void FunctionEmitter::emitKernel() {
  checks_ = checksOf(fn_);
  kernel_ = true;
  task_ = nullptr;
  beginBody(m_.kernelOf(id_));
  for (size_t k = 0; k < fn_.params().size(); ++k)
    set(fn_.params()[k], function_->getArg(static_cast<unsigned>(k)));
  failRecord_ = function_->getArg(static_cast<unsigned>(fn_.params().size()));
  region(fn_.body);
  b_.CreateRet(b_.getInt64(-1));
}

/// In place of the bytes that are asked for stand addresses: one after the other, each in lines of the cache
/// of its own, in the memory of so many bytes.
void FunctionEmitter::giveScratch(Values& args, FunctionRef<llvm::Value*(llvm::Value*)> memory) {
  std::vector<std::pair<size_t, llvm::Value*>> begins; // and the bytes before
  llvm::Value* bytes = nullptr;
  for (size_t k = 2; k < args.size(); ++k) {
    if (fn_.modeOf(k) != loops::ModeKind::Scratch) continue;
    begins.emplace_back(k, bytes);
    if (bytes) bytes = wholePieces(bytes);
    begins.back().second = bytes;
    bytes = bytes ? b_.CreateAdd(bytes, args[k]) : args[k];
  }
  if (begins.empty()) return;
  llvm::Value* all = memory(bytes);
  all = b_.CreateAddrSpaceCast(all, llvm::PointerType::get(m_.context, m_.options.addressing.scratch));
  for (auto [k, front] : begins) args[k] = front ? b_.CreateInBoundsGEP(m_.i8(), all, {front}) : all;
}

llvm::Value* FunctionEmitter::wholePieces(llvm::Value* bytes) {
  constexpr uint64_t rest = MELIX_SCRATCH_ALIGN - 1;
  return b_.CreateAnd(b_.CreateAdd(bytes, b_.getInt64(rest)), b_.getInt64(~rest));
}

FunctionEmitter::Values FunctionEmitter::kernelArguments(llvm::Value* begin, llvm::Value* end,
                                                         llvm::Value* captures) {
  llvm::FunctionType* kernel = m_.kernelOf(id_)->getFunctionType();
  Values args{begin, end};
  for (unsigned k = 2; k < fn_.params().size(); ++k) {
    llvm::Value* at = b_.CreateConstInBoundsGEP1_64(m_.i64(), captures, k - 2);
    const bool isScratch = fn_.modes[k] == loops::ModeKind::Scratch;
    args.push_back(capture(k, isScratch ? m_.i64() : kernel->getParamType(k), at));
  }
  return args;
}

void FunctionEmitter::panicOfCheck(const std::vector<const Stmt*>& checks, llvm::Value* number,
                                   llvm::Value* numbers) {
  llvm::BasicBlock* done = block("done");
  auto* which = b_.CreateSwitch(number, done);
  for (size_t k = 0; k < checks.size(); ++k) {
    llvm::BasicBlock* at = block("failed");
    which->addCase(b_.getInt64(k), at);
    b_.SetInsertPoint(at);
    b_.SetCurrentDebugLocation(m_.debug->location(checks[k]->loc));
    panicFormat(checks[k]->as<loops::Message>().text, numbers,
                std::min<size_t>(checks[k]->operands.size() - 1, MELIX_CHECK_NUMBERS));
    b_.CreateUnreachable();
  }
  b_.SetInsertPoint(done);
  b_.SetCurrentDebugLocation(m_.debug->nowhere());
}

/// The chunk function of a kernel: what the kernel says has failed becomes a panic here.
void FunctionEmitter::emitKernelLauncher() {
  kernel_ = false;
  beginBody(m_.functionOf(id_));
  task_ = function_->getArg(0);
  Values args = kernelArguments(function_->getArg(2), function_->getArg(3), function_->getArg(1));
  giveScratch(args, [&](llvm::Value* bytes) {
    return call(runtime("melix_scratch", m_.ptr(), {m_.ptr(), m_.i64()}), {task_, bytes});
  });
  llvm::Value* numbers = slot(8 * MELIX_CHECK_NUMBERS);
  args.push_back(numbers);
  panicOfCheck(checks_, b_.CreateCall(m_.kernelOf(id_), args), numbers);
  b_.CreateRet(b_.getInt64(-1));
}

llvm::Value* FunctionEmitter::slot(uint64_t bytes) {
  llvm::IRBuilder<> at(entry_, entry_->begin());
  auto* made = at.CreateAlloca(llvm::ArrayType::get(m_.i8(), bytes));
  made->setAlignment(llvm::Align(bytes < 64 ? slotAlign : 64)); // a vector register in one line of the cache
  if (panicFollows_) b_.CreateLifetimeStart(made);
  return made;
}

llvm::Value* FunctionEmitter::generic(llvm::Value* v) {
  if (!v->getType()->isPtrOrPtrVectorTy()) return v;
  return b_.CreateAddrSpaceCast(v, v->getType()->getWithNewType(m_.ptr()));
}

llvm::CallInst* FunctionEmitter::call(llvm::FunctionCallee callee, llvm::ArrayRef<llvm::Value*> args) {
  llvm::CallInst* made = b_.CreateCall(callee, args);
  made->addFnAttr(llvm::Attribute::NoMerge);
  return made;
}

FunctionEmitter::Values FunctionEmitter::region(loops::RegionId r) {
  const std::vector<loops::StmtId>& stmts = fn_.regions[r].stmts;
  const bool panics = std::any_of(stmts.begin(), stmts.end(),
                                  [this](loops::StmtId id) { return fn_.stmts[id].kind == StmtKind::Panic; });
  const bool outer = std::exchange(panicFollows_, panics);
  Values out;
  for (loops::StmtId id : stmts) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind == StmtKind::Yield) {
      for (ValueId v : s.operands) out.push_back(generic(value(v)));
      break;
    }
    b_.SetCurrentDebugLocation(m_.debug->location(s.loc));
    statement(s);
  }
  panicFollows_ = outer;
  return out;
}

void FunctionEmitter::emitScalar(const Stmt& s) {
  Values operands;
  for (ValueId v : s.operands) operands.push_back(value(v));
  setResult(s, ops_.apply(s.as<loops::ScalarAttr>(), operands, fn_.typeOf(s.results[0]).scalar));
}

void FunctionEmitter::statement(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Const: return setResult(s, ops_.constant(fn_.typeOf(s.results[0]), s.as<uint64_t>()));
  case StmtKind::Text: return setResult(s, m_.text(s.as<std::string>()));
  case StmtKind::Scalar: return emitScalar(s);
  case StmtKind::PointerOf: return setResult(s, value(s.operands[0]));
  case StmtKind::Descriptor: return setResult(s, m_.descriptor(s.as<types::TypeId>()));
  case StmtKind::Load: return emitLoad(s);
  case StmtKind::Store: return emitStore(s);
  case StmtKind::AddressOf: return setResult(s, address(s, s.operands.size()));
  case StmtKind::Scratch: return setResult(s, slot(s.as<uint64_t>()));
  case StmtKind::CopyBytes:
    b_.CreateMemCpy(generic(value(s.operands[0])), alignOf(s.operands[0]), generic(value(s.operands[1])),
                    alignOf(s.operands[1]), value(s.operands[2]));
    return;
  case StmtKind::ZeroBytes:
    b_.CreateMemSet(generic(value(s.operands[0])), b_.getInt8(0), value(s.operands[1]), llvm::Align(1));
    return;
  case StmtKind::FrameArray: return emitFrameArray(s);
  case StmtKind::AllocArray: return emitAllocArray(s);
  case StmtKind::AllocNode: return emitAllocNode(s);
  case StmtKind::Retain:
  case StmtKind::Drop: return emitCount(s);
  case StmtKind::EnsureUnique: return emitEnsureUnique(s);
  case StmtKind::KeepAlive: return;
  case StmtKind::BlackBox: return emitBlackBox(s);
  case StmtKind::Acquire:
  case StmtKind::AcquireUpdate:
  case StmtKind::Undefine:
  case StmtKind::Clear:
  case StmtKind::DeviceCopy:
  case StmtKind::Fetch:
  case StmtKind::Put: return DeviceEmitter(*this).statement(s);
  case StmtKind::Thread:
  case StmtKind::Shared:
  case StmtKind::Barrier:
  case StmtKind::Shuffle: return GroupEmitter(*this).statement(s);
  case StmtKind::Call: return emitCall(s);
  case StmtKind::Builtin: return emitBuiltin(s);
  case StmtKind::Runtime: return emitRuntimeCall(s);
  case StmtKind::Format: return emitFormat(s);
  case StmtKind::Tag: return emitTag(s);
  case StmtKind::Check: return emitCheck(s);
  case StmtKind::Panic: return emitPanic(s);
  case StmtKind::If: return emitIf(s);
  case StmtKind::Switch: return emitSwitch(s);
  case StmtKind::For: return emitFor(s);
  case StmtKind::While: return emitWhile(s);
  case StmtKind::Launch: return emitLaunch(s);
  case StmtKind::Yield: return;
  }
}

} // namespace melix::codegen
