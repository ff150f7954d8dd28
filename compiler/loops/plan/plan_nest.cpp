#include "loops/plan/plan_nest.h"

#include "core/order/order.h"
#include "loops/plan/sweep_slice.h"

#include <algorithm>

namespace melix::loops {
namespace {

using core::MonoidKind;
using core::NestResult;

bool nested(const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end()) ||
         std::includes(b.begin(), b.end(), a.begin(), a.end());
}

bool isPrefix(const std::set<uint32_t>& kept) { return kept.empty() || *kept.rbegin() + 1 == kept.size(); }

class Planner {
public:
  Planner(const core::Function& fn, Layouts& layouts, const core::Op& nest, bool inNest)
      : fn_(fn), layouts_(layouts), types_(layouts.types), nest_(fn, nest), inNest_(inNest),
        axisCount_(static_cast<uint32_t>(nest.dims.size())) {
    for (types::DimId d : nest.dims) extents_.push_back(types_.dims.asConstant(d));
  }

  NestPlan run() {
    shareSweeps();
    for (SweepPlan& sweep : plan_.sweeps) sweep.order = *axisOrder(sweep);
    effectsInOrder();
    for (SweepPlan& sweep : plan_.sweeps) {
      if (plan_.sweeps.size() > 1) need(sweep);
      sweep.pool = poolOf(sweep);
      cut(sweep);
      while (sweep.levels.size() < sweep.order.size() - (sweep.blocks ? sweep.blocks->outer.size() + 1 : 0))
        sweep.levels.push_back(levelOf(sweep, static_cast<uint32_t>(sweep.levels.size())));
    }
    return std::move(plan_);
  }

private:
  // --- which results share a sweep, and in which order it takes the axes

  ResultPlan resultOf(const core::NestPart& part) const {
    ResultPlan r{part, fn_.typeOf(nest_.yields(part)[0]), {}};
    const TypeKind kind = types_.kind(r.type);
    if (r.isReduce() && !core::isExact(part.spec->monoid, kind))
      r.sequence = core::termSequence(*part.spec, axisCount_);
    r.ordered = r.isReduce() && core::isOrdered(part.spec->monoid, part.spec->order, kind);
    if (r.ordered && part.spec->order == core::OrderKind::Lanes) r.lanes = part.spec->lanes;
    return r;
  }

  void shareSweeps() {
    if (nest_.accs()) plan_.sweeps.emplace_back().withAccs = true;
    for (const core::NestPart& part : nest_.parts()) {
      const ResultPlan result = resultOf(part);
      std::vector<SeparationKind> separations;
      auto shared = std::ranges::find_if(plan_.sweeps, [&](const SweepPlan& sweep) {
        const std::optional<SeparationKind> why = separationFrom(sweep, result);
        if (why) separations.push_back(*why);
        return !why;
      });
      if (shared == plan_.sweeps.end()) {
        shared = plan_.sweeps.insert(plan_.sweeps.end(), SweepPlan{});
        shared->separations = std::move(separations);
      }
      shared->results.push_back(result);
    }
    if (plan_.sweeps.empty()) plan_.sweeps.emplace_back();
  }

  std::set<uint32_t> keptAxes(const ResultPlan& r) const {
    std::set<uint32_t> kept(r.part.spec->keep.begin(), r.part.spec->keep.end());
    if (!r.isReduce())
      for (uint32_t a = 0; a < axisCount_; ++a) kept.insert(a);
    return kept;
  }

  /// Why a sweep cannot serve one more result, if it cannot.
  std::optional<SeparationKind> separationFrom(const SweepPlan& sweep, const ResultPlan& r) const {
    // Of results that ask the same, one stands for all.
    auto hasSameOrder = [&](const ResultPlan& other) {
      return other.part.spec->keep == r.part.spec->keep && other.part.spec->row == r.part.spec->row &&
             other.part.spec->kind == r.part.spec->kind && (other.lanes > 0) == (r.lanes > 0) &&
             other.sequence == r.sequence;
    };
    if (!sweep.results.empty() && hasSameOrder(sweep.results.back())) return std::nullopt;
    const std::set<uint32_t> kept = keptAxes(r);
    if (sweep.withAccs && !isPrefix(kept)) return SeparationKind::Adds;
    for (const ResultPlan& other : sweep.results)
      if (!nested(kept, keptAxes(other))) return SeparationKind::OtherAxes;
    SweepPlan both;
    both.withAccs = sweep.withAccs;
    both.results = sweep.results;
    both.results.push_back(r);
    if (axisOrder(both)) return std::nullopt;
    return sweep.withAccs ? SeparationKind::Adds : SeparationKind::Sequence;
  }

  /// The axes from the outside in: those that the first results keep, then those that more keep, then the
  /// rest; none if the terms of a result would not follow each other as they should. Accumulators take them
  /// in index order.
  std::optional<std::vector<uint32_t>> axisOrder(const SweepPlan& sweep) const {
    std::vector<std::set<uint32_t>> kept;
    if (!sweep.withAccs)
      for (const ResultPlan& r : sweep.results) kept.push_back(keptAxes(r));
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::set<uint32_t> all;
    for (uint32_t a = 0; a < axisCount_; ++a) all.insert(a);
    kept.push_back(all);
    std::vector<uint32_t> order;
    for (const std::set<uint32_t>& set : kept) {
      const auto group = static_cast<std::ptrdiff_t>(order.size());
      for (uint32_t a : set)
        if (std::ranges::find(order, a) == order.end()) order.push_back(a);
      for (const ResultPlan& r : sweep.results)
        if (!sweep.withAccs && r.lanes > 0) // its row axis comes last
          std::stable_partition(order.begin() + group, order.end(),
                                [&](uint32_t a) { return a != r.part.spec->row; });
    }
    auto inSequence = [&](const ResultPlan& r) {
      std::vector<uint32_t> reduced = order;
      std::erase_if(reduced,
                    [&](uint32_t a) { return std::ranges::find(r.sequence, a) == r.sequence.end(); });
      return reduced == r.sequence;
    };
    if (!std::ranges::all_of(sweep.results, inSequence)) return std::nullopt;
    return order;
  }

  // --- what a sweep runs

  /// Effects come with the first sweep, in the order of the points: where it has another, before it.
  void effectsInOrder() {
    if (std::ranges::is_sorted(plan_.sweeps.front().order) || !hasEffects(fn_, nest_.body())) return;
    for (SweepPlan& sweep : plan_.sweeps)
      sweep.separations.insert(sweep.separations.begin(), SeparationKind::Effects);
    plan_.sweeps.insert(plan_.sweeps.begin(), SweepPlan{});
    plan_.sweeps.front().order = *axisOrder(plan_.sweeps.front());
  }

  void need(SweepPlan& sweep) {
    std::vector<core::ValueId> yields;
    auto add = [&](std::span<const core::ValueId> more) {
      yields.insert(yields.end(), more.begin(), more.end());
    };
    for (const ResultPlan& r : sweep.results) add(nest_.yields(r.part));
    if (sweep.withAccs) add(nest_.accYields());
    sweep.needed = opsNeeded(fn_, nest_, yields, &sweep == &plan_.sweeps.front());
    auto isAcc = [&](core::ValueId v) { return types_.kind(fn_.typeOf(v)) == TypeKind::Acc; };
    auto adds = [&](core::OpId op) {
      return std::ranges::any_of(fn_.ops[op].operands, isAcc) ||
             std::ranges::any_of(fn_.ops[op].results, isAcc);
    };
    if (!sweep.withAccs && std::ranges::any_of(*sweep.needed, adds))
      plan_.problem = "a result that takes the points of a nest in another order than what adds for it";
  }

  // --- blocks, loops, the pool

  PoolKind poolOf(const SweepPlan& sweep) const {
    if (inNest_) return PoolKind::Inner;
    if (sweep.withAccs) return PoolKind::Adds;
    if (sweep.order.empty()) return PoolKind::NoAxes;
    bool leaves = false;
    for (const ResultPlan& r : sweep.results) {
      if (r.isCollect()) continue;
      leaves = true;
      if (r.isFilter()) {
        auto isCounted = [&](core::ValueId v) {
          return layouts_.stored(types_.element(fn_.typeOf(v))).counted;
        };
        if (std::ranges::any_of(nest_.results(r.part), isCounted)) return PoolKind::Counted;
        continue;
      }
      const MonoidKind monoid = r.part.spec->monoid;
      if (!r.part.spec->keep.empty()) return PoolKind::Keeps;
      if (core::isCombine(*r.part.spec) || !types_.isScalar(r.type)) return PoolKind::Combines;
      if (core::isRounded(monoid, types_.kind(r.type)) && !r.ordered) return PoolKind::Sequence;
    }
    if (!leaves) return PoolKind::Collects;
    return isOneBlock(sweep.order) ? PoolKind::OneBlock : PoolKind::Runs;
  }

  bool isOneBlock(std::span<const uint32_t> axes) const {
    int64_t points = 1;
    bool isHuge = false, isEmpty = false;
    for (uint32_t a : axes) {
      if (!extents_[a]) return false;
      isEmpty |= *extents_[a] == 0;
      isHuge |= __builtin_mul_overflow(points, *extents_[a], &points);
    }
    return isEmpty || (!isHuge && points <= core::blockTerms);
  }

  /// The level from which on the points are one sequence: something ends there that blocks are defined for,
  /// and nothing ends further in. On the pool all are cut.
  static std::optional<uint32_t> blockLevel(const SweepPlan& sweep) {
    if (sweep.runsOnPool()) return 0;
    uint32_t level = 0;
    for (const ResultPlan& r : sweep.results)
      if (r.isReduce()) level = std::max(level, r.level());
    const bool wanted =
        std::ranges::any_of(sweep.results, [&](const ResultPlan& r) { return r.ordered && r.endsAt(level); });
    return wanted && level < sweep.order.size() ? std::optional(level) : std::nullopt;
  }

  void cut(SweepPlan& sweep) const {
    const std::optional<uint32_t> level = blockLevel(sweep);
    if (!level) return;
    const std::span<const uint32_t> axes = std::span(sweep.order).subspan(*level);
    BlockPlan blocks;
    blocks.outer.assign(axes.begin(), axes.end() - 1);
    blocks.inner = axes.back();
    blocks.isOne = isOneBlock(axes);
    uint32_t width = 0; // of the sum with fewest lanes
    for (ResultPlan& r : sweep.results) {
      if (r.lanes > 0 && (width == 0 || r.lanes < width)) width = r.lanes;
      r.blocked = r.ordered && r.endsAt(*level);
    }
    if (!sweep.withAccs) {
      const std::optional<int64_t> row = extents_[blocks.inner];
      blocks.mark = Dependence::Independent;
      blocks.strip = row && static_cast<uint64_t>(*row) <= width ? 0 : width;
    }
    sweep.blocks = std::move(blocks);
  }

  bool isUnit(const SweepPlan& sweep, uint32_t level) const { return extents_[sweep.order[level]] == 1; }

  LevelPlan levelOf(const SweepPlan& sweep, uint32_t level) const {
    LevelPlan out;
    out.axis = sweep.order[level];
    out.unit = isUnit(sweep, level);
    bool outermost = true;
    for (uint32_t k = 0; k < level; ++k) outermost = outermost && isUnit(sweep, k);
    auto any = [&](auto&& holds) { return std::ranges::any_of(sweep.results, holds); };
    const bool hasLanes = any([&](const ResultPlan& r) { return r.lanes > 0 && r.level() <= level; });
    const bool separations = !sweep.withAccs || addsAreDisjoint(fn_, types_, nest_, out.axis);
    if (separations && !hasLanes) out.dependence = Dependence::Independent;
    const bool carries =
        any([&](const ResultPlan& r) { return r.isFilter() || (r.isReduce() && r.level() <= level); });
    if (outermost && !carries && !inNest_ && separations) out.dependence = Dependence::None;
    // The loop around it asks for the others; what ends further in is the unit then, which somebody keeps.
    const bool endsHere = any([&](const ResultPlan& r) { return r.endsAt(level); });
    const bool endsInside = any([&](const ResultPlan& r) { return r.isReduce() && r.level() > level; });
    out.skipsEmptyInner = (outermost || endsHere) && !endsInside && level + 1 < sweep.order.size();
    return out;
  }

  const core::Function& fn_;
  Layouts& layouts_;
  types::TypeStore& types_;
  const core::NestView nest_;
  const bool inNest_;
  const uint32_t axisCount_;
  std::vector<std::optional<int64_t>> extents_; ///< as far as they are known
  NestPlan plan_;
};

} // namespace

uint32_t SweepPlan::independentLevels() const {
  if (withAccs) return 0;
  size_t out = levels.size();
  for (const ResultPlan& r : results) {
    if (r.isFilter()) return 0;
    if (r.isReduce()) out = std::min<size_t>(out, r.level());
  }
  return static_cast<uint32_t>(out);
}

NestPlan planNest(const core::Function& fn, Layouts& layouts, const core::Op& nest, bool inNest) {
  return Planner(fn, layouts, nest, inNest).run();
}

} // namespace melix::loops
