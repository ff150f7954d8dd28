#include "loops/emit/emit_pool.h"
#include "loops/emit/emit_grid.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_values.h"

#include <algorithm>
#include <optional>

namespace melix::loops {
namespace {

using core::OpKind;

/// Blocks whose results are kept at a time: as many as frames hold (stack_allocation.h), or as occupy a
/// device.
constexpr int64_t windowShift = 10, gridShift = 20;

class PoolEmitter {
public:
  PoolEmitter(Lower& lower, SweepEmitter& sweep)
      : lower_(lower), b_(lower.b), sweep_(sweep), results_(sweep.results()),
        isGrid_(launches(lower) && !results_.filters()), windowShift_(isGrid_ ? gridShift : windowShift),
        windowBlocks_(int64_t(1) << windowShift_) {}

  /// Each block stores what it leaves, and the blocks are then combined in order: window by window, so that
  /// few of them are remembered at a time; on a device a block is a point of a launch. A filter writes what a
  /// block keeps at the block's beginning, and remembers how much that is of all.
  void run() {
    if (!sweep_.isOneBlock()) blocks_.emplace(sweep_.blocks());
    const ValueId count = blocks_ ? blocks_->count() : b_.integer(1);
    for (SweptResult& r : results_.all())
      if (r.state) sweep_.open(r, 0);
    const bool filters = results_.filters();
    const ValueId window = filters ? count : b_.arith(OpKind::Min, count, b_.integer(windowBlocks_));
    std::vector<ValueId> totals = firstStates(b_.integer(0));
    for (ValueId v : totals) left_.push_back(leftByBlocks(v, window));
    const uint64_t* known = b_.asConstant(count);
    if (filters || (known && *known <= static_cast<uint64_t>(windowBlocks_)))
      totals = runWindow(b_.integer(0), count, totals);
    else
      totals = runWindows(count, totals);
    if (lower_.failed()) return;
    for (const SweptResult& r : results_.all())
      if (r.plan.isFilter()) results_.finishFilter(r, totals[r.at], left_[r.at].base, count);
    results_.finishLevel(0, totals);
  }

private:
  /// The states of all results before their first point, in a row; `filtered` counts where a filter begins.
  std::vector<ValueId> firstStates(ValueId filtered) {
    std::vector<ValueId> states;
    for (SweptResult& r : results_.all())
      if (!r.plan.isCollect())
        r.begin(states, r.plan.isFilter() ? std::vector<ValueId>{filtered} : r.state->init());
    return states;
  }

  /// Memory for a scalar of each block.
  Place leftByBlocks(ValueId scalar, ValueId blocks) {
    const TypeId type = lower_.types.scalar(b_.fn.typeOf(scalar).scalar);
    Place place = memoryPlace(lower_, allocArray(lower_, type, {blocks}, false), type);
    place.scale = lower_.layouts.stored(type).size;
    return place;
  }

  /// What the block numbered `block` left behind there.
  Place leftAt(Place left, ValueId block) {
    left.terms.push_back({block, b_.integer(1)});
    return left;
  }

  std::vector<ValueId> runWindows(ValueId count, const std::vector<ValueId>& totals) {
    const ValueId filled = b_.arith(OpKind::Add, count, b_.integer(windowBlocks_ - 1));
    const ValueId windows = b_.arith(OpKind::Shr, filled, b_.integer(windowShift_));
    return b_.carryLoop(b_.integer(0), windows, totals, [&](ValueId w, std::vector<ValueId> sofar) {
      ValueId first = b_.arith(OpKind::Mul, w, b_.integer(windowBlocks_));
      ValueId rest = b_.arith(OpKind::Sub, count, first);
      return runWindow(first, b_.arith(OpKind::Min, rest, b_.integer(windowBlocks_)), std::move(sofar));
    });
  }

  std::vector<ValueId> runWindow(ValueId first, ValueId some, std::vector<ValueId> before) {
    runBlocks(first, some);
    if (lower_.failed()) return before;
    return b_.carryLoop(b_.integer(0), some, std::move(before), [&](ValueId b, std::vector<ValueId> sofar) {
      std::vector<ValueId> block;
      for (const Place& place : left_) block.push_back(loadStored(lower_, leftAt(place, b))[0]);
      return mergeBlock(std::move(sofar), block);
    });
  }

  /// Blocks `first` … `first + count` run in any order; each leaves its states, after those of the block
  /// before.
  void runBlocks(ValueId first, ValueId count) {
    ForAttr attr;
    attr.dependence = Dependence::None;
    attr.grid = attr.blocks = isGrid_;
    RegionId region = b_.begin({indexType});
    const ValueId at = b_.params(region)[0];
    std::optional<BlockLoops::Span> span;
    if (blocks_) span = blocks_->spanOf(b_.arith(OpKind::Add, first, at));
    sweep_.openBlocks();
    std::vector<ValueId> states = span ? sweep_.sweepBlock(*blocks_, *span, firstStates(span->first))
                                       : sweep_.sweepOneBlock(firstStates(b_.integer(0)));
    if (lower_.failed()) return;
    for (const SweptResult& r : results_.all())
      if (r.plan.isFilter()) states[r.at] = b_.arith(OpKind::Sub, states[r.at], span->first);
    for (size_t k = 0; k < states.size(); ++k)
      storeStored(lower_, leftAt(left_[k], at), {states[k]}, StoreMode::Fresh);
    region = b_.end();
    b_.stmt(StmtKind::For, {b_.integer(0), count}, {}, attr, {region});
  }

  /// What one block leaves joined with what those before it came to.
  std::vector<ValueId> mergeBlock(std::vector<ValueId> before, const std::vector<ValueId>& block) {
    for (SweptResult& r : results_.all()) {
      if (r.plan.isFilter())
        before[r.at] = b_.arith(OpKind::Add, before[r.at], block[r.at]);
      else if (r.state)
        r.setState(before, r.state->merge(r.stateIn(before), r.stateIn(block)));
    }
    return before;
  }

  Lower& lower_;
  Builder& b_;
  SweepEmitter& sweep_;
  SweepResults& results_;
  std::optional<BlockLoops> blocks_; ///< none: all is one block
  const bool isGrid_;
  const int64_t windowShift_, windowBlocks_;
  std::vector<Place> left_; ///< by state: what the blocks of a window leave
};

} // namespace

void sweepOnPool(Lower& lower, SweepEmitter& sweep) { PoolEmitter(lower, sweep).run(); }

} // namespace melix::loops
