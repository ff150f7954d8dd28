#pragma once
// Scalarises the results of functions: a function that yields a record yields its parts, except those parts
// that are its parameters.
//
//   before:  fn f (%x: f32[N]) -> (S) { …  %s = make %a, %x : S  yield %s }    %s = call @f %v : S
//   after:   fn f (%x: f32[N]) -> (f32) { …  yield %a }    %a = call @f %v : f32   %s = make %a, %v : S
//
// Callers then see where the parts go, and an array among them can be written there. Not applied to:
//   1. functions that are called from outside or have a derivative rule of their own;
//   2. the result of an `inout` parameter;
//   3. records of more than `mostOpened` parts, which are handed over as one block.
// Requires: verified Core without derivatives. Keeps: all values. Simplify removes the records of which only
// parts are used.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr size_t mostOpened = 256; ///< parts of a record, nested parts included

/// Whether anything changed.
bool scalariseResults(core::Module& module);

} // namespace melix::transforms
