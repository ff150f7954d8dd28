#pragma once
// Outlines a region as a function of its own.

#include "core/ir/ir.h"

namespace melix::core {

/// `op` has one region without parameters, whose values are its results, and no operands: it becomes a call
/// of a new function with that region as its body. Values and sizes that the region reads from outside become
/// parameters. It runs where its caller does.
FunctionId outline(Module& m, FunctionId f, OpId op, std::string name);

} // namespace melix::core
