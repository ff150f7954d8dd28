#include "loops/index_sets/peel_boundaries.h"

#include "loops/analysis/iteration_bounds.h"
#include "loops/analysis/perfect_nest.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/ir/clone.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t nearFirst = 8; ///< bounds up to here are at the beginning of a row

bool isBound(const Stmt& s) {
  if (s.kind != StmtKind::Scalar || s.as<ScalarAttr>().from != TypeKind::I64) return false;
  const OpKind op = s.as<ScalarAttr>().op;
  return op == OpKind::Min || op == OpKind::Max || op == OpKind::IRem;
}

/// Indices of one loop that are held within bounds.
class Clamps {
public:
  /// `edges`: whether branches on the ends of the loop are taken out too.
  Clamps(Function& fn, StmtId loop, bool edges)
      : fn_(fn), b_(fn), loop_(loop), edges_(edges), points_(fn, fn.stmts[loop]),
        inside_(regionsWithin(fn, fn.stmts[loop].regions[0])) {}

  /// What stands before the points within all bounds, which are the loop itself then.
  std::optional<RegionId> cut() {
    const RegionId body = fn_.stmts[loop_].regions[0];
    b_.loc = fn_.stmts[loop_].loc;
    const RegionId front = b_.begin();
    MaskRange range(b_, loop_);
    take(body, range);
    if (decided_.empty() && (within_.empty() || !reachesMemory(body))) {
      b_.end();
      return std::nullopt;
    }
    const MaskRange::Rows rows = range.rows();
    const std::vector<ValueId> ends = fn_.stmts[loop_].operands;
    b_.carryLoop(b_.integer(0), b_.integer(2), {}, [&](ValueId end, const std::vector<ValueId>& none) {
      const ValueId isFirst = b_.compare(CmpKind::Eq, end, b_.integer(0));
      Copies copies;
      fn_.stmts[loop_].operands = {b_.select(isFirst, ends[0], rows.end),
                                   b_.select(isFirst, rows.first, ends[1])};
      clone(b_, loop_, copies);
      return none;
    });
    b_.end();
    fn_.stmts[loop_].operands = {rows.first, rows.end};
    for (const Within& each : within_) replace(each);
    for (const auto& [condition, holds] : decided_) {
      Stmt& s = fn_.stmts[fn_.values[condition].def];
      s.kind = StmtKind::Const;
      s.operands.clear();
      s.attr = static_cast<uint64_t>(holds);
    }
    return front;
  }

private:
  /// In the order of the statements: a bound of what has one is one of the index.
  void take(RegionId r, MaskRange& range, bool isLoopIndex = false) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      if (isBound(fn_.stmts[id])) takeOne(id, range);
      const StmtKind kind = fn_.stmts[id].kind;
      if ((edges_ || isLoopIndex) && kind == StmtKind::If && reads(fn_.stmts[id]))
        takeEdges(fn_.stmts[id].operands[0], range);
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) take(each, range, isLoopIndex || kind == StmtKind::For);
    }
  }
  bool reads(const Stmt& branch) const {
    return std::ranges::any_of(branch.regions, [&](RegionId r) {
      return anyOf(fn_, r, [](const Stmt& s) { return s.kind == StmtKind::Load; });
    });
  }
  /// Comparisons of a condition, of the index with a number that does not change: what they are between the
  /// edges. A small constant is near the first point, any other number near the last.
  void takeEdges(ValueId condition, MaskRange& range) {
    const StmtId def = fn_.values[condition].def;
    if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return;
    const Stmt s = fn_.stmts[def];
    const auto& attr = s.as<ScalarAttr>();
    if (attr.op == OpKind::And || attr.op == OpKind::Or || attr.op == OpKind::Not)
      for (ValueId v : s.operands) takeEdges(v, range);
    if (attr.op != OpKind::Cmp || attr.from != TypeKind::I64) return;
    const bool isLeft = isOfIndex(s.operands[0]);
    const ValueId bound = s.operands[isLeft ? 1 : 0];
    const auto how = static_cast<CmpKind>(attr.index);
    if (isLeft == isOfIndex(s.operands[1]) || how == CmpKind::Eq || how == CmpKind::Ne) return;
    const uint64_t* known = asConstant(fn_, bound);
    if (!isFixed(bound)) return;
    const int64_t place = known ? static_cast<int64_t>(*known) : 0;
    const bool isFirst = known && place >= -nearFirst && place <= nearFirst;
    const bool isBelow = (how == CmpKind::Lt || how == CmpKind::Le) == isLeft;
    const bool holds = isBelow != isFirst;
    const bool isNew = std::ranges::find(decided_, std::pair(condition, holds)) == decided_.end();
    if (isNew && range.take(condition, holds)) decided_.emplace_back(condition, holds);
  }
  /// Whether a number is the same at all points of all loops.
  bool isFixed(ValueId v) const {
    if (fn_.values[v].region == fn_.body || asConstant(fn_, v)) return true;
    const StmtId def = fn_.values[v].def;
    if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return false;
    const OpKind op = fn_.stmts[def].as<ScalarAttr>().op;
    return (op == OpKind::Add || op == OpKind::Sub) &&
           std::ranges::all_of(fn_.stmts[def].operands, [this](ValueId o) { return isFixed(o); });
  }
  bool isOfIndex(ValueId v) const { return points_.of(v) == VarianceKind::Affine; }
  void takeOne(StmtId id, MaskRange& range) {
    const Stmt s = fn_.stmts[id];
    const ValueId a = indexOf(s.operands[0]), c = indexOf(s.operands[1]);
    if (points_.isUniform(a) == points_.isUniform(c)) return;
    const ValueId index = points_.isUniform(a) ? c : a, bound = points_.isUniform(a) ? a : c;
    if (points_.of(index) != VarianceKind::Affine) return;
    switch (s.as<ScalarAttr>().op) {
    case OpKind::Max:
      if (holds(range, CmpKind::Ge, index, bound)) within_.push_back({id, index, {}});
      return;
    case OpKind::Min:
      if (holds(range, CmpKind::Le, index, bound)) within_.push_back({id, index, {}});
      return;
    default:
      if (index == a) takeRemainder(id, index, bound, range);
    }
  }
  /// Where the quotient is what it is in the middle.
  void takeRemainder(StmtId id, ValueId index, ValueId by, MaskRange& range) {
    const uint64_t* known = asConstant(fn_, by);
    if (!known && inside_.contains(fn_.values[by].region)) return;
    const ValueId divisor = known ? b_.integer(static_cast<int64_t>(*known)) : by;
    const std::vector<ValueId> ends = fn_.stmts[loop_].operands;
    const ValueId middle = b_.arith(OpKind::Shr, b_.arith(OpKind::Add, ends[0], ends[1]), b_.integer(1));
    const std::optional<ValueId> at = range.leastAt(index, middle);
    if (!at) return;
    const ValueId taken = b_.arith(OpKind::Mul, b_.arith(OpKind::IDiv, *at, divisor), divisor);
    if (holds(range, CmpKind::Ge, index, taken) &&
        holds(range, CmpKind::Lt, index, b_.arith(OpKind::Add, taken, divisor)))
      within_.push_back({id, index, taken});
  }
  /// Whether it can be asked for that a comparison holds.
  bool holds(MaskRange& range, CmpKind how, ValueId index, ValueId bound) {
    b_.begin(); // of what is not there
    const ValueId condition = b_.compare(how, index, bound);
    b_.end();
    return range.take(condition);
  }

  struct Within {
    StmtId stmt;   ///< what has a bound
    ValueId index; ///< that it is within, less
    ValueId taken; ///< if there is anything
  };
  void replace(const Within& each) {
    const ValueId bounded = fn_.stmts[each.stmt].results[0];
    if (!each.taken.valid()) return replaceUses(fn_, fn_.stmts[loop_].regions[0], bounded, each.index);
    fn_.stmts[each.stmt].attr = ScalarAttr{OpKind::Sub, 0, TypeKind::I64};
    fn_.stmts[each.stmt].operands = {each.index, each.taken};
  }

  /// What a value is within the bounds taken so far.
  ValueId indexOf(ValueId v) const {
    for (const Within& each : within_)
      if (!each.taken.valid() && fn_.stmts[each.stmt].results[0] == v) return each.index;
    return v;
  }

  /// Whether a place in memory is computed from what has a bound.
  bool reachesMemory(RegionId body) const {
    std::unordered_set<ValueId> derived;
    for (const Within& each : within_) derived.insert(fn_.stmts[each.stmt].results[0]);
    return reachesMemory(body, derived);
  }
  bool reachesMemory(RegionId r, std::unordered_set<ValueId>& derived) const {
    return anyOf(fn_, r, [&](const Stmt& s) {
      const bool isOf = std::ranges::any_of(s.operands, [&](ValueId v) { return derived.contains(v); });
      if (isOf && s.kind == StmtKind::Scalar) derived.insert(s.results[0]);
      if (isOf && (s.kind == StmtKind::Load || s.kind == StmtKind::AddressOf)) return true;
      return std::ranges::any_of(s.regions, [&](RegionId inner) { return reachesMemory(inner, derived); });
    });
  }

  Function& fn_;
  Builder b_;
  StmtId loop_;
  const bool edges_;
  const Variance points_;
  const std::unordered_set<RegionId> inside_;
  std::vector<Within> within_;
  std::vector<std::pair<ValueId, bool>> decided_; ///< comparisons, and what they are within
};

class BoundaryPeeler {
public:
  BoundaryPeeler(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  /// Whether there is a loop of points in the region.
  bool region(RegionId r) {
    bool any = false;
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      const bool arePoints = isPointsLoop(fn_.stmts[id]);
      if (arePoints) around_.push_back(id);
      bool holdsPoints = false;
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) holdsPoints |= region(each);
      if (arePoints) around_.pop_back();
      if (arePoints && !holdsPoints) cut(id, r);
      any |= arePoints || holdsPoints;
    }
    return any;
  }

private:
  void cut(StmtId loop, RegionId home) {
    if (!canVectorize(module_, fn_, fn_.stmts[loop])) return;
    const bool isShared = std::ranges::any_of(
        around_, [&](StmtId outer) { return gainsAround(module_, fn_, fn_.stmts[outer], fn_.stmts[loop]); });
    if (isShared) return;
    if (const std::optional<RegionId> front = Clamps(fn_, loop, around_.empty()).cut())
      splice(fn_, *front, home, placeOf(fn_, home, loop));
  }

  const Module& module_;
  Function& fn_;
  std::vector<StmtId> around_; ///< loops of points
};

} // namespace

void peelBoundaries(const Module& module, Function& function) {
  BoundaryPeeler(module, function).region(function.body);
}

} // namespace melix::loops
