// The passes before code generation. Loops makes the code as it should run, in lanes and rows, so there is no
// vectoriser or unroller of loops, but in the twin that tests compare with (Options::vectorise); these clean
// up, and pack what loops do to small arrays. No pass may change the bits of a float: none is allowed to, as
// no fast-math flag is set.
#include "codegen/pack_carries.h"
#include "codegen/sanitize.h"
#include "codegen/target.h"
#include "codegen/vectorise.h"

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace melix::codegen {
namespace {

/// Some of the passes after instruction selection take time that grows with the square of a function: beyond
/// this many instructions these are left out.
constexpr unsigned mostInstructions = 16'384;

void keepLongFunctionsPlain(llvm::Module& module) {
  for (llvm::Function& f : module) {
    if (f.getInstructionCount() <= mostInstructions) continue;
    f.removeFnAttr(llvm::Attribute::AlwaysInline);
    f.addFnAttr(llvm::Attribute::NoInline);
    f.addFnAttr(llvm::Attribute::OptimizeNone);
  }
}

} // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager groups;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(groups);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, groups, modules);

  if (sanitizesPrograms) markSanitized(module);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  if (options.optimise) {
    llvm::FunctionPassManager each;
    each.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    each.addPass(llvm::EarlyCSEPass(true));
    each.addPass(llvm::SimplifyCFGPass());
    each.addPass(llvm::InstCombinePass());
    each.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
    each.addPass(llvm::EarlyCSEPass(true));
    each.addPass(llvm::InstCombinePass());
    each.addPass(llvm::SimplifyCFGPass());
    each.addPass(llvm::LoopSimplifyPass()); // blocks before loops, for what code generation hoists
    if (options.target != TargetKind::Gpu) addPacker(each);
    if (options.vectorise) addVectoriser(each);
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
  }
  passes.run(module, modules);
  keepLongFunctionsPlain(module);
  if (sanitizesPrograms) sanitize(module);
}

} // namespace melix::codegen
