#pragma once
// Replaces reads of a number that became a size by reads of that size, of which the analyses know more.
//
//   before:  bind_dim %n defines [n]   %x = zero : f32[n]   … for %n, … { (%i) check index %i dims [n] … }
//   after:   bind_dim %n defines [n]   %m = dim_value dims [n]   … for %m, … — and the check can be proved
//
// Applies to uses after the `bind_dim`, and in regions there. Requires: verified Core. Keeps: all values.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool reuseSizeSymbols(core::Module& module);

} // namespace melix::transforms
