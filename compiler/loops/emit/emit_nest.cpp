#include "loops/emit/emit_nest.h"
#include "loops/emit/lower_accs.h"

#include "loops/emit/emit_sweep.h"

namespace melix::loops {
namespace {

/// The accumulators of a nest: those that begin here are memory until its end.
class Accumulators {
public:
  Accumulators(Lower& lower, const core::Op& op) : lower_(lower), nest_(lower.in, op) {}

  /// The leaves of all.
  std::vector<ValueId> open() {
    std::vector<ValueId> all;
    for (core::ValueId acc : nest_.accOperands()) {
      begun_.push_back(lower_.leaves(acc));
      addresses_.push_back(begins(acc) ? openAcc(lower_, lower_.typeOf(acc), begun_.back()) : begun_.back());
      all.insert(all.end(), addresses_.back().begin(), addresses_.back().end());
    }
    return all;
  }

  void close() {
    for (uint32_t k = 0; k < nest_.accs(); ++k) {
      const core::ValueId result = nest_.accResults()[k];
      lower_.define(result, begins(nest_.accOperands()[k])
                                ? closeAcc(lower_, lower_.typeOf(result), addresses_[k], begun_[k])
                                : addresses_[k]);
    }
  }

private:
  bool begins(core::ValueId acc) const { return lower_.types.kind(lower_.typeOf(acc)) != TypeKind::Acc; }

  Lower& lower_;
  const core::NestView nest_;
  std::vector<std::vector<ValueId>> begun_, addresses_;
};

void runAdding(Lower& lower, const core::Op& nest, const SweepPlan& sweep,
               const std::vector<ValueId>& extents) {
  Accumulators accs(lower, nest);
  SweepEmitter(lower, nest, sweep, extents, accs.open()).run();
  if (!lower.failed()) accs.close();
}

} // namespace

void emitNest(Lower& lower, const core::Op& nest) {
  std::vector<ValueId> extents;
  for (types::DimId d : nest.dims) extents.push_back(lower.dim(d));
  const NestPlan plan = planNest(lower.in, lower.layouts, nest, lower.inNest());
  if (!plan.problem.empty()) return lower.fail(plan.problem);
  for (const SweepPlan& sweep : plan.sweeps) {
    if (sweep.withAccs)
      runAdding(lower, nest, sweep, extents);
    else
      SweepEmitter(lower, nest, sweep, extents, {}).run();
    if (lower.failed()) return;
  }
}

} // namespace melix::loops
