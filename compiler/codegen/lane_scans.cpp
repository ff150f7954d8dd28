// Running totals: what a loop carries by a step that may be grouped in any way, and what its iterations use
// of it.
#include "codegen/lane_emitter.h"

#include <numeric>

namespace melix::codegen {

namespace {

/// Places of a shuffle of values and units by which each lane gets what is `by` lanes before it.
std::vector<int> shiftedBy(unsigned by, unsigned lanes) {
  std::vector<int> places(lanes, static_cast<int>(lanes));
  std::iota(places.begin() + by, places.end(), 0);
  return places;
}

} // namespace

/// The total of each lane and those before it takes as many steps as the number of lanes has bits. Only
/// the last one waits for what was before; a lane that is off adds nothing.
void LaneEmitter::runningTotal(const Stmt& s, Running& running) {
  const loops::ReassociableStep& step = running.step;
  auto combined = [&](Value* a, Value* b) {
    Value* operands[] = {a, b};
    return host_.ops_.apply({step.op, 0, step.kind}, operands, step.kind);
  };
  Value* units = splat(host_.ops_.constant(loops::scalarType(step.kind), step.unit));
  Value* total = vector(step.term);
  if (mask_) total = b_.CreateSelect(mask_, total, units);
  for (unsigned by = 1; by < lanes_; by *= 2)
    total = combined(b_.CreateShuffleVector(total, units, shiftedBy(by, lanes_)), total);
  const std::vector<int> last(lanes_, static_cast<int>(lanes_) - 1);
  running.after = combined(running.before, b_.CreateShuffleVector(total, last));
  keep(s.results[0], combined(running.before, total));
}

} // namespace melix::codegen
