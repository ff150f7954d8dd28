#pragma once
// Runs a pass over functions, each by itself.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Visits the functions that have a body, those too that are added meanwhile.
template <class Visit>
void forEachBody(core::Module& m, Visit visit) {
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[core::FunctionId(i)].body.valid()) visit(core::FunctionId(i));
}

/// The same, where `change` says whether it changed a function; whether any was.
template <class Change>
bool changeBodies(core::Module& m, Change change) {
  bool changed = false;
  forEachBody(m, [&](core::FunctionId f) { changed |= change(f); });
  return changed;
}

/// Runs `Pass(m, f)` over the body of each function, and again as long as it says that it changed the
/// function. For passes that may create new opportunities for themselves. Whether any function changed.
template <class Pass>
bool runWhileChanging(core::Module& m) {
  return changeBodies(m, [&](core::FunctionId f) {
    for (bool changed = false;; changed = true) {
      Pass pass(m, f);
      pass.run(m.functions[f].body);
      if (!pass.changed) return changed;
    }
  });
}

} // namespace melix::transforms
