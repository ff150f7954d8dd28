#pragma once
// Removes parameters that no function needs and results that no caller needs, round recursion too, with all
// values that only these need.
//
//   before:  fn f (%x: f32[N], %k: i64) -> (f32[N], i64) { … %y, %l = call @f %x, %less … }
//   after:   fn f (%k: i64) -> (i64) { … %l = call @f %less … }      where nobody reads %x, or the first
//   result
//
// None is needed at first. Effects, and the results of functions whose signatures are fixed, need the values
// that they are made of; this goes through calls, both ways, until nothing changes.
//
// Requires: verified Core without derivatives and function values. Keeps: every effect, in order. A needed
// `inout` parameter keeps its result: the function may update it where it is.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool removeDeadSignatures(core::Module& module);

} // namespace melix::transforms
