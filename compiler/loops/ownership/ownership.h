#pragma once
// Who owns what: the rule for operands, the modes of parameters, and the pass that balances counts.

#include "loops/ir/ir.h"

namespace melix::loops {

/// Whether a statement takes ownership of its operand (of class Data or Word). Calls ask the callee's modes.
bool consumes(const Module& module, const Stmt& stmt, size_t operand);

/// Parameter modes: a parameter is borrowed unless its function gives it away, itself or through a call. One
/// that is only stored on some paths is borrowed too, if no caller has something of its own for it: the other
/// paths, such as a search that finds its key, count nothing. Linear in the statements, whatever calls what.
/// Requires: functions lowered, counts not yet inserted.
void inferModes(Module& module);

/// Puts `retain` and `drop` so that every owned value is consumed once on every path, as early as possible.
/// before:  %2 = ensure_unique %1 … use %1        after:  retain %1; %2 = ensure_unique %1 … use %1; drop %1
/// Requires: inferModes.
void insertCounts(const Module& module, Function& function);

} // namespace melix::loops
