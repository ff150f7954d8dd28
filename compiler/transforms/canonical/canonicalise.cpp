#include "transforms/canonical/canonicalise.h"

#include "core/order/verify.h"
#include "transforms/canonical/case_of_case.h"
#include "transforms/canonical/compose_reads.h"
#include "transforms/canonical/drop_unit_axes.h"
#include "transforms/canonical/expand_array_sums.h"
#include "transforms/canonical/flatten_perfect_nests.h"
#include "transforms/canonical/forward_stores.h"
#include "transforms/canonical/scalarise_elements.h"
#include "transforms/canonical/scalarise_small_nests.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {

namespace {

/// What one pass makes another may see once more; a bound, not an aim.
constexpr int mostCanonicalRounds = 4;

} // namespace

bool canonicalise(core::Module& m) {
  core::require(m, {core::State::DerivativesGone});
  bool any = false;
  for (int round = 0; round < mostCanonicalRounds; ++round) {
    bool changed = dropUnitAxes(m);
    changed |= composeReads(m);
    changed |= forwardStores(m);
    changed |= writeOutSmallArrays(m);
    changed |= scalariseElements(m);
    changed |= expandArraySums(m);
    changed |= flattenPerfectNests(m);
    changed |= caseOfCase(m);
    if (!changed) break;
    simplify(m);
    any = true;
  }
  return any;
}

} // namespace melix::transforms
