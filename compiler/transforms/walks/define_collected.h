#pragma once
// Defines the arrays that a nest collects. A nest copies the values that it collects, so an array that is
// undefined at some points becomes a zero there.
//
//   before:  nest (%i: N) -> collect[i] { … %r = if %c { yield %a } { %u = undef : f64[3]   yield %u }  yield
//   %r } after:   nest (%i: N) -> collect[i] { … %r = if %c { yield %a } { %u = zero : f64[3]    yield %u }
//   yield %r }
//
// Keeps: values, but for undefined ones.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Of one nest. Whether something changed.
bool defineCollected(core::Module& m, core::FunctionId f, core::OpId nest);
/// Of all nests of a function.
void defineCollected(core::Module& m, core::FunctionId f);

} // namespace melix::transforms
