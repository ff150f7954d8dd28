#pragma once
// Runs the address sanitizer on compiled programs: LLVM's pass emits a check before each access, and puts red
// zones around the arrays of frames.

namespace llvm {
class Module;
} // namespace llvm

namespace melix::codegen {

/// Whether programs are made with it (the build option MELIX_SANITIZE_PROGRAMS). Such programs need its
/// functions, whose names begin with `__asan_`, and the runtime that poisons the memory between blocks.
extern const bool sanitizesPrograms;

/// Marks all functions for checked accesses, before all other passes: no access may be moved to where it
/// would not have been made.
void markSanitized(llvm::Module& module);

/// Runs LLVM's pass; no later pass may combine accesses. Requires: marked.
void sanitize(llvm::Module& module);

} // namespace melix::codegen
