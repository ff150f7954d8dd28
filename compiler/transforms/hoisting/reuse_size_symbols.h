#pragma once
// Numbers that were made sizes are read as those sizes, of which more is known.
//
//   before:  bind_dim %n defines [n]   %x = zero : f32[n]   … for %n, … { (%i) check index %i dims [n] … }
//   after:   bind_dim %n defines [n]   %m = dim_value dims [n]   … for %m, … — and the check can be proved
//
// Behind the `bind_dim`, and in regions there. Requires: verified Core. Keeps: all values.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool nameSizes(core::Module& module);

} // namespace melix::transforms
