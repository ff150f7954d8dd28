#include "loops/lanes/vector_cost.h"

#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/ir/build.h"
#include "loops/ir/cost_table.h"
#include "loops/lanes/interleaved_accesses.h"
#include "loops/lanes/mask_support.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

class WorkReader {
public:
  /// `around`: how values differ between iterations of the loop around, if there is one.
  WorkReader(const Module& module, const Function& fn, const Variance& variance, ValueId index = {},
             const Variance* around = nullptr)
      : module_(module), fn_(fn), variance_(variance), strides_(fn, variance, index), around_(around) {}

  LaneWork work;

  void region(RegionId r) {
    const std::vector<LaneGroup> groups = laneGroups(module_, fn_, r, strides_);
    if (!underMask_)
      for (const LaneGroup& group : groups) rows(group);
    for (StmtId id : fn_.regions[r].stmts) statement(id);
  }

private:
  /// Memory side by side: what a group reads but none of its members uses, and what deinterleaves it.
  void rows(const LaneGroup& group) {
    for (const LaneGroup::Member& m : group.members) inRows_.insert(m.stmt);
    const auto members = static_cast<double>(group.members.size());
    const bool isRead = group.kind == StmtKind::Load;
    const double times = isRead ? timesDeinterleaved(fn_.stmts[group.place()]) : often_;
    const double shuffles = times * (std::max<double>(group.row, members) - members + shufflesOf(group));
    if (isRead) work.inRows += times * members, work.deinterleaving += shuffles;
    work.shuffles += shuffles;
  }
  void statement(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    for (ValueId v : s.results) value(v);
    switch (s.kind) {
    case StmtKind::Scalar: return scalar(s);
    case StmtKind::Load:
      if (variance_.isUniform(s.results[0])) return;
      if (areSideBySide(id))
        work.loads += often_;
      else
        work.gathers += timesDeinterleaved(s);
      return;
    case StmtKind::Store:
      widest(fn_.typeOf(s.operands.back()));
      (areSideBySide(id) ? work.stores : work.scatters) += often_;
      return;
    case StmtKind::Call: return call(s);
    case StmtKind::For:
    case StmtKind::While: return loop(s);
    default:
      const bool before = underMask_;
      underMask_ |= needsMask(s, variance_);
      for (RegionId r : s.regions)
        if (!isSeparate(r)) region(r);
      underMask_ = before;
    }
  }
  /// Values that are invariant in an enclosing loop of independent iterations are packed once (pack_panel.h).
  double timesDeinterleaved(const Stmt& load) {
    double times = often_;
    for (Around& loop : loops_) {
      if (!loop.iterations) loop.iterations.emplace(fn_, *loop.stmt);
      if (loop.iterations->isUniform(load.results[0])) times /= loop.often;
    }
    return times;
  }
  bool areSideBySide(StmtId id) { return inRows_.contains(id) || strides_.areSideBySide(fn_.stmts[id]); }
  /// A branch in which lanes call one by one is for what is seldom: how wide it is counts as little as its
  /// work.
  bool isSeparate(RegionId r) const {
    return std::ranges::any_of(fn_.regions[r].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return s.kind == StmtKind::Call && laneCallOf(module_, s, variance_) == LaneCallKind::OneByOne;
    });
  }
  void value(ValueId v) {
    if (variance_.of(v) != VarianceKind::Varying) return;
    ++work.values;
    widest(fn_.typeOf(v));
  }
  void widest(ValueType type) {
    const TypeKind kind = type.cls == ClassKind::Scalar ? type.scalar : TypeKind::I64;
    if (kind != TypeKind::Bool) work.bits = std::max(work.bits, types::scalarBits(kind));
  }
  void scalar(const Stmt& s) {
    const auto& attr = s.as<ScalarAttr>();
    if (variance_.of(s.results[0]) != VarianceKind::Varying) return;
    if (!comparesPlaces(s)) widest(scalarType(attr.from));
    work.ops += often_ * opsOf(attr);
  }
  /// Whether a statement compares affine numbers with the same result in all enclosing iterations: the mask
  /// is computed once, so the width of the numbers does not count.
  bool comparesPlaces(const Stmt& s) const {
    return s.as<ScalarAttr>().op == OpKind::Cmp && around_ && around_->isUniform(s.results[0]) &&
           std::ranges::none_of(s.operands,
                                [this](ValueId v) { return variance_.of(v) == VarianceKind::Varying; });
  }
  void loop(const Stmt& s) {
    const auto varying = std::ranges::count_if(s.results, [&](ValueId v) { return !variance_.isUniform(v); });
    work.carried = std::max(work.carried, static_cast<uint32_t>(varying));
    if (varying > 0) work.held = std::max(work.held, heldFor(s));
    const std::optional<uint64_t> known = s.kind == StmtKind::For ? constantTripCount(fn_, s) : std::nullopt;
    const auto tripCount = static_cast<double>(std::min(known.value_or(assumedTripCount), assumedTripCount));
    const double before = often_;
    const bool masked = underMask_;
    const bool isOfPoints =
        s.kind == StmtKind::For && s.as<ForAttr>().dependence == Dependence::Independent && tripCount > 0;
    underMask_ |= needsMask(s, variance_);
    often_ *= tripCount;
    if (s.kind == StmtKind::For && varying > 0) chain(s);
    if (isOfPoints) loops_.push_back({&s, tripCount, {}});
    for (RegionId r : s.regions) region(r);
    if (isOfPoints) loops_.pop_back();
    often_ = before;
    underMask_ = masked;
  }
  /// How many values differ between lanes that are made before a loop and used in it.
  uint32_t heldFor(const Stmt& loop) const {
    std::unordered_set<RegionId> inside;
    std::unordered_set<ValueId> used;
    for (RegionId r : loop.regions) {
      inside.merge(regionsWithin(fn_, r));
      forEachUse(fn_, r, [&](ValueId v) { used.insert(v); });
    }
    return static_cast<uint32_t>(std::ranges::count_if(used, [&](ValueId v) {
      return variance_.of(v) == VarianceKind::Varying && !inside.contains(fn_.values[v].region);
    }));
  }
  /// One op waits for that of the iteration before. What iterations store side by side is stored by some of
  /// them together, and shuffled for that.
  void chain(const Stmt& s) {
    work.chained = std::max(work.chained, often_);
    const std::vector<StmtId> together = storesOfChain(fn_, s);
    if (underMask_) return;
    for (StmtId id : together) inRows_.insert(id);
    work.kept = std::max(work.kept, static_cast<uint32_t>(together.size()));
    work.shuffles += often_ * static_cast<double>(together.size() * std::countr_zero(storedRows));
  }
  void call(const Stmt& s) {
    switch (laneCallOf(module_, s, variance_)) {
    case LaneCallKind::Merged: return callee(s);
    case LaneCallKind::OneByOne:
      work.moves += often_ * static_cast<double>(s.operands.size() + s.results.size());
      return;
    default: return;
    }
  }
  void callee(const Stmt& s) {
    const Variance inside = varianceOfCall(module_, s, variance_);
    WorkReader reader(module_, module_.functions[s.as<FunctionId>()], inside);
    reader.region(module_.functions[s.as<FunctionId>()].body);
    work.bits = std::max(work.bits, reader.work.bits);
    work.values += reader.work.values;
    work.ops += often_ * reader.work.ops;
    work.moves += often_ * reader.work.moves;
  }

  const Module& module_;
  const Function& fn_;
  const Variance& variance_;
  LaneStrides strides_;
  const Variance* around_;
  /// A loop around what is at hand.
  struct Around {
    const Stmt* stmt;
    double often;                       ///< it iterates
    std::optional<Variance> iterations; ///< how values differ between these, once it was asked for
  };

  std::unordered_set<StmtId> inRows_; ///< accesses in groups
  std::vector<Around> loops_;         ///< of points, outermost first
  bool underMask_ = false;
  double often_ = 1;
};

} // namespace

LaneWork vectorCost(const Module& module, const Function& fn, const Stmt& loop, const Variance& variance,
                    const Variance* around) {
  const RegionId body = loop.regions[0];
  WorkReader reader(module, fn, variance, fn.regions[body].params[0], around);
  reader.region(body);
  return reader.work;
}

} // namespace melix::loops
