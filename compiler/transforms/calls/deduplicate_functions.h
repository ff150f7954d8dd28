#pragma once
// Merges functions that are equal up to names.
//
//   before:  fn double (%x: f32) -> (f32) {…}   fn twice (%y: f32) -> (f32) {…}   %a = call @twice %b : f32
//   after:   %a = call @double %b : f32         and nothing calls `twice`
//
// Functions that may panic, or end in a stack overflow, are merged only if they also have the same name and
// the same code, as traces show both. Functions that call each other are left alone, except one that calls
// only itself. Requires: verified Core without derivatives. Keeps: everything but which of two names a
// profiler sees.

#include "core/ir/ir.h"

namespace melix::transforms {

void deduplicateFunctions(core::Module& module);

} // namespace melix::transforms
