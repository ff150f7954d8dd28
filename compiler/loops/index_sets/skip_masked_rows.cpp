#include "loops/index_sets/skip_masked_rows.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/iteration_bounds.h"
#include "loops/ir/clone.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

/// A choice between what a sum gives and what does not need it.
struct Mask {
  ValueId condition;
  bool takes; ///< what it is where the sum is needed
};

class MaskedRowSkipper {
public:
  MaskedRowSkipper(const Module& module, Function& fn, const Contraction& found)
      : module_(module), fn_(fn), found_(found), body_(fn.stmts[found.columns].regions[0]) {}

  std::optional<RegionId> run() {
    if (asConstant(fn_, fn_.stmts[found_.columns].operands[0]))
      return std::nullopt; // all columns: no row is without
    for (const Mask& mask : masks())
      if (isAll(mask))
        if (const std::optional<RegionId> front = skip(mask)) return front;
    return std::nullopt;
  }

private:
  const Stmt* choice(StmtId id) const {
    const Stmt& s = fn_.stmts[id];
    const bool is = s.kind == StmtKind::Scalar && s.as<ScalarAttr>().op == OpKind::Select;
    return is ? &s : nullptr;
  }
  std::vector<Mask> masks() const {
    std::vector<Mask> out;
    for (StmtId id : fn_.regions[body_].stmts)
      if (const Stmt* s = choice(id))
        for (bool takes : {true, false}) out.push_back({s->operands[0], takes});
    return out;
  }

  /// Whether nothing but choices by this condition keeps the sum from being of no use.
  bool isAll(const Mask& mask) const {
    const std::vector<ValueId>& sums = fn_.stmts[found_.sums[0]].results;
    std::unordered_set<ValueId> needed(sums.begin(), sums.end());
    for (StmtId id : fn_.regions[body_].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (id == found_.sums[0]) continue;
      bool any = false;
      forEachOperand(s, [&](ValueId v) { any |= needed.contains(v); });
      if (!any) continue;
      if (!isPlain(module_, fn_, s) || s.kind == StmtKind::Yield) return false;
      const Stmt* by = choice(id);
      if (by && by->operands[0] == mask.condition && !needed.contains(by->operands[mask.takes ? 2 : 1]))
        continue;
      needed.insert(s.results.begin(), s.results.end());
    }
    return true;
  }
  template <class Visit>
  void forEachOperand(const Stmt& s, const Visit& visit) const {
    for (ValueId v : s.operands) visit(v);
    for (RegionId r : s.regions) forEachUse(fn_, r, visit);
  }

  /// Rows at which something that the sum needs does not hold, as loops without sums before the others.
  std::optional<RegionId> skip(const Mask& mask) {
    const std::vector<ValueId> needed =
        mask.takes ? conjuncts(fn_, mask.condition) : std::vector{mask.condition};
    Builder b(fn_);
    const RegionId front = b.begin();
    for (ValueId condition : needed)
      if (const std::optional<RegionId> rows = skip(mask, condition))
        splice(fn_, *rows, front, fn_.regions[front].stmts.size());
    const bool any = !fn_.regions[front].stmts.empty();
    b.end();
    return any ? std::optional(front) : std::nullopt;
  }
  /// Rows of one end of the loop, at which this condition of the mask is not met.
  std::optional<RegionId> skip(const Mask& mask, ValueId condition) {
    const StmtId loop = found_.rows();
    Builder b(fn_);
    b.loc = fn_.stmts[loop].loc;
    const RegionId front = b.begin();
    MaskRange range(b, loop);
    if (!range.take(condition, !mask.takes)) {
      b.end();
      return std::nullopt;
    }
    const MaskRange::Rows none = range.rows();
    const std::vector<ValueId> ends = fn_.stmts[loop].operands;
    const ValueId isFirst = b.compare(ops::CmpKind::Eq, none.first, ends[0]);
    const ValueId first = b.select(isFirst, none.end, ends[0]), end = b.select(isFirst, ends[1], none.first);
    fn_.stmts[loop].operands = {none.first, none.end};
    Copies copies;
    clone(b, loop, copies);
    b.end();
    fn_.stmts[loop].operands = {first, end};
    const std::vector<StmtId>& made = fn_.regions[front].stmts;
    takeSums(made[made.size() - 2], mask, copies);
    return front;
  }

  /// From the copy of the loop.
  void takeSums(StmtId loop, const Mask& mask, const Copies& copies) {
    Stmt& rows = fn_.stmts[loop];
    rows.as<ForAttr>().unrollJam = 0;
    const ValueId index = copies.of(fn_.regions[body_].params[0]);
    const RegionId columns = fn_.values[index].region;
    for (StmtId id : fn_.regions[body_].stmts) {
      const Stmt* s = choice(id);
      if (s && s->operands[0] == mask.condition)
        replaceUses(fn_, columns, copies.of(s->results[0]), copies.of(s->operands[mask.takes ? 2 : 1]));
    }
    dropUnused(columns, copies.of(fn_.stmts[found_.sums[0]].results));
  }
  /// The sums, and what only used them.
  void dropUnused(RegionId region, const std::vector<ValueId>& sums) {
    std::unordered_set<ValueId> gone(sums.begin(), sums.end());
    std::erase_if(fn_.regions[region].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::Yield) return false;
      const bool isSum = s.kind == StmtKind::For && s.results == sums;
      bool uses = false;
      forEachOperand(s, [&](ValueId v) { uses |= gone.contains(v); });
      if (!isSum && !uses) return false;
      gone.insert(s.results.begin(), s.results.end());
      return true;
    });
  }

  const Module& module_;
  Function& fn_;
  const Contraction& found_;
  const RegionId body_;
};

} // namespace

std::optional<RegionId> skipMaskedRows(const Module& module, Function& fn, StmtId rows) {
  const std::optional<Contraction> found = findContraction(fn, rows);
  return found ? MaskedRowSkipper(module, fn, *found).run() : std::nullopt;
}

} // namespace melix::loops
