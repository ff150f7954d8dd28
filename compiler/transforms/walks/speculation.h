#pragma once
// Shared by passes that speculate ops out of branches in nests: the walk, and the facts that determine
// whether an op may run although its branch is not taken.

#include "core/analysis/ranges.h"
#include "core/ir/walk.h"
#include "transforms/analysis/maybe_undefined.h"
#include "transforms/walks/for_each_function.h"

namespace melix::transforms {

struct FreeingFacts {
  explicit FreeingFacts(const core::Module& m) : effects(m), undefined(m) {}
  const core::Effects effects;
  const Undefined undefined;
};

/// Whether a read of elements of an array is in range, by the facts known at a place.
bool readsInRange(core::Module& m, const core::Function& fn, core::Ranges& ranges, const core::Op& get);

/// Calls `visit(OpId, Ranges&)` for every nest of the region, inner nests first, with the ranges known at the
/// start of a point; it may change the ops of the nest's body.
template <class Visit>
void forEachNestInsideOut(const core::Function& fn, core::RegionId region, core::Ranges& ranges,
                          const Visit& visit) {
  const std::vector<core::OpId> ops = fn.regions[region].ops;
  for (core::OpId id : ops) {
    const core::Regions regions = fn.ops[id].regions;
    for (core::RegionId inner : regions) {
      const core::Ranges::Mark mark = ranges.enter(inner);
      forEachNestInsideOut(fn, inner, ranges, visit);
      ranges.leave(mark);
    }
    if (fn.ops[id].kind == core::OpKind::Nest) {
      const core::Ranges::Mark mark = ranges.enter(regions[0]);
      visit(id, ranges);
      ranges.leave(mark);
    }
    ranges.define(fn.ops[id]);
  }
}

/// Makes a `Freer(m, f, facts)` of each function with branches, which is shown its nests by
/// `nest(OpId, Ranges&)`.
template <class Speculator>
void speculateInsideOut(core::Module& m) {
  const FreeingFacts facts(m);
  changeBodies(m, [&](core::FunctionId f) {
    const core::Function& fn = m.functions[f];
    bool branches = false;
    core::forEachOp(fn, [&](core::OpId id) { branches |= fn.ops[id].kind == core::OpKind::If; });
    if (!branches) return false;
    Speculator speculator(m, f, facts);
    core::Ranges ranges(m, f);
    forEachNestInsideOut(fn, fn.body, ranges,
                         [&](core::OpId nest, core::Ranges& known) { speculator.nest(nest, known); });
    return true;
  });
}

} // namespace melix::transforms
