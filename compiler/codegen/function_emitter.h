#pragma once
// Internal: emits one function of Loops as LLVM IR. One file for each group of statements: emit_memory,
// emit_control, emit_runtime. LaneEmitter emits vectorised loops, DeviceEmitter statements for devices,
// GroupEmitter statements of groups of threads.

#include "codegen/scalar_ops.h"

#include <unordered_map>

namespace melix::codegen {

/// The checks of a kernel, whose places here are the numbers that it gives.
std::vector<const loops::Stmt*> checksOf(const loops::Function& kernel);

class FunctionEmitter {
public:
  FunctionEmitter(ModuleEmitter& module, loops::FunctionId id);
  void run();

private:
  friend class LaneEmitter;
  friend class DeviceEmitter;
  friend class GroupEmitter;
  friend void emitLanes(FunctionEmitter& host, const loops::Stmt& loop);
  using Stmt = loops::Stmt;
  using ValueId = loops::ValueId;
  using Values = std::vector<llvm::Value*>;

  llvm::Value* value(ValueId v) const { return values_.at(v.index); }
  void set(ValueId v, llvm::Value* x) { values_[v.index] = x; }
  void setResult(const Stmt& s, llvm::Value* x) { set(s.results[0], x); }
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(m_.context, name, function_); }
  static constexpr uint64_t slotAlign = 16;
  /// A slot of the frame, made once at the function's start. Slots of messages share their memory: where a
  /// panic follows, a slot lives from here on only.
  llvm::Value* slot(uint64_t bytes);
  /// A call that a panic may come out of: each keeps its own return address, which the trace finds the place
  /// by.
  llvm::CallInst* call(llvm::FunctionCallee callee, llvm::ArrayRef<llvm::Value*> args);
  llvm::FunctionCallee runtime(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> params) {
    return m_.runtime(name, result, params);
  }
  void beginBody(llvm::Function* f);
  /// Casts a pointer to the generic space: pointers that are chosen between, passed on or stored are generic.
  llvm::Value* generic(llvm::Value* v);
  /// A number, or a vector of numbers, as one that counts in memory.
  llvm::Value* index(llvm::Value* v) { return b_.CreateTrunc(v, v->getType()->getWithNewType(m_.index())); }

  void emitKernel();
  void emitChunk(); ///< task, captures, begin, end
  void emitKernelLauncher();
  /// The arguments of a kernel for `begin`, `end` and captures in memory.
  Values kernelArguments(llvm::Value* begin, llvm::Value* end, llvm::Value* captures);
  /// Panics with the message of the check of that number, if it is one.
  void panicOfCheck(const std::vector<const Stmt*>& checks, llvm::Value* number, llvm::Value* numbers);
  /// The value that a launch gives for a parameter.
  llvm::Value* capture(size_t param, llvm::Type* type, llvm::Value* at);
  void giveScratch(Values& args, FunctionRef<llvm::Value*(llvm::Value* bytes)> memory);
  /// Bytes of scratch up to where the next piece begins.
  llvm::Value* wholePieces(llvm::Value* bytes);
  void emitOrchestration();

  /// Statements of a region; values of its yield.
  Values region(loops::RegionId r);
  void statement(const Stmt& s);

  // emit_memory.cpp
  llvm::Align alignOf(ValueId pointer) const;
  llvm::Value* address(const Stmt& s, size_t operandCount);
  void emitLoad(const Stmt& s);
  void emitStore(const Stmt& s);
  std::optional<int64_t> knownBytes(const Stmt& alloc);
  void emitAllocArray(const Stmt& s);
  void emitFrameArray(const Stmt& s);
  void emitAllocNode(const Stmt& s);
  void emitEnsureUnique(const Stmt& s);
  void emitCount(const Stmt& s);
  void emitTag(const Stmt& s);
  void emitBlackBox(const Stmt& s);

  // emit_control.cpp
  void emitIf(const Stmt& s);
  void emitSwitch(const Stmt& s);
  /// Goes to one of the blocks of a switch's regions.
  void goByNumber(const Stmt& s, llvm::ArrayRef<llvm::BasicBlock*> blocks);
  void emitFor(const Stmt& s);
  /// Emits the iterations from `begin` on with these carried values; gives the final carried values.
  Values emitIterations(const Stmt& s, llvm::Value* begin, Values carried);
  void emitScalar(const Stmt& s);
  void emitWhile(const Stmt& s);
  void emitCall(const Stmt& s);
  /// The results of the callee for these arguments.
  Values resultsOf(const Stmt& call, Values args);
  void emitLaunch(const Stmt& s);
  void poll();
  void merge(const Stmt& s, llvm::BasicBlock* join,
             const std::vector<std::pair<llvm::BasicBlock*, Values>>& ends);

  // emit_runtime.cpp
  void emitCheck(const Stmt& s);
  void emitPanic(const Stmt& s);
  void panicFormat(const std::string& text, llvm::Value* numbers, size_t count);
  void emitBuiltin(const Stmt& s);
  void emitFormat(const Stmt& s);
  void emitRuntimeCall(const Stmt& s);
  llvm::Value* listLength(llvm::Value* list);
  llvm::Value* listPush(llvm::Value* slot, types::TypeId elem);
  void listReserve(llvm::Value* slot, types::TypeId elem, llvm::Value* capacity);
  llvm::Value* hasRoom(llvm::Value* list, llvm::Value* capacity);

  ModuleEmitter& m_;
  const loops::Function& fn_;
  loops::FunctionId id_;
  llvm::IRBuilder<> b_;
  ScalarOps ops_{m_, b_};
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr; ///< holds slots only
  llvm::Value* task_ = nullptr;       ///< null in a kernel
  llvm::Value* failRecord_ = nullptr; ///< of a kernel
  bool kernel_ = false;
  std::vector<const Stmt*> checks_; ///< of a kernel
  std::unordered_map<uint32_t, llvm::Value*> values_;
  bool panicFollows_ = false; ///< in the region that is being written
  unsigned merged_ = 0;       ///< calls of functions that are merged into this one
};

} // namespace melix::codegen
