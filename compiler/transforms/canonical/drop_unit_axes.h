#pragma once
// Axes of one point that are summed over are none.
//
//   before:  %r = nest (%i: N, %k: 1) -> keep[i] sum { %a = get %x[%i, %k] : f32  yield %a }
//   after:   %r = nest (%i: N) -> collect[i] { %0 = const 0 : i64  %a = get %x[%i, %0] : f32
//            %z = const 0.0 : f32  %s = add %z, %a : f32  yield %s }
//
// An axis of extent 1 that no result keeps; where a result reduces nothing else, it collects. Not of nests
// that filter, look for positions or combine by a region. Of an axis that stays the index is the constant 0:
// nothing varies with it, so that a product with a matrix of one column is one with a vector. Requires:
// verified Core. Keeps: every effect; bits.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool dropUnitAxes(core::Module& module);

} // namespace melix::transforms
