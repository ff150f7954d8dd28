#pragma once
// Emits the loops of one sweep of a nest, as its plan says (plan_nest.h).

#include "loops/emit/emit_blocks.h"
#include "loops/emit/emit_results.h"

namespace melix::loops {

class SweepEmitter {
public:
  /// `extents` are by axis and stay where they are; `accs` are the leaves of the accumulators.
  SweepEmitter(Lower& lower, const core::Op& nest, const SweepPlan& plan, const std::vector<ValueId>& extents,
               std::vector<ValueId> accs);

  void run();

  // For sweeps on the pool.
  SweepResults& results() { return results_; }
  BlockLoops blocks() { return {b_, *plan_.blocks, extents_, axes_}; }
  /// Called once before the loops of a level and the loops inside.
  void open(SweptResult& r, uint32_t level);
  /// Memory that all blocks of a loop use.
  void openBlocks();
  /// Emits one block. The states are the incoming ones, except for blocked results, which begin anew.
  std::vector<ValueId> sweepBlock(BlockLoops& blocks, const BlockLoops::Span& span,
                                  std::vector<ValueId> carried);
  /// Emits all of a sweep that is one block, in the same way.
  std::vector<ValueId> sweepOneBlock(std::vector<ValueId> carried);
  bool isOneBlock() const { return plan_.pool == PoolKind::OneBlock; }

private:
  void noteHost();
  bool launchesPoints() const;
  bool launchesOneBlock() const;
  void sweepGrid();
  std::vector<ValueId> sweepLevel(uint32_t level, std::vector<ValueId> carried);
  std::vector<ValueId> sweepAxis(uint32_t level, std::vector<ValueId> carried);
  std::vector<ValueId> sweepBlocks(std::vector<ValueId> carried);
  std::vector<ValueId> sweepPoint(std::vector<ValueId> carried);
  ValueId iterationsAt(uint32_t level);

  Lower& lower_;
  Builder& b_;
  const core::Op& nest_;
  const SweepPlan& plan_;
  const std::vector<ValueId>& extents_;
  std::vector<ValueId> axes_; ///< the current indices, by axis
  const std::vector<ValueId> accs_;
  SweepResults results_;
};

} // namespace melix::loops
