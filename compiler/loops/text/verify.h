#pragma once
#include "loops/ir/ir.h"
#include "loops/ir/states.h"

namespace melix::loops {

/// What is wrong with a module, one problem a line; empty if nothing is. Statements have what their kind asks
/// for, calls what their callee asks for; values are defined before use and in scope; regions end in a yield
/// that fits; kernels are closed; what loops do side by side they can; the states hold, of which it sees
/// CountsInserted (nothing is used after it is consumed; of an `inout` parameter nothing but elements is
/// used, and what is passed for it has one owner), KernelsOutlined and NoLanes.
std::string verify(const Module& module, States states);

/// What a statement has too few or too many of, by stmts.def; empty if nothing. Of regions `findMisfit` says
/// nothing.
std::string findMisfit(const Stmt& stmt);

} // namespace melix::loops
