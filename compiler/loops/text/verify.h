#pragma once
#include "loops/ir/ir.h"
#include "loops/ir/states.h"

namespace melix::loops {

/// Lists the errors of a module, one a line; empty if it has none. The rules:
/// (1) Statements have the parts that their kind requires, calls the arguments that their callee requires.
/// (2) Values are defined before use and in scope.
/// (3) Regions end in a yield that fits.
/// (4) Kernels are closed.
/// (5) Vectorised loops contain only statements that can be vectorised.
/// (6) The given states hold, of which it checks three: CountsInserted, KernelsOutlined and NoLanes.
///
/// CountsInserted means that nothing is used after it is consumed. Only the elements of an `inout` parameter
/// are used, and its argument has one owner.
std::string verify(const Module& module, States states);

/// The parts of a statement that are too few or too many, by stmts.def; empty if none. `findMisfit` does not
/// check regions.
std::string findMisfit(const Stmt& stmt);

} // namespace melix::loops
