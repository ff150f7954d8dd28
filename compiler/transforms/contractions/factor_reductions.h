#pragma once
// A sum over axes that a factor does not have moves inside it, where both sums that are left, or the one and
// what it is multiplied by, run over fewer axes than the one.
//
//   before:  %r = nest (i: I, n: N, j: J) -> keep[i] sum { yield %w[n] * %t[n, j] * %a[j, i] }
//   after:   %u = nest (j: J, n: N) -> keep[j] sum { yield %w[n] * %t[n, j] }
//            %r = nest (i: I, j: J) -> keep[i] sum { yield %a[j, i] * %u[j] }
//
// Products of three or more factors of floats, and signs; the table between the sums is no larger than an
// array that the product reads. Only nests without effects. Where the inner sum may have no terms (N is 0), a
// nest behind makes zeros then. Requires: verified Core, sums without an order. Keeps: values up to the
// rounding of sums and products.

#include "core/ir/ir.h"

namespace melix::transforms {

void reduceBeforeMultiply(core::Module& module);

} // namespace melix::transforms
