#pragma once
// Finds perfect nests: nested loops of independent iterations that contain only pure scalars beside each
// other, not yet vectorised.

#include "loops/analysis/contraction.h"

namespace melix::loops {

/// A loop of independent iterations that carries nothing, with unlimited dependence distance.
bool isPointsLoop(const Stmt& s);

/// Such a loop and the loops inside it, outermost first. Each is the only statement in the body of the
/// previous one, beside pure scalars.
std::vector<StmtId> perfectPoints(const Module& module, const Function& fn, StmtId loop);

} // namespace melix::loops
