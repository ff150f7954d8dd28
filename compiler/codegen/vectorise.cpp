#include "codegen/vectorise.h"

#include "codegen/target.h"

#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

namespace melix::codegen {
namespace {

struct OnNests : llvm::PassInfoMixin<OnNests> {
  llvm::FunctionPassManager inner;

  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
    return f.hasFnAttribute(runsNests) ? inner.run(f, analyses) : llvm::PreservedAnalyses::all();
  }
};

} // namespace

void addVectoriser(llvm::FunctionPassManager& passes) {
  OnNests nests;
  nests.inner.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  // Interleaving is a tenth of the time and a third of the code for little.
  nests.inner.addPass(
      llvm::LoopVectorizePass(llvm::LoopVectorizeOptions(/*InterleaveOnlyWhenForced=*/true, false)));
  nests.inner.addPass(llvm::EarlyCSEPass());
  nests.inner.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  nests.inner.addPass(llvm::SimplifyCFGPass());
  passes.addPass(std::move(nests));
}

} // namespace melix::codegen
