#include "loops/lanes/mark_independent_loops.h"

#include "loops/analysis/iteration_accesses.h"
#include "loops/analysis/vectorizability.h"

#include <algorithm>

namespace melix::loops {

namespace {

/// Whether it carries nothing, or a running total among what it carries.
bool needsTotals(const Function& fn, const Stmt& loop) {
  if (loop.results.empty()) return true;
  const auto steps = exactSteps(fn, loop);
  return steps && std::ranges::any_of(*steps, [](const ReassociableStep& step) { return step.running; });
}

void mark(Function& fn, RegionId region) {
  for (StmtId id : fn.regions[region].stmts) {
    Stmt& s = fn.stmts[id];
    for (RegionId inner : s.regions) mark(fn, inner);
    if (s.kind == StmtKind::For && s.as<ForAttr>().dependence == Dependence::Carried && needsTotals(fn, s) &&
        IterationAccesses(fn, s, true).areDisjoint())
      s.as<ForAttr>().dependence = Dependence::Independent;
  }
}

} // namespace

void markIndependentLoops(Function& function) { mark(function, function.body); }

} // namespace melix::loops
