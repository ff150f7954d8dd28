#include "session/pipeline.h"

#include "core/order/order.h"
#include "transforms/accumulation/defer_accumulation.h"
#include "transforms/accumulation/delinearise_accumulators.h"
#include "transforms/accumulation/flatten_accumulating_nests.h"
#include "transforms/accumulation/preaggregate_scatter.h"
#include "transforms/accumulation/scalarise_accumulators.h"
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/accumulation/sink_zeros.h"
#include "transforms/accumulation/split_nest_results.h"
#include "transforms/axis_splitting/delinearise_axes.h"
#include "transforms/calls/deduplicate_functions.h"
#include "transforms/calls/defunctionalise.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/calls/propagate_constant_sizes.h"
#include "transforms/calls/scalarise_results.h"
#include "transforms/calls/specialise_calls.h"
#include "transforms/calls/specialise_sizes.h"
#include "transforms/canonical/canonicalise.h"
#include "transforms/canonical/scalarise_carried_records.h"
#include "transforms/canonical/scalarise_collected_records.h"
#include "transforms/contractions/contract_fma.h"
#include "transforms/contractions/factor_reductions.h"
#include "transforms/contractions/fission_products.h"
#include "transforms/contractions/interchange_loops.h"
#include "transforms/contractions/scalarise_reductions.h"
#include "transforms/contractions/split_reductions.h"
#include "transforms/counted_loops/carry_stored_values.h"
#include "transforms/counted_loops/interchange_accumulating_loops.h"
#include "transforms/counted_loops/loops_to_nests.h"
#include "transforms/fusion/coalesce_axes.h"
#include "transforms/fusion/fission_checked_sums.h"
#include "transforms/fusion/fission_expensive_terms.h"
#include "transforms/fusion/fuse.h"
#include "transforms/fusion/hoist_division.h"
#include "transforms/fusion/loop_invariant_code_motion.h"
#include "transforms/hoisting/hoist_checks.h"
#include "transforms/hoisting/hoist_unpacks.h"
#include "transforms/hoisting/reuse_size_symbols.h"
#include "transforms/predication/predicate_by_consumer.h"
#include "transforms/predication/predicate_by_zero_factor.h"
#include "transforms/predication/predicate_ragged_sums.h"
#include "transforms/predication/speculate_loads.h"
#include "transforms/predication/speculate_sums.h"
#include "transforms/predication/unswitch_sums.h"
#include "transforms/predication/version_nests.h"
#include "transforms/simplify/simplify.h"

namespace melix::session {

namespace {

using Problems = std::optional<std::vector<transforms::AdProblem>>;
using transforms::FusionLog;

/// Passes that refuse nothing.
template <void (*run)(core::Module&)>
Problems plain(core::Module& module, FusionLog*) {
  run(module);
  return std::nullopt;
}
template <void (*run)(core::Module&, FusionLog*)>
Problems plain(core::Module& module, FusionLog* log) {
  run(module, log);
  return std::nullopt;
}

/// Nothing but calls needs a function of its own once derivatives are there.
void inlineExpanded(core::Module& module) {
  transforms::InlineOptions options;
  options.beforeDerivatives = false;
  transforms::inlineCalls(module, options);
}

/// Functions of a few ops on indices and elements are inlined before derivatives are taken. The reverse pass
/// then rematerialises their values, and stores none.
void inlineScalarFunctions(core::Module& module) {
  transforms::InlineOptions options;
  options.largestCallee = 24;
  options.largestLoopOfRows = 0;
  options.onlyScalars = true;
  if (transforms::inlineCalls(module, options)) transforms::simplify(module); // checks are proved in place
}

void openResults(core::Module& module) { transforms::openResults(module); }
void openRecords(core::Module& module) { transforms::openRecords(module); }

void raise(core::Module& module) {
  if (transforms::nameSizes(module)) transforms::simplify(module);
  if (transforms::raiseLoops(module)) transforms::simplify(module);
  // A loop that is sunk leaves one around it with a nest: that may be a nest too then.
  while (transforms::interchangeAccumulatingLoops(module)) {
    transforms::simplify(module);
    if (!transforms::raiseLoops(module)) break;
    transforms::simplify(module);
  }
}

void splitRecords(core::Module& module) {
  if (transforms::splitRecords(module)) transforms::simplify(module);
}

void splitAccumulators(core::Module& module) {
  if (transforms::splitAccumulators(module)) transforms::simplify(module);
}

void predicateRaggedSums(core::Module& module) {
  if (transforms::predicateRaggedSums(module)) transforms::simplify(module);
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

void deferAccumulation(core::Module& module) {
  if (!transforms::deferAccumulation(module)) return;
  transforms::simplify(module);
  transforms::accumulateToReduce(module);
}

void sumBeforeScatter(core::Module& module) {
  if (transforms::sumBeforeScatter(module)) transforms::simplify(module);
}

void scalariseReductions(core::Module& module) {
  if (transforms::scalariseReductions(module)) transforms::simplify(module);
}

void hoistSizes(core::Module& module) {
  if (transforms::hoistSizes(module)) transforms::simplify(module);
}

void hoistChecks(core::Module& module) {
  if (transforms::hoistChecks(module)) transforms::simplify(module);
}

void versionNests(core::Module& module) {
  if (transforms::versionNests(module)) transforms::simplify(module);
}

void interchangeLoops(core::Module& module) {
  if (transforms::interchangeLoops(module)) transforms::simplify(module);
}

void fissionProducts(core::Module& module) {
  if (transforms::fissionProducts(module)) transforms::simplify(module);
}

void fixSizes(core::Module& module) {
  if (transforms::fixSizes(module)) transforms::simplify(module);
}

Problems expand(core::Module& module, FusionLog*) { return transforms::expandDerivatives(module).problems; }

void fuse(core::Module& module, FusionLog* log) { transforms::fuse(module, log); }

/// What a branch kept is the branch again once fusion reads it where it was made: adds in it are sums too.
void accumulateAgain(core::Module& module, FusionLog* log) {
  if (!transforms::accumulateToReduce(module)) return;
  for (const Pass& pass : passes())
    if (pass.isFusing && !pass.rounds) pass.run(module, log);
}

/// Rows of passes.def in sequence; `derivativesEnd` counts those that write derivatives out.
struct Table {
  std::vector<Pass> rows;
  size_t derivativesEnd = 0;
};

Table makeTable() {
  using enum core::State;
  using States = core::States;
  Table table;
#define NONE States()
#define STATES(...) (States{__VA_ARGS__})
#define ROW(Name, run, Requires, Establishes, Ends, Rounds, Sentence, fusing)                                \
  table.rows.push_back({#Name, Sentence, run, Requires, Establishes, Ends, Rounds, fusing});
#define PASS(Name, run, ...) ROW(Name, plain<run>, __VA_ARGS__, false)
#define FUSING(Name, run, ...) ROW(Name, plain<run>, __VA_ARGS__, true)
#define EXPAND(Name, run, ...) ROW(Name, run, __VA_ARGS__, false)
#define DERIVATIVES_END table.derivativesEnd = table.rows.size();
#include "session/passes.def"
#undef ROW
#undef STATES
#undef NONE
  return table;
}

const Table& table() {
  static const Table made = makeTable();
  return made;
}

} // namespace

std::span<const Pass> passes() { return table().rows; }
std::span<const Pass> derivativePasses() { return passes().first(table().derivativesEnd); }
std::span<const Pass> optimisingPasses() { return passes().subspan(table().derivativesEnd); }

void functionsKnown(core::Module& module) {
  transforms::specialiseCalls(module);
  transforms::defunctionalise(module);
}

Span locationOf(const core::Module& module, core::LocId loc) {
  while (loc && module.locs[loc].inner) loc = module.locs[loc].inner;
  return loc ? module.locs[loc].span : Span();
}

} // namespace melix::session
