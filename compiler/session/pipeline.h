#pragma once
// The pipeline: which passes turn lowered Core into optimised Core, in order. Reads as a list.

#include "core/ir.h"
#include "transforms/expand_derivatives.h"
#include "transforms/fusion_log.h"

#include <functional>
#include <optional>
#include <span>

namespace melix::session {

struct Pass {
  std::string_view name;
  /// Problems for the user, from passes that may refuse a program.
  std::function<std::optional<std::vector<transforms::AdProblem>>(core::Module&)> run;
  bool derivativesGone = false; ///< from here on no `derivative` op remains
  bool rounds = false;          ///< decides how floats are rounded: not under `--strict-fp`
};

/// lower … expand_derivatives: after these `show --stage grad` is taken.
std::span<const Pass> derivativePasses();
/// Takes function values out of lowered Core, and does nothing else.
void functionsKnown(core::Module& module);
/// accumulate_to_reduce … : what "optimised Core" means, also for the interpreter. What fusion decides is
/// written down if `fusion` is given.
std::vector<Pass> optimisingPasses(transforms::FusionLog* fusion = nullptr);

/// The innermost source place of a location chain.
Span locationOf(const core::Module& module, core::LocId loc);

} // namespace melix::session
