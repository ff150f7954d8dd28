#pragma once
// The invariants of Core (core/README.md): types, places, dominance of values and dimensions, shapes of
// regions.

#include "core/ir.h"

namespace melix::core {

/// What passes promise about the module as a whole, checked on demand.
struct VerifyBarriers {
  bool noDerivative = false; ///< after expand_derivatives
  bool noClosure = false;    ///< after defunctionalise: no closure, no apply, no Function type
};

/// One message a violation, naming function and op; empty when the module is well formed.
std::vector<std::string> verify(const Module& m, VerifyBarriers barriers = {});
std::vector<std::string> verifyFunction(const Module& m, FunctionId f, VerifyBarriers barriers = {});

/// Type rule of one op, without its regions: empty, or what is wrong. Total over the ops.
std::string checkOpTypes(const Module& m, const Function& f, const Op& op);

} // namespace melix::core
