#pragma once
// Contracts a product and a sum into one fused multiply-add, which rounds once. This is the only pass that
// contracts (off under --strict-fp).
//
//   before:  %p = mul %a, %b   %r = add %p, %c          after:  %r = fma %a, %b, %c
//   before:  nest … -> keep[] sum chain { … yield mul }  after:  … sum chain fused
//
//   before:  nest … -> keep[] sum chain { … %t = if %m { … %p = mul %a, %b   yield %p } { yield 0 }   yield
//   %t } after:   nest … -> keep[] sum chain fused { …
//              %x, %y = if %m { … yield %a, %b } { yield 0, -0 }   %t = mul %x, %y   yield %t }
//
// A term that a branch leaves out is 0 · -0, which leaves every sum as it is, also -0. Applies to nested
// branches too, and to products in several arms; not where an arm gives any other number.
//
// f32 and f64, where the product has no other use. a·b - c and c - a·b become fma with a negated operand,
// which is exact. Requires: verified Core, orders chosen (core/order/order.h).

#include "core/ir/ir.h"

namespace melix::transforms {

void contractFma(core::Module& module);

} // namespace melix::transforms
