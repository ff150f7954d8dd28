#include "loops/ownership/stack_allocation.h"

#include "core/ir/call_graph.h"
#include "loops/analysis/local_allocations.h"

namespace melix::loops {

namespace {

constexpr uint64_t mostElements = 64;
constexpr uint64_t mostBytes = 4096, mostOfRecursion = 256;    ///< in all the arrays of a frame
constexpr uint64_t mostOfBounded = 8192, mostBounded = 32'768; ///< of one whose size is bounded, and of all

class FramePlacer {
public:
  FramePlacer(const Module& module, Function& fn, bool recursive)
      : module_(module), fn_(fn), blocks_(module, fn), left_(recursive ? mostOfRecursion : mostBytes),
        bounded_(recursive ? 0 : mostBounded) {}

  void run(RegionId region) {
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
      if (const uint64_t bytes = smallBytes(id); bytes > 0 && bytes <= left_)
        place(id, bytes, left_);
      else if (const uint64_t most = boundedBytes(id); most > 0 && most <= bounded_)
        place(id, most, bounded_);
    }
  }

private:
  /// 0: no array, or of no small and constant size.
  uint64_t smallBytes(StmtId id) const {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::AllocArray) return 0;
    const std::optional<uint64_t> bytes = knownBytes(fn_, s);
    return bytes && *bytes <= mostElements * s.as<AllocAttr>().bytes ? *bytes : 0;
  }

  /// Of an array of one axis that is no longer than a number, as what blocks of a sum leave behind. All of
  /// one that begins with zeros would be cleared.
  uint64_t boundedBytes(StmtId id) const {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::AllocArray || s.as<AllocAttr>().zeroed || s.operands.size() != 1 ||
        fn_.typeOf(s.operands[0]).counted())
      return 0;
    const StmtId def = fn_.values[s.operands[0]].def;
    if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return 0;
    const Stmt& extent = fn_.stmts[def];
    if (extent.as<ScalarAttr>().op != core::OpKind::Min) return 0;
    for (ValueId v : extent.operands) {
      const uint64_t* most = asConstant(fn_, v);
      const uint64_t bytes = s.as<AllocAttr>().bytes;
      if (most && *most <= mostOfBounded && *most * bytes <= mostOfBounded) return *most * bytes;
    }
    return 0;
  }

  void place(StmtId id, uint64_t bytes, uint64_t& left) {
    const auto block = blocks_.follow(id, [&](FunctionId callee, size_t k) {
      return usesOnlyElements(module_.functions[callee].modeOf(k));
    });
    if (!block) return;
    left -= bytes;
    Stmt& s = fn_.stmts[id];
    blocks_.release(*block, s.results[0]);
    AllocAttr attr = s.as<AllocAttr>();
    attr.bytes = bytes;
    s.kind = StmtKind::FrameArray;
    s.operands.clear();
    s.attr = attr;
  }

  const Module& module_;
  Function& fn_;
  LocalBlocks blocks_;
  uint64_t left_, bounded_; ///< bytes of the frame that may still be used
};

} // namespace

void promoteToStack(Module& module) {
  const core::CallGraph calls(module.core);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    const bool recursive = fn.source.valid() && calls.isRecursive(fn.source);
    FramePlacer(module, fn, recursive).run(fn.body);
  }
}

} // namespace melix::loops
