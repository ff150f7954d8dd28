#pragma once
// Emits calls of builtins. Arguments and results lie in slots of eight bytes, laid out in words as
// compiler/ops/builtins.def specifies.

#include "loops/ir/build.h"

namespace melix::loops {

class Lower;

/// Defines the results of the op.
void emitBuiltin(Lower& lower, const core::Op& op);
/// Calls with arguments that are slots already; gives the first `results` slots as integers.
std::vector<ValueId> callBuiltin(Builder& b, ops::BuiltinKind kind, const std::vector<ValueId>& args,
                                 uint32_t results);

} // namespace melix::loops
