#pragma once
// Loops of points around each other with nothing else in them but plain numbers, no lanes chosen.

#include "loops/analysis/contraction.h"

namespace melix::loops {

/// A loop of points that carries nothing, whose turns are free of each other however far they are apart.
bool isPointsLoop(const Stmt& s);

/// A loop of points and those inside of it, each the only one in the body of the one before beside plain
/// numbers, outermost first.
std::vector<StmtId> perfectPoints(const Module& module, const Function& fn, StmtId loop);

} // namespace melix::loops
