#pragma once
// Internal: emits launches on a device, and statements of the host for arrays that a device may have.

#include "codegen/function_emitter.h"

namespace melix::codegen {

class DeviceEmitter {
public:
  explicit DeviceEmitter(FunctionEmitter& host) : host_(host), m_(host.m_), b_(host.b_) {}

  /// A statement of the group for devices in stmts.def.
  void statement(const loops::Stmt& s);
  /// The function by which a device runs this one, a kernel that is emitted (MelixKernel).
  void entry();
  /// Panics where a check of the kernel fails. `captures`: the words of the operands after extent and work,
  /// in memory.
  void launch(const loops::Stmt& s, llvm::Value* captures);
  /// Memory of the frame with the header of a block, of which the host's copy is valid.
  llvm::Value* frameBlock(uint64_t bytes);

private:
  llvm::Value* validCopies(llvm::Value* data);
  void acquire(const loops::Stmt& s);
  void gpuEntry();
  FunctionEmitter::Values entryArguments(llvm::Function* entry, llvm::Value* piece);
  llvm::Function* noteFailure();
  llvm::Value* threadNumber();
  llvm::Value* fromWord(llvm::Value* word, llvm::Type* type);
  void setValidCopies(const loops::Stmt& s, uint16_t valid);
  void callRuntime(const char* name, const loops::Stmt& s);

  FunctionEmitter& host_;
  ModuleEmitter& m_;
  llvm::IRBuilder<>& b_;
};

} // namespace melix::codegen
