#pragma once
// Runs a pass over functions, each by itself.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Visits the functions that have a body, those too that are added meanwhile.
template <class Visit>
void forEachBody(const core::Module& m, Visit visit) {
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[core::FunctionId(i)].body.valid()) visit(core::FunctionId(i));
}

/// The same for a pass: `change` says whether it changed a function, and where it says nothing it may have.
/// Whether any function was changed.
template <class Change>
bool changeBodies(core::Module& m, Change change) {
  bool any = false;
  forEachBody(m, [&](core::FunctionId f) {
    bool changed = true;
    if constexpr (std::is_void_v<decltype(change(f))>)
      change(f);
    else
      changed = change(f);
    if (changed) m.functions[f].version.raise();
    any |= changed;
  });
  return any;
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
      m.functions[f].version.raise();
    }
  });
}

} // namespace melix::transforms
