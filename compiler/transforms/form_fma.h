#pragma once
// Joins products and sums into one rounding; the only place where contraction happens (off under
// --strict-fp).
//
//   before:  %p = mul %a, %b   %r = add %p, %c          after:  %r = fma %a, %b, %c
//   before:  nest … -> keep[] sum chain { … yield mul }  after:  … sum chain fused
//
// f32 and f64, where the product has no other use. a·b - c and c - a·b become fma with a negated operand,
// which is exact. Requires: verified Core, orders chosen (core/order.h).

#include "core/ir.h"

namespace melix::transforms {

void formFma(core::Module& module);

} // namespace melix::transforms
