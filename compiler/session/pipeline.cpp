#include "session/pipeline.h"

#include "core/ir/analyses.h"
#include "core/order/order.h"
#include "transforms/accumulation/defer_accumulation.h"
#include "transforms/accumulation/delinearise_accumulators.h"
#include "transforms/accumulation/flatten_accumulating_nests.h"
#include "transforms/accumulation/preaggregate_scatter.h"
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/accumulation/sink_zeros.h"
#include "transforms/accumulation/split_nest_results.h"
#include "transforms/axis_splitting/delinearise_axes.h"
#include "transforms/batch/batch_rows.h"
#include "transforms/batch/fission_products.h"
#include "transforms/batch/tabulate_products.h"
#include "transforms/batch/tile_rows.h"
#include "transforms/calls/deduplicate_functions.h"
#include "transforms/calls/defunctionalise.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/calls/propagate_constant_sizes.h"
#include "transforms/calls/specialise_calls.h"
#include "transforms/calls/specialise_sizes.h"
#include "transforms/canonical/canonicalise.h"
#include "transforms/canonical/flatten_records.h"
#include "transforms/canonical/scalarise_collected_records.h"
#include "transforms/contractions/contract_fma.h"
#include "transforms/contractions/factor_reductions.h"
#include "transforms/contractions/scalarise_reductions.h"
#include "transforms/contractions/split_reductions.h"
#include "transforms/counted_loops/carry_stored_values.h"
#include "transforms/counted_loops/interchange_accumulating_loops.h"
#include "transforms/counted_loops/loops_to_nests.h"
#include "transforms/counted_loops/while_to_for.h"
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

/// Passes that refuse nothing. One that says whether it changed anything raises the versions of the functions
/// that it changed; after another one any function may have changed.
template <void (*run)(core::Module&)>
Problems plain(core::Module& module, const PassContext&) {
  run(module);
  core::raiseAll(module);
  return std::nullopt;
}
template <bool (*run)(core::Module&)>
Problems plain(core::Module& module, const PassContext&) {
  run(module);
  return std::nullopt;
}
template <bool (*run)(core::Module&, const PassContext&)>
Problems plain(core::Module& module, const PassContext& context) {
  run(module, context);
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

/// `changed` is whether a pass changed anything.
bool simplified(core::Module& module, bool changed) {
  if (changed) transforms::simplify(module);
  return changed;
}

/// A pass and, if it changed anything, simplification.
template <bool (*run)(core::Module&)>
bool thenSimplify(core::Module& module) {
  return simplified(module, run(module));
}
template <bool (*run)(core::Module&, transforms::BatchingLog*)>
bool thenSimplify(core::Module& module, const PassContext& context) {
  return simplified(module, run(module, context.logs.batching));
}

bool tileRows(core::Module& module, const PassContext& context) {
  return simplified(module, transforms::tileRows(module, context.rowsOfTile, context.logs.batching));
}

bool loopsToNests(core::Module& module) {
  bool changed = simplified(module, transforms::reuseSizeSymbols(module));
  changed |= simplified(module, transforms::whileToFor(module));
  changed |= simplified(module, transforms::loopsToNests(module));
  // A loop that is sunk leaves one around it with a nest: that may be a nest too then.
  while (simplified(module, transforms::interchangeAccumulatingLoops(module))) {
    changed = true;
    if (!simplified(module, transforms::loopsToNests(module))) break;
  }
  return changed;
}

bool delineariseAxes(core::Module& module) {
  bool changed = simplified(module, transforms::versionAxes(module));
  changed |= simplified(module, transforms::delineariseAxes(module));
  changed |= simplified(module, transforms::delineariseAccumulators(module));
  return changed;
}

/// What is solved for is divided.
bool scatterToGather(core::Module& module) {
  bool changed = transforms::flattenAccumulatingNests(module);
  changed |= transforms::scatterToGather(module);
  changed |= simplified(module, transforms::delineariseAxes(module));
  return changed;
}

bool deferAccumulation(core::Module& module) {
  if (!simplified(module, transforms::deferAccumulation(module))) return false;
  transforms::scatterToGather(module);
  return true;
}

Problems expandDerivatives(core::Module& module, const PassContext&) {
  return transforms::expandDerivatives(module).problems;
}

bool fuse(core::Module& module, const PassContext& context) {
  return transforms::fuse(module, context.logs.fusion);
}

/// What a branch kept is the branch again once fusion reads it where it was made: adds in it are sums too.
bool scatterToGatherAndFuse(core::Module& module, const PassContext& context) {
  if (!transforms::scatterToGather(module)) return false;
  for (const Pass& pass : passes())
    if (pass.isFusing && !pass.mayRound) pass.run(module, context);
  return true;
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
#define ROW(Name, run, Requires, Establishes, Ends, MayRound, Sentence, fusing, batching)                    \
  table.rows.push_back({#Name, Sentence, run, Requires, Establishes, Ends, MayRound, fusing, batching});
#define PASS(Name, run, ...) ROW(Name, plain<run>, __VA_ARGS__, false, false)
#define FUSING(Name, run, ...) ROW(Name, plain<run>, __VA_ARGS__, true, false)
#define BATCHING(Name, run, ...) ROW(Name, plain<run>, __VA_ARGS__, false, true)
#define EXPAND(Name, run, ...) ROW(Name, run, __VA_ARGS__, false, false)
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
