#include "loops/lanes/mask_support.h"

#include "loops/analysis/stride_analysis.h"
#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {
namespace {

constexpr int64_t leastBytes = 4; ///< of what values mask

class MaskSupportReader {
public:
  MaskSupportReader(const Function& fn, const Stmt& loop)
      : fn_(fn), variance_(fn, loop), strides_(fn, variance_, fn.regions[loop.regions[0]].params[0]) {}

  bool canMask(RegionId r) {
    return std::ranges::all_of(fn_.regions[r].stmts, [&](StmtId id) { return canMask(fn_.stmts[id]); });
  }

private:
  bool canMask(const Stmt& s) {
    switch (s.kind) {
    case StmtKind::Scalar: return true;
    case StmtKind::Load:
      if (variance_.isUniform(s.results[0])) return true;
      [[fallthrough]];
    case StmtKind::Store: return strides_.areSideBySide(s) && bytesOf(s.as<Access>().elem) >= leastBytes;
    case StmtKind::Call: return std::ranges::all_of(s.operands, [&](ValueId v) { return isScalar(v); });
    default: return std::ranges::all_of(s.regions, [&](RegionId r) { return canMask(r); });
    }
  }

  bool isScalar(ValueId v) const { return fn_.typeOf(v).cls == ClassKind::Scalar; } // else a callee may read

  const Function& fn_;
  const Variance variance_;
  LaneStrides strides_;
};

} // namespace

bool canMask(const Machine& machine, const Function& fn, const Stmt& loop) {
  if (machine.masks != MaskKind::Values) return machine.masks == MaskKind::Registers;
  return MaskSupportReader(fn, loop).canMask(loop.regions[0]);
}

} // namespace melix::loops
