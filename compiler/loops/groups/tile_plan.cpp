#include "loops/groups/tile_plan.h"

#include "loops/analysis/written_captures.h"
#include "loops/groups/group_schedule.h"
#include "loops/groups/memory_roots.h"
#include "loops/ir/build.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {
namespace {

constexpr uint64_t fewTerms = 16; ///< a sum of no more is not worth a tile

class TilePlanner {
public:
  TilePlanner(const Module& module, const Function& kernel, RegionId point, const PointAxes& axes)
      : module_(module), fn_(kernel), point_(point), depends_(kernel, point, axes) {
    plan_.axes = axes;
  }

  std::optional<TilePlan> run() {
    if (isNarrow(plan_.axes.columns) || isNarrow(plan_.axes.rows)) return std::nullopt;
    uint64_t carried = 0;
    for (StmtId id : fn_.regions[point_].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For) {
        if (!addSum(id)) return std::nullopt;
        carried = std::max(carried, s.results.size());
      } else if (!isPure(s) && !isStore(s)) {
        return std::nullopt;
      }
    }
    findTransposed();
    if (plan_.sums.empty() && plan_.transposed.empty()) return std::nullopt;
    if (carried > 2) plan_.perThread = 2;
    while (sharedBytes() > sharedOfBlock && plan_.perThread > 1) plan_.perThread /= 2;
    return sharedBytes() <= sharedOfBlock ? std::optional(std::move(plan_)) : std::nullopt;
  }

private:
  bool isNarrow(ValueId extent) const {
    const uint64_t* known = extent.valid() ? asConstant(fn_, extent) : nullptr;
    return known && static_cast<int64_t>(*known) < leastTiled;
  }

  /// Numbers of memory and others, in any branches: nothing is written, and nothing fails.
  bool isPure(const Stmt& s) const {
    switch (s.kind) {
    case StmtKind::Const:
    case StmtKind::Scalar:
    case StmtKind::Load:
    case StmtKind::AddressOf:
    case StmtKind::PointerOf:
    case StmtKind::Yield: return true;
    case StmtKind::Call: return std::ranges::all_of(module_.functions[s.as<FunctionId>()].modes, isReadOnly);
    case StmtKind::If:
    case StmtKind::Switch: return std::ranges::all_of(s.regions, [this](RegionId r) { return isPure(r); });
    default: return false;
    }
  }
  bool isPure(RegionId r) const {
    return std::ranges::all_of(fn_.regions[r].stmts, [this](StmtId id) { return isPure(fn_.stmts[id]); });
  }
  /// Of numbers, in any branches that make none.
  bool isStore(const Stmt& s) const {
    if (s.kind == StmtKind::Store) return true;
    const bool isBranch = s.kind == StmtKind::If || s.kind == StmtKind::Switch;
    return isBranch && s.results.empty() && std::ranges::all_of(s.regions, [this](RegionId r) {
             return std::ranges::all_of(fn_.regions[r].stmts, [this](StmtId id) {
               return isPure(fn_.stmts[id]) || isStore(fn_.stmts[id]);
             });
           });
  }

  /// The loops of a sum, which all points run alike.
  bool addSum(StmtId outermost) {
    TiledSum sum;
    for (StmtId id = outermost; id.valid();) {
      const Stmt& loop = fn_.stmts[id];
      const bool isUniform = !depends_.of(loop.operands[0]) && !depends_.of(loop.operands[1]);
      if (loop.results.empty() || !isUniform) return false;
      sum.loops.push_back(id);
      const RegionId body = loop.regions[0];
      id = onlyLoop(fn_, body, [this](const Stmt& s) { return isPure(s); });
      if (!id.valid() && !isPure(body)) return false;
    }
    const std::optional<uint64_t> terms = constantTripCount(fn_, fn_.stmts[sum.chain()]);
    if (terms && *terms <= fewTerms) return false;
    if (!stage(sum)) return false;
    plan_.sums.emplace(outermost, std::move(sum));
    return true;
  }

  /// Begins to read the body of a chain, or none.
  void enter(RegionId body) {
    body_ = body;
    carried_.clear();
    rematerialised_.clear();
  }

  // --- loads across the order of the stores
  void findTransposed() {
    enter({});
    const WrittenCaptures written(module_, fn_);
    for (StmtId id : fn_.regions[point_].stmts)
      if (fn_.stmts[id].kind == StmtKind::Load && isTransposed(fn_.stmts[id]) &&
          canMove(fn_.stmts[id], written))
        plan_.transposed.insert(id);
  }
  bool isTransposed(const Stmt& load) const {
    if (depends_.of(load) != AxisDependence::Both) return false;
    for (size_t k = 1; k + 1 < load.operands.size(); k += 2) {
      const uint64_t* stride = asConstant(fn_, load.operands[k + 1]);
      if (stride && *stride == 1) return depends_.of(load.operands[k]) == AxisDependence::Row;
    }
    return false;
  }
  /// Whether its place can be computed anew, and no store can come before it.
  bool canMove(const Stmt& load, const WrittenCaptures& written) {
    const ValueId array = memoryOf(fn_, load.operands[0]);
    return fn_.typeOf(load.results[0]).cls == ClassKind::Scalar && array.valid() &&
           !written.contains(array) &&
           std::ranges::all_of(load.operands, [this](ValueId v) { return canRematerialise(v); });
  }

  // --- what rows and columns share
  bool stage(TiledSum& sum) {
    enter(fn_.stmts[sum.chain()].regions[0]);
    const std::vector<ValueId>& params = fn_.regions[body_].params;
    carried_.insert(params.begin() + 1, params.end());
    for (StmtId id : fn_.regions[body_].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (usesCarried(s)) carried_.insert(s.results.begin(), s.results.end());
    }
    std::unordered_set<ValueId> seen;
    bool isKnown = true;
    for (StmtId id : fn_.regions[body_].stmts) {
      if (!isOfPoint(fn_.stmts[id])) continue;
      sum.ofPoints.insert(id);
      forEachOperand(fn_.stmts[id], [&](ValueId v) {
        if (isShared(v) && seen.insert(v).second) isKnown &= add(sum, v);
      });
    }
    auto has = [&](uint8_t axes) {
      return std::ranges::any_of(sum.staged, [axes](const StagedValue& v) { return v.axes == axes; });
    };
    return isKnown && has(AxisDependence::Row) && has(AxisDependence::Column);
  }

  bool usesCarried(const Stmt& s) const {
    bool uses = false;
    forEachOperand(s, [&](ValueId v) { uses |= carried_.contains(v); });
    return uses;
  }
  /// Whether each point has a value of its own of what a statement makes.
  bool isOfPoint(const Stmt& s) const {
    return s.kind == StmtKind::Yield || depends_.of(s) == AxisDependence::Both || usesCarried(s);
  }
  bool isShared(ValueId v) const {
    const uint8_t axes = depends_.of(v);
    return fn_.values[v].region == body_ && !carried_.contains(v) &&
           (axes == AxisDependence::Row || axes == AxisDependence::Column);
  }
  bool add(TiledSum& sum, ValueId v) {
    const ValueType type = fn_.typeOf(v);
    if (type.cls != ClassKind::Scalar || !canRematerialise(v)) return false;
    std::unordered_set<ValueId> seen;
    sum.staged.push_back({v, depends_.of(v), isAlongSum(v, seen)});
    return true;
  }

  /// Whether it can be computed anew of the indices of a row or column, and of the sum. Each value is looked
  /// at once, however many use it.
  bool canRematerialise(ValueId v) {
    if (const auto known = rematerialised_.find(v); known != rematerialised_.end()) return known->second;
    const bool can = canBeMade(v);
    rematerialised_.emplace(v, can);
    return can;
  }
  bool canBeMade(ValueId v) {
    const StmtId def = fn_.values[v].def;
    const bool isFree = !depends_.of(v) && fn_.values[v].region != body_;
    const PointAxes& a = plan_.axes;
    if (isFree || v == a.row || v == a.rest || v == a.column || v == a.point) return true;
    if (!def.valid()) return body_.valid() && v == fn_.regions[body_].params[0];
    const Stmt& s = fn_.stmts[def];
    if (!isPure(s)) return false;
    bool can = true;
    forEachOperand(s, [&](ValueId operand) { can &= isWithin(operand, s) || canRematerialise(operand); });
    return can;
  }
  bool isWithin(ValueId v, const Stmt& s) const {
    return std::ranges::any_of(
        s.regions, [&](RegionId r) { return regionsWithin(fn_, r).contains(fn_.values[v].region); });
  }

  /// Whether a load on the way to a value is of neighbours in the sum. `seen`: values that were looked at.
  bool isAlongSum(ValueId v, std::unordered_set<ValueId>& seen) const {
    const StmtId def = fn_.values[v].def;
    if (!def.valid() || fn_.values[v].region != body_ || !seen.insert(v).second) return false;
    const Stmt& s = fn_.stmts[def];
    if (s.kind == StmtKind::Load)
      for (size_t k = 1; k + 1 < s.operands.size(); k += 2) {
        const uint64_t* stride = asConstant(fn_, s.operands[k + 1]);
        if (stride && *stride == 1)
          return fn_.values[s.operands[k]].region == body_ && !depends_.of(s.operands[k]);
      }
    return std::ranges::any_of(s.operands, [&](ValueId operand) { return isAlongSum(operand, seen); });
  }

  template <class Visit>
  void forEachOperand(const Stmt& s, const Visit& visit) const {
    for (ValueId v : s.operands) visit(v);
    for (RegionId r : s.regions) forEachUse(fn_, r, visit);
  }

  uint64_t sharedBytes() const {
    uint64_t bytes = 0;
    for (StmtId id : plan_.transposed)
      bytes +=
          uint64_t{bytesOf(fn_.typeOf(fn_.stmts[id].results[0]))} * plan_.extent() * (plan_.extent() + 1);
    for (const auto& [loop, sum] : plan_.sums)
      for (const StagedValue& v : sum.staged)
        bytes += uint64_t{bytesOf(fn_.typeOf(v.value))} * plan_.extent() * tileSteps;
    return bytes;
  }

  const Module& module_;
  const Function& fn_;
  const RegionId point_;
  const AxisDependence depends_;
  TilePlan plan_;
  RegionId body_;                                    ///< of the chain that is read
  std::unordered_set<ValueId> carried_;              ///< its carried values, and values that depend on them
  std::unordered_map<ValueId, bool> rematerialised_; ///< whether a value can be, as far as that is known
};

} // namespace

std::optional<TilePlan> planTile(const Module& module, const Function& kernel) {
  const RegionId point = pointOf(kernel);
  if (!point.valid() || kernel.hasScratch()) return std::nullopt;
  const std::optional<PointAxes> axes = findPointAxes(kernel, point);
  if (!axes) return std::nullopt;
  return TilePlanner(module, kernel, point, *axes).run();
}

} // namespace melix::loops
