#pragma once
// The address sanitizer in compiled programs: LLVM's pass asks in front of each access, and puts room around the
// arrays of frames.

namespace llvm {
class Module;
} // namespace llvm

namespace melix::codegen {

/// Whether programs are made with it (the build option MELIX_SANITIZE_PROGRAMS). They want its functions, whose
/// names begin with `__asan_`, and the runtime that poisons what lies between blocks.
extern const bool sanitizesPrograms;

/// Says in front of all other passes that the accesses of all functions are to be asked for: none may be moved to
/// where it would not have been made.
void markSanitized(llvm::Module& module);

/// Runs LLVM's pass, behind which nothing may take accesses together. Requires: marked.
void sanitize(llvm::Module& module);

} // namespace melix::codegen
