#pragma once
// Internal: where a NaN needs no care. No program sees a NaN's sign or payload, so what looks at bits of
// floats takes all NaN for one, which costs two instructions: what is known here saves them.

#include <llvm/IR/IRBuilder.h>

namespace melix::codegen {

/// Whether `v` is NaN in each lane in which `x` is, as far as the ops above it tell.
bool isNanWith(const llvm::Value* v, const llvm::Value* x);

/// Bits that are to become a float: where they are those of a float with no more than the sign changed, then
/// of the float itself, before its NaN was replaced. A NaN stays one.
llvm::Value* withNansAsTheyAre(llvm::Value* bits, llvm::IRBuilder<>& builder);

} // namespace melix::codegen
