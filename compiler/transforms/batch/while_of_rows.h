#pragma once
// A `while` of rows: in each iteration the rows that go on are put together, so that no row runs after its
// end.
//
//   %out = while %zero, %all, %h0 dims [B] { [m] (%out, %lane, %h) yield m > 0 } { [m] (%out, %lane, %h)
//     %c = nest (i: m) -> collect[i] { … the condition of row get %lane[%i] … }
//     %go = nest (i: m) -> filter defines [k] { yield get %c[%i], %i }
//     %ended = if k < m { … each row that ends: set %out[get %lane[%i]] = get %h[%i] … } { yield %out }
//     %on = nest (j: k) -> collect[j] { get %lane[get %go[%j]] }
//     %g = nest (j: k) -> collect[j] { %b = get %on[%j] … get %h[get %go[%j]] … }
//     yield %ended, %on, %g dims [k] }

#include "transforms/batch/batched_loop.h"

namespace melix::transforms {

class WhileOfRows : public BatchedLoop {
public:
  using BatchedLoop::BatchedLoop;

private:
  struct Going;
  void around(core::Builder& b) override;
  std::vector<core::ValueId> rowIndices(core::Builder& in) const override;
  void emitIteration(core::Builder& in, std::span<const core::ValueId> params) const;
  core::ValueId conditions(core::Builder& in, const Going& now) const;
  core::ValueId those(core::Builder& in, core::ValueId goes, core::DimId size, bool goOn) const;
  std::vector<core::ValueId> storeEnded(core::Builder& in, const Going& now, core::ValueId goes,
                                        core::DimId left, std::span<const core::ValueId> ends) const;
  core::ValueId positions(core::Builder& b, core::DimId count) const;
};

} // namespace melix::transforms
