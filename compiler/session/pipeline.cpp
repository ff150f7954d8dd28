#include "session/pipeline.h"

#include "core/order.h"
#include "transforms/accumulate_to_reduce.h"
#include "transforms/add_behind_loops.h"
#include "transforms/canonicalise.h"
#include "transforms/carry_reads.h"
#include "transforms/collapse_axes.h"
#include "transforms/defunctionalise.h"
#include "transforms/divide_once.h"
#include "transforms/fix_sizes.h"
#include "transforms/form_fma.h"
#include "transforms/free_reads.h"
#include "transforms/free_sums.h"
#include "transforms/fuse.h"
#include "transforms/hoist_axes.h"
#include "transforms/hoist_checks.h"
#include "transforms/hoist_sizes.h"
#include "transforms/inline_calls.h"
#include "transforms/interchange_loops.h"
#include "transforms/lift_masks.h"
#include "transforms/mask_ranges.h"
#include "transforms/mask_unread.h"
#include "transforms/mask_zeros.h"
#include "transforms/merge_accumulations.h"
#include "transforms/merge_functions.h"
#include "transforms/name_sizes.h"
#include "transforms/open_records.h"
#include "transforms/open_results.h"
#include "transforms/raise_loops.h"
#include "transforms/reduce_before_multiply.h"
#include "transforms/renew_zeros.h"
#include "transforms/separate_products.h"
#include "transforms/separate_sums.h"
#include "transforms/separate_terms.h"
#include "transforms/simplify.h"
#include "transforms/sink_loops.h"
#include "transforms/specialise_calls.h"
#include "transforms/specialise_sizes.h"
#include "transforms/split_accumulators.h"
#include "transforms/split_axes.h"
#include "transforms/split_places.h"
#include "transforms/split_records.h"
#include "transforms/split_results.h"
#include "transforms/spread_sums.h"
#include "transforms/sum_before_scatter.h"
#include "transforms/sum_rows.h"
#include "transforms/version_nests.h"

namespace melix::session {

namespace {

using Problems = std::optional<std::vector<transforms::AdProblem>>;

/// A pass that refuses nothing.
std::function<Problems(core::Module&)> plain(void (*run)(core::Module&)) {
  return [run](core::Module& module) -> Problems {
    run(module);
    return std::nullopt;
  };
}

/// Nothing but calls needs a function of its own once derivatives are there.
void inlineExpanded(core::Module& module) {
  transforms::InlineOptions options;
  options.beforeDerivatives = false;
  transforms::inlineCalls(module, options);
}

/// What a few ops compute of indices is as if it were written where it is called: the way back keeps nothing
/// of it.
void inlineIndices(core::Module& module) {
  transforms::InlineOptions options;
  options.largestCallee = 8;
  options.largestLoopOfRows = 0;
  options.onlyIntegers = true;
  transforms::inlineCalls(module, options);
}

void openedResults(core::Module& module) { transforms::openResults(module); }
void openedRecords(core::Module& module) { transforms::openRecords(module); }

void raise(core::Module& module) {
  if (transforms::nameSizes(module)) transforms::simplify(module);
  if (transforms::raiseLoops(module)) transforms::simplify(module);
  // A loop that is sunk leaves one around it with a nest: that may be a nest too then.
  while (transforms::sinkLoops(module)) {
    transforms::simplify(module);
    if (!transforms::raiseLoops(module)) break;
    transforms::simplify(module);
  }
}

void parts(core::Module& module) {
  if (transforms::splitRecords(module)) transforms::simplify(module);
}

void splitSums(core::Module& module) {
  if (transforms::splitAccumulators(module)) transforms::simplify(module);
}

void mask(core::Module& module) {
  if (transforms::maskRanges(module)) transforms::simplify(module);
}

void splitAxes(core::Module& module) {
  if (transforms::versionAxes(module)) transforms::simplify(module);
  if (transforms::splitAxes(module)) transforms::simplify(module);
  if (transforms::splitPlaces(module)) transforms::simplify(module);
}

/// What is solved for is divided.
void accumulate(core::Module& module) {
  transforms::mergeAccumulations(module);
  transforms::accumulateToReduce(module);
  if (transforms::splitAxes(module)) transforms::simplify(module);
}

void addBehind(core::Module& module) {
  if (!transforms::addBehindLoops(module)) return;
  transforms::simplify(module);
  transforms::accumulateToReduce(module);
}

void scatter(core::Module& module) {
  if (transforms::sumBeforeScatter(module)) transforms::simplify(module);
}

void spread(core::Module& module) {
  if (transforms::spreadSums(module)) transforms::simplify(module);
}

void sizesInFront(core::Module& module) {
  if (transforms::hoistSizes(module)) transforms::simplify(module);
}

void checksInFront(core::Module& module) {
  if (transforms::hoistChecks(module)) transforms::simplify(module);
}

void versions(core::Module& module) {
  if (transforms::versionNests(module)) transforms::simplify(module);
}

void interchange(core::Module& module) {
  if (transforms::interchangeLoops(module)) transforms::simplify(module);
}

void separateProducts(core::Module& module) {
  if (transforms::separateProducts(module)) transforms::simplify(module);
}

void fix(core::Module& module) {
  if (transforms::fixSizes(module)) transforms::simplify(module);
}

Problems expand(core::Module& module) { return transforms::expandDerivatives(module).problems; }

} // namespace

std::span<const Pass> derivativePasses() {
  static const Pass passes[] = {
      {"simplify", plain(transforms::simplify), false},
      {"specialise_calls", plain(transforms::specialiseCalls), false},
      {"specialise_sizes", plain(transforms::specialiseSizes), false},
      {"defunctionalise", plain(transforms::defunctionalise), false},
      {"inline_indices", plain(inlineIndices), false},
      {"split_records", plain(parts), false},
      {"raise_loops", plain(raise), false},
      {"expand_derivatives", expand, true},
      {"simplify", plain(transforms::simplify), true},
  };
  return passes;
}

void functionsKnown(core::Module& module) {
  transforms::specialiseCalls(module);
  transforms::defunctionalise(module);
}

/// What makes few nests of many, each of which computes what it needs once.
static std::vector<Pass> fusingPasses(transforms::FusionLog* fusion) {
  auto fuse = [fusion](core::Module& module) -> Problems {
    transforms::fuse(module, fusion);
    return std::nullopt;
  };
  return {
      {"canonicalise", plain(transforms::canonicalise), true},
      {"hoist_axes", plain(transforms::hoistAxes), true},
      {"reduce_before_multiply", plain(transforms::reduceBeforeMultiply), true, true},
      {"simplify", plain(transforms::simplify), true},
      {"fuse", fuse, true},
  };
}

std::vector<Pass> optimisingPasses(transforms::FusionLog* fusion) {
  const std::vector<Pass> fusing = fusingPasses(fusion);
  // What a branch kept is the branch again once fusion reads it where it was made: adds in it are sums too.
  auto accumulateAgain = [fusing](core::Module& module) -> Problems {
    if (!transforms::accumulateToReduce(module)) return std::nullopt;
    for (const Pass& pass : fusing)
      if (!pass.rounds) pass.run(module);
    return std::nullopt;
  };
  std::vector<Pass> passes = {
      {"inline_calls", plain(inlineExpanded), true},
      {"open_results", plain(openedResults), true},
      {"open_records", plain(openedRecords), true},
      {"simplify", plain(transforms::simplify), true},
      {"split_accumulators", plain(splitSums), true},
      {"mask_ranges", plain(mask), true},
      {"split_axes", plain(splitAxes), true},
      {"accumulate_to_reduce", plain(accumulate), true},
      {"add_behind_loops", plain(addBehind), true},
      {"sum_before_scatter", plain(scatter), true},
      {"split_results", plain(transforms::splitResults), true},
      {"raise_loops", plain(raise), true},
      {"spread_sums", plain(spread), true, true},
      {"hoist_sizes", plain(sizesInFront), true},
      {"hoist_checks", plain(checksInFront), true},
      {"version_nests", plain(versions), true},
      {"interchange_loops", plain(interchange), true},
      {"separate_products", plain(separateProducts), true},
  };
  passes.insert(passes.end(), fusing.begin(), fusing.end());
  const std::vector<Pass> fused = {
      {"accumulate_again", accumulateAgain, true},
      {"separate_terms", plain(transforms::separateTerms), true},
      {"divide_once", plain(transforms::divideOnce), true},
      {"mask_zeros", plain(transforms::maskZeros), true},
      {"mask_unread", plain(transforms::maskUnread), true},
      {"lift_masks", plain(transforms::liftMasks), true},
      {"free_reads", plain(transforms::freeReads), true},
      {"free_sums", plain(transforms::freeSums), true},
      {"sum_rows", plain(transforms::sumRows), true, true},
      {"separate_sums", plain(transforms::separateSums), true},
      {"collapse_axes", plain(transforms::collapseAxes), true},
      {"carry_reads", plain(transforms::carryReads), true},
      {"choose_orders", plain(core::chooseOrders), true, true},
      {"form_fma", plain(transforms::formFma), true, true},
      {"renew_zeros", plain(transforms::renewZeros), true},
      {"merge_functions", plain(transforms::mergeFunctions), true},
      {"remove_unreachable", plain(transforms::removeUnreachable), true},
      {"fix_sizes", plain(fix), true},
  };
  passes.insert(passes.end(), fused.begin(), fused.end());
  return passes;
}

Span locationOf(const core::Module& module, core::LocId loc) {
  while (loc && module.locs[loc].inner) loc = module.locs[loc].inner;
  return loc ? module.locs[loc].span : Span();
}

} // namespace melix::session
