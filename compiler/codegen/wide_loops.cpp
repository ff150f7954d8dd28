#include "codegen/wide_loops.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <optional>

namespace melix::codegen {

using loops::StmtKind;

namespace {

/// Whether a lane can do what stands in a region.
bool isPlain(const loops::Function& fn, loops::RegionId region) {
  return std::ranges::all_of(fn.regions[region].stmts, [&](loops::StmtId id) {
    const loops::Stmt& s = fn.stmts[id];
    switch (s.kind) {
    case StmtKind::Const:
    case StmtKind::Scalar:
    case StmtKind::PointerOf:
    case StmtKind::AddressOf:
    case StmtKind::Load:
    case StmtKind::Store:
    case StmtKind::Scratch:
    case StmtKind::KeepAlive:
    case StmtKind::Call: // of a closed function, else the vectoriser leaves the loop alone
    case StmtKind::If:
    case StmtKind::Switch:
    case StmtKind::Tag:
    case StmtKind::Yield:
      return std::ranges::all_of(s.regions, [&](loops::RegionId r) { return isPlain(fn, r); });
    default: return false;
    }
  });
}

/// Whether a region writes to memory of the frame.
bool writesToFrame(const loops::Function& fn, loops::RegionId region) {
  return std::ranges::any_of(fn.regions[region].stmts, [&](loops::StmtId id) {
    const loops::Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::Store) {
      const loops::StmtId base = fn.values[s.operands[0]].def;
      return base.valid() && fn.stmts[base].kind == StmtKind::Scratch;
    }
    return std::ranges::any_of(s.regions, [&](loops::RegionId r) { return writesToFrame(fn, r); });
  });
}

/// Whether floats are carried from turn to turn.
bool sumsFloats(const loops::Function& fn, const loops::Stmt& loop) {
  const loops::Region& body = fn.regions[loop.regions[0]];
  const std::vector<loops::ValueId>& next = fn.stmts[body.stmts.back()].operands;
  for (size_t k = 0; k < next.size(); ++k) {
    const loops::ValueType type = fn.typeOf(next[k]);
    const bool isExact = type.cls == loops::ClassKind::Scalar && !types::isFloatKind(type.scalar);
    if (!isExact && next[k] != body.params[k + 1]) return true;
  }
  return false;
}

/// The turns of a loop, if they are known.
std::optional<uint64_t> turnsOf(const loops::Function& fn, const loops::Stmt& loop) {
  auto constant = [&](loops::ValueId v) -> const uint64_t* {
    const loops::StmtId def = fn.values[v].def;
    const bool isConst = def.valid() && fn.stmts[def].kind == StmtKind::Const;
    return isConst ? &fn.stmts[def].as<uint64_t>() : nullptr;
  };
  const uint64_t *first = constant(loop.operands[0]), *end = constant(loop.operands[1]);
  return first && end ? std::optional(*end - *first) : std::nullopt;
}

} // namespace

WidthKind widthOf(const loops::Function& fn, const loops::Stmt& loop) {
  const bool isWide = loop.as<loops::ForAttr>().mark == loops::MarkKind::Points && !sumsFloats(fn, loop) &&
                      isPlain(fn, loop.regions[0]);
  if (!isWide) return WidthKind::Scalar;
  constexpr uint64_t few = 16, lanes = 8;
  const std::optional<uint64_t> turns = turnsOf(fn, loop);
  if (turns && *turns < few && *turns % lanes != 0) return WidthKind::Scalar;
  return writesToFrame(fn, loop.regions[0]) ? WidthKind::WithRest : WidthKind::Masked;
}

void adviseVectoriser(llvm::BranchInst& backEdge, WidthKind width) {
  if (width == WidthKind::WithRest) return; // what it does by itself
  llvm::LLVMContext& context = backEdge.getContext();
  const bool masked = width == WidthKind::Masked;
  llvm::Metadata* what = llvm::MDString::get(context, masked ? "llvm.loop.vectorize.predicate.enable"
                                                             : "llvm.loop.vectorize.enable");
  llvm::Metadata* on = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getBool(context, masked));
  llvm::MDNode* advice =
      llvm::MDNode::getDistinct(context, {nullptr, llvm::MDNode::get(context, {what, on})});
  advice->replaceOperandWith(0, advice); // so it is told from that of any other loop
  backEdge.setMetadata(llvm::LLVMContext::MD_loop, advice);
}

} // namespace melix::codegen
