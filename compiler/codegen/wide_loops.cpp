#include "codegen/wide_loops.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>

namespace melix::codegen {

using loops::StmtKind;

namespace {

/// Whether a lane can do what stands in a region.
bool isPlain(const loops::Function& fn, loops::RegionId region) {
  return std::ranges::all_of(fn.regions[region].stmts, [&](loops::StmtId id) {
    const loops::Stmt& s = fn.stmts[id];
    switch (s.kind) {
    case StmtKind::For:
    case StmtKind::While:
    case StmtKind::Check:
    case StmtKind::Panic:
    case StmtKind::CopyBytes:
    case StmtKind::ZeroBytes: return false;
    default: return std::ranges::all_of(s.regions, [&](loops::RegionId r) { return isPlain(fn, r); });
    }
  });
}

} // namespace

bool isWide(const loops::Function& fn, const loops::Stmt& loop) {
  if (loop.as<loops::ForAttr>().mark != loops::MarkKind::Points) return false;
  const loops::Region& body = fn.regions[loop.regions[0]];
  const std::vector<loops::ValueId>& next = fn.stmts[body.stmts.back()].operands;
  for (size_t k = 0; k < next.size(); ++k) {
    const loops::ValueType type = fn.typeOf(next[k]);
    const bool isExact = type.cls == loops::ClassKind::Scalar && !types::isFloatKind(type.scalar);
    if (!isExact && next[k] != body.params[k + 1]) return false;
  }
  return isPlain(fn, loop.regions[0]);
}

void adviseVectoriser(llvm::BranchInst& backEdge, bool wide) {
  llvm::LLVMContext& context = backEdge.getContext();
  // A rest by lanes that are off is a third of the code of a scalar loop for it.
  llvm::Metadata* what = llvm::MDString::get(context, wide ? "llvm.loop.vectorize.predicate.enable"
                                                           : "llvm.loop.vectorize.enable");
  llvm::Metadata* on = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getBool(context, wide));
  llvm::MDNode* advice =
      llvm::MDNode::getDistinct(context, {nullptr, llvm::MDNode::get(context, {what, on})});
  advice->replaceOperandWith(0, advice); // so it is told from that of any other loop
  backEdge.setMetadata(llvm::LLVMContext::MD_loop, advice);
}

} // namespace melix::codegen
