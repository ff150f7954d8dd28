#pragma once
// Reference counting: the ownership rule of operands, the modes of parameters, and the pass that balances
// counts.

#include "loops/ir/ir.h"

namespace melix::loops {

/// Whether a statement takes ownership of its operand (of class Data or Word). For calls, the callee's modes
/// decide.
bool consumes(const Module& module, const Stmt& stmt, size_t operand);

/// Infers parameter modes: a parameter is borrowed unless its function gives it away, itself or through a
/// call. A parameter stored only on some paths is borrowed too, if no caller owns its argument. The other
/// paths, such as a search that finds its key, then count nothing. Linear in the statements, regardless of
/// the call graph. Requires: functions lowered, counts not yet inserted.
void inferModes(Module& module);

/// Inserts `retain` and `drop` so that every owned value is consumed once on every path, as early as
/// possible.
/// before:  %2 = ensure_unique %1 … use %1        after:  retain %1; %2 = ensure_unique %1 … use %1; drop %1
/// Requires: inferModes.
void insertCounts(const Module& module, Function& function);

} // namespace melix::loops
