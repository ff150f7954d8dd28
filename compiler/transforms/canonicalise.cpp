#include "transforms/canonicalise.h"

#include "transforms/case_of_case.h"
#include "transforms/compose_reads.h"
#include "transforms/forward_elements.h"
#include "transforms/forward_reads.h"
#include "transforms/merge_perfect.h"
#include "transforms/open_sums.h"
#include "transforms/simplify.h"
#include "transforms/small_arrays.h"
#include "transforms/split_records.h"
#include "transforms/unit_axes.h"

namespace melix::transforms {

namespace {

/// What one pass makes another may see once more; a bound, not an aim.
constexpr int mostCanonicalRounds = 4;

} // namespace

void canonicalise(core::Module& m) {
  for (int round = 0; round < mostCanonicalRounds; ++round) {
    bool changed = dropUnitAxes(m);
    changed |= composeReads(m);
    changed |= forwardReads(m);
    changed |= writeOutSmallArrays(m);
    changed |= forwardElements(m);
    changed |= openSums(m);
    changed |= splitRecords(m);
    changed |= mergePerfect(m);
    changed |= caseOfCase(m);
    if (!changed) return;
    simplify(m);
  }
}

} // namespace melix::transforms
