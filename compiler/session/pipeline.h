#pragma once
// The pipeline: the passes from lowered Core to optimised Core, in order. passes.def is the list.

#include "core/ir/ir.h"
#include "core/ir/states.h"
#include "transforms/batch/batching_log.h"
#include "transforms/derivatives/expand_derivatives.h"
#include "transforms/fusion/fusion_log.h"

#include <optional>
#include <span>

namespace melix::session {

/// Where passes write their decisions, if anyone asks for these.
struct PassLogs {
  transforms::FusionLog* fusion = nullptr;
  transforms::BatchingLog* batching = nullptr;
};

/// Passes get this beside the module.
struct PassContext {
  PassLogs logs;
  std::optional<int64_t> rowsOfTile; ///< at most so many rows are batched together, for tests
};

/// A row of passes.def.
struct Pass {
  std::string_view name;
  std::string_view sentence; ///< its transformation
  /// Gives problems for the user, if it may refuse a program.
  std::optional<std::vector<transforms::AdProblem>> (*run)(core::Module&, const PassContext&);
  core::States needs, establishes, ends; ///< before it; from here on; no longer
  bool mayRound = false;                 ///< decides how floats are rounded: not under `--strict-fp`
  bool isFusing = false;                 ///< runs again where scatter_to_gather found a sum
  bool isBatching = false;               ///< runs ops for all rows of a nest at once
};

/// States of Core as it is lowered.
inline constexpr core::States statesOfLowered{core::State::SumsUnordered, core::State::EnumsMatched};

/// All passes; the first ones, which end with derivatives written out (`show --stage grad` is taken after
/// these); and the others, which make optimised Core, also for the interpreter.
std::span<const Pass> passes();
std::span<const Pass> derivativePasses();
std::span<const Pass> optimisingPasses();
/// Takes function values out of lowered Core, and does nothing else.
void functionsKnown(core::Module& module);

/// The innermost place in a source of a location chain.
Span locationOf(const core::Module& module, core::LocId loc);

} // namespace melix::session
