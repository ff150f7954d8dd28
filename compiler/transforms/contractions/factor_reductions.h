#pragma once
// Factors reductions: a sum moves inside a factor that does not have its axes. Both remaining sums, or the
// one sum and its multiplication, have to run over fewer axes than the original.
//
//   before:  %r = nest (i: I, n: N, j: J) -> keep[i] sum { yield %w[n] * %t[n, j] * %a[j, i] }
//   after:   %u = nest (j: J, n: N) -> keep[j] sum { yield %w[n] * %t[n, j] }
//            %r = nest (i: I, j: J) -> keep[i] sum { yield %a[j, i] * %u[j] }
//
// Applies to products of three or more float factors, and signs. The table between the sums is no larger than
// an array that the product reads. Nests with effects stay. If the inner sum may have no terms (N is 0), a
// nest after it makes zeros. Requires: verified Core, sums without an order. Keeps: values up to the rounding
// of sums and products.

#include "core/ir/ir.h"

namespace melix::transforms {

void factorReductions(core::Module& module);

} // namespace melix::transforms
