#pragma once
// Hoists division out of readers: if all readers of an array divide its elements by the same number, the
// producer divides. Each element is divided once, and not at each point of a product.
//
//   before:  %y = nest (%i: N, %j: M) -> collect[i, j] { … yield %e }
//            %z = nest (%k: K, %i: N, %j: M) -> keep[k, i] sum { %a = get %y[%i, %j]  %b = div %a, %s … }
//   after:   %y = nest (%i: N, %j: M) -> collect[i, j] { … %d = div %e, %s  yield %d }
//            %z = nest (%k: K, %i: N, %j: M) -> keep[k, i] sum { %a = get %y[%i, %j] … }
//
// Applies to arrays of f32 and f64 that a nest collects, or an inner nest by rows. The divisor exists before
// the nest, or is computed from values there without a read. A branch may enclose readers, but one reader has
// to run over all elements. Requires: verified Core. Keeps: bits.

#include "core/ir/ir.h"

namespace melix::transforms {

void hoistDivision(core::Module& module);

} // namespace melix::transforms
