#include "loops/frame_arrays.h"

#include "core/call_graph.h"
#include "loops/element_params.h"
#include "loops/local_blocks.h"

namespace melix::loops {

namespace {

constexpr uint64_t mostElements = 64;
constexpr uint64_t mostBytes = 4096, mostOfRecursion = 256; ///< in all the arrays of a frame

class FramePlacer {
public:
  FramePlacer(const Module& module, Function& fn, const ElementParams& params, uint64_t bytes)
      : fn_(fn), params_(params), blocks_(module, fn), left_(bytes) {}

  void run(RegionId region) {
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
      if (const uint64_t bytes = smallBytes(id); bytes > 0 && bytes <= left_) place(id, bytes);
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

  void place(StmtId id, uint64_t bytes) {
    const auto block = blocks_.follow(id, [&](FunctionId callee, size_t k) { return params_(callee, k); });
    if (!block) return;
    left_ -= bytes;
    Stmt& s = fn_.stmts[id];
    blocks_.release(*block, s.results[0]);
    AllocAttr attr = s.as<AllocAttr>();
    attr.bytes = bytes;
    s.kind = StmtKind::FrameArray;
    s.operands.clear();
    s.attr = attr;
  }

  Function& fn_;
  const ElementParams& params_;
  LocalBlocks blocks_;
  uint64_t left_; ///< bytes of the frame that may still be used
};

} // namespace

void placeInFrames(Module& module) {
  const ElementParams params(module);
  const core::CallGraph calls(module.core);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    const bool recursive = fn.source.valid() && calls.isRecursive(fn.source);
    const uint64_t bytes = recursive ? mostOfRecursion : mostBytes;
    FramePlacer(module, fn, params, bytes).run(fn.body);
  }
}

} // namespace melix::loops
