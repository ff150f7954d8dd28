#include "loops/index_sets/sink_fma_into_branch.h"

#include "core/ir/build.h"
#include "loops/analysis/contraction.h"
#include "loops/ir/build.h"
#include "loops/ir/clone.h"

#include <algorithm>
#include <cmath>

namespace melix::loops {

using core::OpKind;

namespace {

std::vector<uint32_t> usesIn(const Function& fn) {
  std::vector<uint32_t> uses(fn.values.size(), 0);
  forEachUse(fn, fn.body, [&](ValueId v) { ++uses[v.index]; });
  return uses;
}

/// Products that nobody looks at, as those of sums that add them unrounded.
void dropUnusedProducts(Function& fn, RegionId r, std::vector<uint32_t>& uses) {
  std::erase_if(fn.regions[r].stmts, [&](StmtId id) {
    const Stmt& s = fn.stmts[id];
    for (RegionId inner : s.regions) dropUnusedProducts(fn, inner, uses);
    if (s.kind != StmtKind::Scalar || s.as<ScalarAttr>().op != OpKind::Mul || uses[s.results[0].index] > 0)
      return false;
    for (ValueId v : s.operands) --uses[v.index];
    return true;
  });
}

class FmaSinker {
public:
  FmaSinker(const Module& module, Function& fn) : module_(module), fn_(fn), uses_(usesIn(fn)) {
    dropUnusedProducts(fn, fn.body, uses_);
  }

  /// From the outside in: a sum may go on into the branch that it comes to stand after.
  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts)
      if (isSum(fn_.stmts[id])) sink(id, r);
    for (StmtId id : std::vector(fn_.regions[r].stmts)) {
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) region(each);
    }
  }

private:
  static bool isSum(const Stmt& s) {
    return s.kind == StmtKind::Scalar && s.as<ScalarAttr>().op == OpKind::Fma;
  }

  void sink(StmtId sum, RegionId home) {
    const std::vector<ValueId> operands = fn_.stmts[sum].operands;
    const StmtId branch = fn_.values[operands[0]].def;
    if (!branch.valid() || branch != fn_.values[operands[1]].def || !isBranch(fn_.stmts[branch]) ||
        fn_.values[operands[0]].region != home)
      return;
    if (uses_[operands[0].index] != 1 || uses_[operands[1].index] != 1 || !mayMove(branch, sum, home)) return;
    const std::vector<ValueId>& results = fn_.stmts[branch].results;
    const auto of = [&](ValueId v) {
      return static_cast<size_t>(std::ranges::find(results, v) - results.begin());
    };
    const size_t a = of(operands[0]), b = of(operands[1]);
    for (RegionId arm : fn_.stmts[branch].regions) addIn(arm, sum, a, b);
    // The branch gives the sum from now on, and stands in its place.
    fn_.stmts[branch].results = {fn_.stmts[sum].results[0]};
    fn_.values[fn_.stmts[sum].results[0]].def = branch;
    std::vector<StmtId>& stmts = fn_.regions[home].stmts;
    std::erase(stmts, branch);
    std::ranges::replace(stmts, sum, branch);
  }
  static bool isBranch(const Stmt& s) { return s.kind == StmtKind::If && s.results.size() == 2; }

  /// Whether the branch may stand where the sum does: it reads at most, and nothing in between writes.
  bool mayMove(StmtId branch, StmtId sum, RegionId home) const {
    if (!isPlain(module_, fn_, fn_.stmts[branch])) return false;
    const std::vector<StmtId>& stmts = fn_.regions[home].stmts;
    const auto first = std::ranges::find(stmts, branch), last = std::ranges::find(stmts, sum);
    return std::all_of(first, last, [this](StmtId id) { return isPlain(module_, fn_, fn_.stmts[id]); });
  }

  /// The end of an arm gives the sum, where it gave the factors.
  void addIn(RegionId arm, StmtId sum, size_t a, size_t b) {
    const StmtId yield = fn_.regions[arm].stmts.back();
    const ValueId x = fn_.stmts[yield].operands[a], y = fn_.stmts[yield].operands[b];
    const Stmt added = fn_.stmts[sum];
    if (isNothing(x, y, added.as<ScalarAttr>().from)) {
      fn_.stmts[yield].operands = {added.operands[2]};
      return;
    }
    Builder build(fn_);
    build.loc = added.loc;
    const RegionId made = build.begin();
    const ValueId all =
        build.value(StmtKind::Scalar, {x, y, added.operands[2]}, fn_.typeOf(added.results[0]), added.attr);
    build.end();
    splice(fn_, made, arm, fn_.regions[arm].stmts.size() - 1);
    fn_.stmts[yield].operands = {all};
  }
  /// Whether a product is -0.
  bool isNothing(ValueId x, ValueId y, TypeKind kind) const {
    const uint64_t *a = asConstant(fn_, x), *b = asConstant(fn_, y);
    if (!a || !b) return false;
    const double product = core::floatValue(kind, *a) * core::floatValue(kind, *b);
    return product == 0 && std::signbit(product);
  }

  const Module& module_;
  Function& fn_;
  std::vector<uint32_t> uses_; ///< by value
};

} // namespace

void sinkFmaIntoBranch(const Module& module, Function& function) {
  FmaSinker(module, function).region(function.body);
}

} // namespace melix::loops
