#pragma once
// Drops unit axes: a reduced axis of one point is removed from the nest.
//
//   before:  %r = nest (%i: N, %k: 1) -> keep[i] sum { %a = get %x[%i, %k] : f32  yield %a }
//   after:   %r = nest (%i: N) -> collect[i] { %0 = const 0 : i64  %a = get %x[%i, %0] : f32
//            %z = const 0.0 : f32  %s = add %z, %a : f32  yield %s }
//
// The axis has extent 1, and no result keeps it. A result that reduces no other axis collects instead. Not
// for nests that filter, look for positions or combine by a region. The index of an axis that stays becomes
// the constant 0. Nothing varies with it then, so that a product with a matrix of one column is one with a
// vector. Requires: verified Core. Keeps: every effect; bits.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool dropUnitAxes(core::Module& module);

} // namespace melix::transforms
