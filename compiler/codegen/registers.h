#pragma once
// Internal: instructions of AVX-512 on lanes that LLVM has no other name for. They take one register, so
// values in more lanes are split for them.

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IRBuilder.h>

#include <initializer_list>
#include <optional>

namespace melix::codegen {

/// How many lanes a vector has.
unsigned lanesOf(const llvm::Value* v);

/// One instruction by the bits of a register, with a mask and, of 512, a rounding mode.
struct RegisterOps {
  llvm::Intrinsic::ID of128, of256, of512;
};

/// The instruction on all lanes of two vectors of floats, with the byte in it, if it has one.
llvm::Value* inRegisters(llvm::IRBuilder<>& builder, const RegisterOps& ops,
                         std::initializer_list<llvm::Value*> operands, std::optional<uint32_t> byte);

/// An instruction of 512 bits only, which takes a rounding mode and no mask.
llvm::Value* inWholeRegisters(llvm::IRBuilder<>& builder, llvm::Intrinsic::ID op,
                              std::initializer_list<llvm::Value*> operands, uint32_t rounding);

} // namespace melix::codegen
