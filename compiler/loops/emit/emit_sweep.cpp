#include "loops/emit/emit_sweep.h"

#include "loops/emit/emit_grid.h"
#include "loops/emit/emit_pool.h"
#include "loops/plan/plan_notes.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

SweepEmitter::SweepEmitter(Lower& lower, const core::Op& nest, const SweepPlan& plan,
                           const std::vector<ValueId>& extents, std::vector<ValueId> accs)
    : lower_(lower), b_(lower.b), nest_(nest), plan_(plan), extents_(extents), axes_(extents.size()),
      accs_(std::move(accs)), results_(lower, nest, plan, extents, axes_) {}

void SweepEmitter::run() {
  results_.allocate();
  if (lower_.failed()) return;
  if (launches(lower_)) noteHost();
  if (plan_.runsOnPool() || launchesOneBlock()) {
    sweepOnPool(lower_, *this);
    return results_.defineArrays();
  }
  if (launchesPoints()) {
    sweepGrid();
    return results_.defineArrays();
  }
  std::vector<ValueId> carried;
  for (SweptResult& r : results_.all())
    if (r.plan.isFilter()) r.begin(carried, {b_.integer(0)});
  carried = sweepLevel(0, std::move(carried));
  if (lower_.failed()) return;

  b_.loc = nest_.loc;
  for (const SweptResult& r : results_.all())
    if (r.plan.isFilter()) results_.finishFilter(r, carried[r.at]);
  results_.defineArrays();
}

// --- launches on a device

/// Notes that the host runs the sweep, if it does.
void SweepEmitter::noteHost() {
  const bool filters = results_.filters();
  if (!filters && (plan_.runsOnPool() || launchesPoints() || launchesOneBlock())) return;
  const std::string_view why = filters ? "a filter, whose size is known when it has run" : whyNotCut(plan_);
  if (!why.empty()) lower_.context.made.module->onHost.push_back({nest_.loc, why});
}

bool SweepEmitter::launchesPoints() const { return launches(lower_) && plan_.independentLevels() > 0; }
bool SweepEmitter::launchesOneBlock() const {
  return launches(lower_) && plan_.pool == PoolKind::OneBlock && !results_.filters();
}

/// One loop over the points of the independent levels.
void SweepEmitter::sweepGrid() {
  const auto order = std::span(plan_.order).first(plan_.independentLevels());
  std::vector<ValueId> extents;
  for (uint32_t axis : order) extents.push_back(extents_[axis]);
  emitGrid(lower_, extents, [&](std::span<const ValueId> indices) {
    for (size_t k = 0; k < order.size(); ++k) axes_[order[k]] = indices[k];
    sweepLevel(static_cast<uint32_t>(order.size()), {});
  });
}

// --- loops

/// The loops from a level on, with the states of what ends inside of those around it.
std::vector<ValueId> SweepEmitter::sweepLevel(uint32_t level, std::vector<ValueId> carried) {
  const size_t outer = carried.size();
  for (SweptResult& r : results_.all()) {
    if (!r.plan.endsAt(level)) continue;
    open(r, level);
    r.begin(carried, r.state->init());
  }
  if (level < plan_.levels.size())
    carried = sweepAxis(level, std::move(carried));
  else if (plan_.blocks && level < plan_.order.size())
    carried = sweepBlocks(std::move(carried));
  else
    carried = sweepPoint(std::move(carried));
  results_.finishLevel(level, carried);
  carried.resize(outer);
  return carried;
}

std::vector<ValueId> SweepEmitter::sweepAxis(uint32_t level, std::vector<ValueId> carried) {
  const LevelPlan& plan = plan_.levels[level];
  if (plan.unit) {
    axes_[plan.axis] = b_.integer(0);
    return sweepLevel(level + 1, std::move(carried));
  }
  ForAttr attr;
  attr.dependence = plan.dependence;
  return b_.carryLoop(
      b_.integer(0), iterationsAt(level), std::move(carried),
      [&](ValueId i, std::vector<ValueId> values) {
        axes_[plan.axis] = i;
        std::vector<ValueId> next = sweepLevel(level + 1, std::move(values));
        b_.loc = nest_.loc;
        return next;
      },
      attr);
}

/// How often the loop of a level runs.
ValueId SweepEmitter::iterationsAt(uint32_t level) {
  ValueId tripCount = extents_[plan_.order[level]];
  if (!plan_.levels[level].skipsEmptyInner) return tripCount;
  for (size_t k = level + 1; k < plan_.order.size(); ++k) {
    const ValueId inner = extents_[plan_.order[k]];
    const uint64_t* known = b_.asConstant(inner);
    if (known && *known == 0) return inner;
    if (known) continue;
    tripCount = b_.select(b_.compare(ops::CmpKind::Gt, inner, b_.integer(0)), tripCount, b_.integer(0));
  }
  return tripCount;
}

// --- blocks

void SweepEmitter::open(SweptResult& r, uint32_t level) {
  r.state->open(std::span(plan_.order).subspan(level), extents_, plan_.blocks && plan_.blocks->isOne);
}

void SweepEmitter::openBlocks() {
  for (SweptResult& r : results_.all())
    if (r.plan.blocked) r.state->ordered()->openLanes();
}

std::vector<ValueId> SweepEmitter::sweepBlock(BlockLoops& blocks, const BlockLoops::Span& span,
                                              std::vector<ValueId> carried) {
  for (SweptResult& r : results_.all())
    if (r.plan.blocked) carried[r.at] = r.state->ordered()->beginBlock();
  carried = blocks.sweep(span, std::move(carried),
                         [&](std::vector<ValueId> state) { return sweepPoint(std::move(state)); });
  if (lower_.failed()) return carried;
  b_.loc = nest_.loc;
  for (SweptResult& r : results_.all())
    if (r.plan.blocked) carried[r.at] = r.state->ordered()->endBlock(carried[r.at]);
  return carried;
}

std::vector<ValueId> SweepEmitter::sweepOneBlock(std::vector<ValueId> carried) {
  if (!plan_.blocks) return sweepAxis(0, std::move(carried));
  BlockLoops loops = blocks();
  return sweepBlock(loops, {}, std::move(carried));
}

/// All blocks one after another.
std::vector<ValueId> SweepEmitter::sweepBlocks(std::vector<ValueId> carried) {
  BlockLoops loops = blocks();
  openBlocks();
  if (loops.isOne()) return sweepBlock(loops, {}, std::move(carried));
  return b_.carryLoop(b_.integer(0), loops.count(), carried, [&](ValueId b, std::vector<ValueId> totals) {
    std::vector<ValueId> next = sweepBlock(loops, loops.spanOf(b), totals);
    for (SweptResult& r : results_.all())
      if (r.plan.blocked && !lower_.failed())
        next[r.at] = r.state->ordered()->joinBlock(totals[r.at], next[r.at]);
    return next;
  });
}

// --- points

/// The ops of the body, and what they yield.
std::vector<ValueId> SweepEmitter::sweepPoint(std::vector<ValueId> carried) {
  const core::RegionId body = nest_.regions[0];
  const std::span<const core::ValueId> params = lower_.in.regions[body].params;
  DimValues::Scope dims(lower_.dims);
  for (size_t a = 0; a < axes_.size(); ++a) lower_.define(params[a], {axes_[a]});
  size_t at = 0;
  if (plan_.withAccs) lower_.bind(params.subspan(axes_.size()), accs_, at);
  {
    GivenDestinations::Scope destinations(lower_.given); // another sweep has other places
    results_.planDestinations();
    lower_.lowerPoint(body, plan_.needed);
  }
  if (lower_.failed()) return carried;
  b_.loc = nest_.loc;
  results_.takePoint(carried);
  return carried;
}

} // namespace melix::loops
