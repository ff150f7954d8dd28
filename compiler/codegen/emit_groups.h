#pragma once
// Internal: emits the statements of groups of threads, for a GPU or for the emulated device.

#include "codegen/function_emitter.h"

namespace melix::codegen {

class GroupEmitter {
public:
  explicit GroupEmitter(FunctionEmitter& kernel) : kernel_(kernel), m_(kernel.m_), b_(kernel.b_) {}

  /// A statement of the group for groups in stmts.def.
  void statement(const loops::Stmt& s);
  /// The function by which the emulated device runs a kernel for groups, of which `thread` runs one thread.
  void emulatedEntry(llvm::Function* entry, llvm::Function* thread);

private:
  bool isGpu() const { return m_.options.target == TargetKind::Gpu; }
  uint64_t threads() const { return kernel_.fn_.points.threads; }
  llvm::Value* thread();
  llvm::Value* shared(const loops::Stmt& s);
  void barrier(const loops::Stmt& s);
  llvm::Value* shuffle(const loops::Stmt& s);
  llvm::Value* shuffleWord(llvm::Value* half, uint64_t distance);
  llvm::Value* number(const loops::Stmt& s);

  FunctionEmitter& kernel_;
  ModuleEmitter& m_;
  llvm::IRBuilder<>& b_;
};

} // namespace melix::codegen
