#pragma once
// A function that yields a record yields its parts, and nothing that it was given.
//
//   before:  fn f (%x: f32[N]) -> (S) { …  %s = make %a, %x : S  yield %s }    %s = call @f %v : S
//   after:   fn f (%x: f32[N]) -> (f32) { …  yield %a }    %a = call @f %v : f32   %s = make %a, %v : S
//
// So that callers see where the parts go, and an array among them can be written there. Not of functions that
// are called from outside or have a derivative rule of their own, not what an `inout` parameter becomes, and
// no records of more than `mostOpened` parts, which are handed over as one block. Requires: verified Core
// without derivatives. Keeps: all values. The records, where only parts are used, are left to simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr size_t mostOpened = 256; ///< parts of a record, with those of its parts

/// Whether anything changed.
bool openResults(core::Module& module);

} // namespace melix::transforms
