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
void inlineCalls(core::Module& module) {
  transforms::InlineOptions options;
  options.beforeDerivatives = false;
  transforms::inlineCalls(module, options);
}

/// Functions of a few ops on indices and elements are inlined before derivatives are taken. The reverse pass
/// then rematerialises their values, and stores none.
void inlineScalarFunctions(core::Module& module) {
  transforms::InlineOptions options;
  options.largestCallee = 24;
  options.mostBatchedOps = 0;
  options.onlyScalars = true;
  if (transforms::inlineCalls(module, options)) transforms::simplify(module); // checks are proved in place
}

void scalariseResults(core::Module& module) { transforms::scalariseResults(module); }
void scalariseCarriedRecords(core::Module& module) { transforms::scalariseCarriedRecords(module); }

void loopsToNests(core::Module& module) {
  if (transforms::reuseSizeSymbols(module)) transforms::simplify(module);
  if (transforms::loopsToNests(module)) transforms::simplify(module);
  // A loop that is sunk leaves one around it with a nest: that may be a nest too then.
  while (transforms::interchangeAccumulatingLoops(module)) {
    transforms::simplify(module);
    if (!transforms::loopsToNests(module)) break;
    transforms::simplify(module);
  }
}

void scalariseCollectedRecords(core::Module& module) {
  if (transforms::scalariseCollectedRecords(module)) transforms::simplify(module);
}

void scalariseAccumulators(core::Module& module) {
  if (transforms::scalariseAccumulators(module)) transforms::simplify(module);
}

void predicateRaggedSums(core::Module& module) {
  if (transforms::predicateRaggedSums(module)) transforms::simplify(module);
}

void delineariseAxes(core::Module& module) {
  if (transforms::versionAxes(module)) transforms::simplify(module);
  if (transforms::delineariseAxes(module)) transforms::simplify(module);
  if (transforms::delineariseAccumulators(module)) transforms::simplify(module);
}

/// What is solved for is divided.
void scatterToGather(core::Module& module) {
  transforms::flattenAccumulatingNests(module);
  transforms::scatterToGather(module);
  if (transforms::delineariseAxes(module)) transforms::simplify(module);
}

void deferAccumulation(core::Module& module) {
  if (!transforms::deferAccumulation(module)) return;
  transforms::simplify(module);
  transforms::scatterToGather(module);
}

void preaggregateScatter(core::Module& module) {
  if (transforms::preaggregateScatter(module)) transforms::simplify(module);
}

void scalariseReductions(core::Module& module) {
  if (transforms::scalariseReductions(module)) transforms::simplify(module);
}

void hoistUnpacks(core::Module& module) {
  if (transforms::hoistUnpacks(module)) transforms::simplify(module);
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

void propagateConstantSizes(core::Module& module) {
  if (transforms::propagateConstantSizes(module)) transforms::simplify(module);
}

Problems expandDerivatives(core::Module& module, FusionLog*) {
  return transforms::expandDerivatives(module).problems;
}

void fuse(core::Module& module, FusionLog* log) { transforms::fuse(module, log); }

/// What a branch kept is the branch again once fusion reads it where it was made: adds in it are sums too.
void scatterToGatherAndFuse(core::Module& module, FusionLog* log) {
  if (!transforms::scatterToGather(module)) return;
  for (const Pass& pass : passes())
    if (pass.isFusing && !pass.mayRound) pass.run(module, log);
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
#define ROW(Name, run, Requires, Establishes, Ends, MayRound, Sentence, fusing)                              \
  table.rows.push_back({#Name, Sentence, run, Requires, Establishes, Ends, MayRound, fusing});
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
