#include "loops/analysis/perfect_nest.h"

#include "loops/ir/build.h"

namespace melix::loops {
namespace {

/// The only loop in the body of another, if it is one of points.
StmtId innerOf(const Module& module, const Function& fn, const Stmt& outer) {
  const StmtId inner = onlyLoop(fn, outer.regions[0],
                                [&](const Stmt& s) { return s.regions.empty() && isPlain(module, fn, s); });
  return inner.valid() && isPointsLoop(fn.stmts[inner]) ? inner : StmtId();
}

} // namespace

bool isPointsLoop(const Stmt& s) {
  if (s.kind != StmtKind::For || !s.results.empty()) return false;
  const auto& attr = s.as<ForAttr>();
  return attr.dependence == Dependence::Independent && attr.minDistance == 0 && attr.vectorWidth == 0 &&
         !attr.polls;
}

std::vector<StmtId> perfectPoints(const Module& module, const Function& fn, StmtId loop) {
  std::vector<StmtId> out;
  for (StmtId at = loop; at.valid(); at = innerOf(module, fn, fn.stmts[at])) out.push_back(at);
  return out;
}

} // namespace melix::loops
