#pragma once
#include "loops/ir.h"

namespace melix::loops {

/// What is wrong with a module, one problem a line; empty if nothing is. Values are defined before use and in
/// scope; regions end in a yield that fits; kernels are closed; with `counted`, every owned value is consumed
/// once on every path and nothing is used after that.
std::string verify(const Module& module, bool counted);

} // namespace melix::loops
