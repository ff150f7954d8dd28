#include "loops/kernels/large_scratch.h"

#include "loops/ir/clone.h"

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t mostScratch = 1 << 26; ///< bytes of a thread

class LaunchChooser {
public:
  LaunchChooser(Function& caller, const std::unordered_map<FunctionId, ChunkBefore>& kernels)
      : caller_(caller), kernels_(kernels) {}

  void region(RegionId r) {
    for (size_t k = 0; k < caller_.regions[r].stmts.size(); ++k) {
      const StmtId id = caller_.regions[r].stmts[k];
      const std::vector<RegionId> inner = caller_.stmts[id].regions;
      for (RegionId each : inner) region(each);
      if (caller_.stmts[id].kind != StmtKind::Launch) continue;
      if (auto found = kernels_.find(caller_.stmts[id].as<FunctionId>()); found != kernels_.end())
        k = choose(id, found->second, r, k);
    }
  }

private:
  /// Returns where the choice stands.
  size_t choose(StmtId id, const ChunkBefore& before, RegionId home, size_t place) {
    const Stmt launch = caller_.stmts[id];
    const auto scratch = launch.operands.end() - static_cast<std::ptrdiff_t>(before.arrays);
    Builder b(caller_);
    b.loc = launch.loc;
    const RegionId made = b.begin();
    ValueId isSmall = b.boolean(true);
    for (auto bytes = scratch; bytes != launch.operands.end(); ++bytes)
      isSmall = b.both(isSmall, b.compare(CmpKind::Le, *bytes, b.integer(mostScratch)));
    const RegionId kernel = b.begin();
    b.stmt(StmtKind::Launch, launch.operands, {}, launch.as<FunctionId>());
    b.end();
    const RegionId chunk = b.begin();
    b.stmt(StmtKind::Launch, {launch.operands.begin(), scratch}, {}, before.chunk);
    b.end();
    b.stmt(StmtKind::If, {isSmall}, {}, {}, {kernel, chunk});
    b.end();
    std::vector<StmtId>& stmts = caller_.regions[home].stmts;
    stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(place));
    splice(caller_, made, home, place);
    return place + caller_.regions[made].stmts.size() - 2; // the yield does not come along
  }

  Function& caller_;
  const std::unordered_map<FunctionId, ChunkBefore>& kernels_;
};

} // namespace

void launchByScratch(Module& module, const std::unordered_map<FunctionId, ChunkBefore>& kernels) {
  if (kernels.empty()) return;
  for (Function& fn : module.functions) LaunchChooser(fn, kernels).region(fn.body);
}

} // namespace melix::loops
