#pragma once
// What passes share that free ops from branches in nests: the walk, and what tells whether an op may run
// although its branch is not taken.

#include "core/walk.h"
#include "transforms/undefined.h"

namespace melix::transforms {

struct FreeingFacts {
  explicit FreeingFacts(const core::Module& m) : effects(m), undefined(m) {}
  const core::Effects effects;
  const Undefined undefined;
};

/// Calls `visit(OpId)` for every nest of the region, those inside of another first; it may change the ops of
/// the nest's body.
template <class Visit>
void forEachNestInsideOut(const core::Function& fn, core::RegionId region, const Visit& visit) {
  const std::vector<core::OpId> ops = fn.regions[region].ops;
  for (core::OpId id : ops) {
    for (core::RegionId inner : fn.ops[id].regions) forEachNestInsideOut(fn, inner, visit);
    if (fn.ops[id].kind == core::OpKind::Nest) visit(id);
  }
}

/// Makes a `Freer(m, f, facts)` of each function, which is shown its nests by `nest(OpId)`.
template <class Freer>
void freeInsideOut(core::Module& m) {
  const FreeingFacts facts(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const core::FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Freer freer(m, f, facts);
    forEachNestInsideOut(m.functions[f], m.functions[f].body, [&](core::OpId nest) { freer.nest(nest); });
  }
}

} // namespace melix::transforms
