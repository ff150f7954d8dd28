#include "codegen/pack_carries.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Vectorize/SLPVectorizer.h>

#include <algorithm>

namespace melix::codegen {
namespace {

bool carriesArray(const llvm::Loop& loop) {
  unsigned floats = 0, doubles = 0;
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    floats += phi.getType()->isFloatTy();
    doubles += phi.getType()->isDoubleTy();
  }
  return std::max(floats, doubles) >= fewestPacked;
}

struct PackCarries : llvm::PassInfoMixin<PackCarries> {
  llvm::SLPVectorizerPass pack;

  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
    const auto loops = analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder();
    const bool any = std::ranges::any_of(loops, [](const llvm::Loop* loop) { return carriesArray(*loop); });
    return any ? pack.run(f, analyses) : llvm::PreservedAnalyses::all();
  }
};

} // namespace

void addPacker(llvm::FunctionPassManager& passes) { passes.addPass(PackCarries{}); }

} // namespace melix::codegen
