#pragma once
// Simplifies locally, to a fixed point: constant folding, folding of dimensions, removal of unpacking after
// packing, branches on constants, invariant carries, proved checks, common subexpressions, dead values.
// Conditions and choices get one form, so that other passes need to know one spelling (canonical_branches.h).
//
//   before:  %c = const true : bool   %r = if %c { yield %a } { yield %b } : f32   %s = get (make %r, %x).0 :
//   f32 after:   %a in the place of %r and %s
//
// Requires: verified Core. Keeps: every effect, in order; the bits of floats (only exact identities are
// used). A check goes only when it is proved or stands after the same check.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any function changed.
bool simplify(core::Module& module);

/// One round over one function without removing dead values; whether anything changed.
bool foldFunction(core::Module& module, core::FunctionId f);

} // namespace melix::transforms
