#pragma once
// Elements that all who read them divide by the same number are divided where they are made: once each, and
// not at each turn of a product.
//
//   before:  %y = nest (%i: N, %j: M) -> collect[i, j] { … yield %e }
//            %z = nest (%k: K, %i: N, %j: M) -> keep[k, i] sum { %a = get %y[%i, %j]  %b = div %a, %s … }
//   after:   %y = nest (%i: N, %j: M) -> collect[i, j] { … %d = div %e, %s  yield %d }
//            %z = nest (%k: K, %i: N, %j: M) -> keep[k, i] sum { %a = get %y[%i, %j] … }
//
// Of arrays that a nest collects, or a nest in it by rows, of f32 and f64; by what is there in front of the
// nest, or is computed of that without a read. A branch may stand around those who read, but one of them is
// to run over all elements. Requires: verified Core. Keeps: bits.

#include "core/ir/ir.h"

namespace melix::transforms {

void divideOnce(core::Module& module);

} // namespace melix::transforms
