#include "loops/mark_points.h"

#include "loops/lanes.h"
#include "loops/turn_accesses.h"

#include <algorithm>

namespace melix::loops {

namespace {

bool hasRunning(const Function& fn, const Stmt& loop) {
  const auto steps = exactSteps(fn, loop);
  return steps && std::ranges::any_of(*steps, [](const ExactStep& step) { return step.running; });
}

void mark(Function& fn, RegionId region) {
  for (StmtId id : fn.regions[region].stmts) {
    Stmt& s = fn.stmts[id];
    for (RegionId inner : s.regions) mark(fn, inner);
    if (s.kind == StmtKind::For && s.as<ForAttr>().mark == MarkKind::Serial && hasRunning(fn, s) &&
        TurnAccesses(fn, s).areApart())
      s.as<ForAttr>().mark = MarkKind::Points;
  }
}

} // namespace

void markPoints(Function& function) { mark(function, function.body); }

} // namespace melix::loops
