#pragma once
// Internal: finds places where a NaN needs no care. No program sees a NaN's sign or payload, so code that
// looks at bits of floats replaces every NaN by one, which costs two instructions. These facts save them.

#include <llvm/IR/IRBuilder.h>

namespace melix::codegen {

/// Whether `v` is NaN in each lane in which `x` is, as far as the ops above it tell.
bool isNanWith(const llvm::Value* v, const llvm::Value* x);

/// Bits that are to become a float. If they are the bits of a float with at most the sign changed, the result
/// uses the float itself, before its NaN was replaced. A NaN stays one.
llvm::Value* withNansAsTheyAre(llvm::Value* bits, llvm::IRBuilder<>& builder);

} // namespace melix::codegen
