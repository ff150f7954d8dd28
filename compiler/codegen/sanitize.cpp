#include "codegen/sanitize.h"

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>

namespace melix::codegen {

#ifdef MELIX_SANITIZE_PROGRAMS
const bool sanitizesPrograms = true;
#else
const bool sanitizesPrograms = false;
#endif

/// Constants are left as they are: elements of arrays are copied from them first, as many as there are. In
/// front of a call that does not return the pass would clear the whole stack, of which its library knows
/// nothing; the runtime does that for the frames that a panic leaves.
void markSanitized(llvm::Module& module) {
  for (llvm::Function& f : module) {
    if (f.isDeclaration())
      f.removeFnAttr(llvm::Attribute::NoReturn);
    else
      f.addFnAttr(llvm::Attribute::SanitizeAddress);
  }
  for (llvm::GlobalVariable& global : module.globals()) global.setNoSanitizeMetadata();
}

void sanitize(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager groups;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(groups);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, groups, modules);
  llvm::AddressSanitizerOptions options;
  options.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
  options.InstrumentationWithCallsThreshold =
      0; // else a branch for each lane, which takes minutes to compile
  llvm::AddressSanitizerPass(options, false, false, llvm::AsanDtorKind::None, llvm::AsanCtorKind::None)
      .run(module, modules);
}

} // namespace melix::codegen
