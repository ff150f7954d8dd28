#pragma once
// Verifies the invariants of Core (core/README.md): types, places, dominance of values and dimensions, shapes
// of regions.

#include "core/ir/ir.h"
#include "core/ir/states.h"

namespace melix::core {

/// One message a violation, naming function and op; empty when the module is well formed and in these states.
std::vector<std::string> verify(const Module& m, States states = {});
std::vector<std::string> verifyFunction(const Module& m, FunctionId f, States states = {});

/// Records are flat: no loop, branch or reduction takes or gives one, nor a function that only calls name.
std::vector<std::string> verifyRecords(const Module& m);

/// Asserts at the start of a pass that the module is well formed and in the states that the pass requires:
/// where passes are checked (analyses.h).
void require(const Module& m, States states);

/// Checks the type rule of one op, without its regions: empty, or an error message. Total over the ops.
std::string checkOpTypes(const Module& m, const Function& f, const Op& op);

} // namespace melix::core
