#include "loops/index_sets/if_convert_shared_loads.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/perfect_nest.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {

namespace {

class MaskedLoadIfConverter {
public:
  MaskedLoadIfConverter(const Module& module, Function& fn) : module_(module), fn_(fn), b_(fn) {}

  void run() {
    rewriteStmts(fn_, fn_.body, [this](StmtId id, RegionId) {
      if (isPointsLoop(fn_.stmts[id])) contraction(id);
      return false;
    });
  }

private:
  /// Opens what the outer points of a loop share in the chains of the innermost ones.
  void contraction(StmtId outer) {
    const std::vector<StmtId> points = perfectPoints(module_, fn_, outer);
    if (points.size() < 2 || !canVectorize(module_, fn_, fn_.stmts[points.back()])) return;
    const std::vector<StmtId> sums = sumsIn(fn_, points.back());
    if (sums.empty()) return;
    const Stmt rows = fn_.stmts[outer], columns = fn_.stmts[points.back()];
    if (constantTripCount(fn_, rows) == 1 || !canVectorize(module_, fn_, rows)) return;
    const Variance byRow(fn_, rows), byColumn(fn_, columns);
    if (!byRow.allUniform(columns.operands)) return;
    const RegionId chain = fn_.stmts[sums.back()].regions[0];
    const std::vector<StmtId> stmts = fn_.regions[chain].stmts;
    for (StmtId id : stmts)
      if (isToBeOpened(fn_.stmts[id], byRow, byColumn)) open(id, chain);
  }

  /// Whether it reads something under a mask that rows share, and does something else for each of them.
  bool isToBeOpened(const Stmt& s, const Variance& byRow, const Variance& byColumn) const {
    if (s.kind != StmtKind::If || s.results.empty() || byColumn.isUniform(s.operands[0]) ||
        !byRow.isUniform(s.operands[0]) || byRow.allUniform(s.results))
      return false;
    bool reads = false;
    for (RegionId r : s.regions)
      for (StmtId id : fn_.regions[r].stmts) {
        const Stmt& inner = fn_.stmts[id];
        if (inner.kind != StmtKind::Load && !isSafe(inner)) return false;
        if (inner.kind != StmtKind::Load) continue;
        const bool isShared = byRow.allUniform(inner.operands) && !byColumn.isUniform(inner.results[0]);
        if (!isShared || fn_.typeOf(inner.results[0]).cls != ClassKind::Scalar) return false;
        reads = true;
      }
    return reads &&
           std::ranges::all_of(s.results, [&](ValueId v) { return fn_.typeOf(v).cls == ClassKind::Scalar; });
  }
  /// What can be done where the branch is not taken.
  static bool isSafe(const Stmt& s) {
    return s.kind == StmtKind::Const || s.kind == StmtKind::Yield || s.kind == StmtKind::Scalar;
  }

  void open(StmtId branch, RegionId chain) {
    const Stmt s = fn_.stmts[branch];
    b_.loc = s.loc;
    const RegionId made = b_.begin();
    Copies copies;
    const std::vector<ValueId> yes = arm(s, 0, copies), no = arm(s, 1, copies);
    std::vector<ValueId> chosen;
    for (size_t k = 0; k < s.results.size(); ++k)
      chosen.push_back(yes[k] == no[k] ? yes[k] : b_.select(s.operands[0], yes[k], no[k]));
    b_.end();
    replaceStmt(fn_, made, chain, branch);
    for (size_t k = 0; k < chosen.size(); ++k) replaceUses(fn_, chain, s.results[k], chosen[k]);
  }
  /// What stands in one of the two arms, reads under the mask; what it gives.
  std::vector<ValueId> arm(const Stmt& branch, size_t which, Copies& copies) {
    const std::vector<StmtId> stmts = fn_.regions[branch.regions[which]].stmts;
    for (StmtId id : stmts) {
      const Stmt s = fn_.stmts[id];
      if (s.kind == StmtKind::Yield) return copies.of(s.operands);
      if (s.kind == StmtKind::Load)
        copies.set(s.results[0], readUnderMask(branch.operands[0], which == 0, id, copies));
      else
        clone(b_, id, copies);
    }
    return {};
  }
  ValueId readUnderMask(ValueId mask, bool on, StmtId load, const Copies& copies) {
    const ValueType type = fn_.typeOf(fn_.stmts[load].results[0]);
    Copies here(&copies);
    const RegionId read = b_.begin();
    clone(b_, load, here);
    b_.end({here.of(fn_.stmts[load].results[0])});
    const RegionId none = b_.begin();
    b_.end({b_.zero(type)});
    const std::vector<RegionId> arms = on ? std::vector{read, none} : std::vector{none, read};
    return b_.results(b_.stmt(StmtKind::If, {mask}, {type}, {}, arms))[0];
  }

  const Module& module_;
  Function& fn_;
  Builder b_;
};

} // namespace

void ifConvertSharedLoads(const Module& module, Function& function) {
  MaskedLoadIfConverter(module, function).run();
}

} // namespace melix::loops
