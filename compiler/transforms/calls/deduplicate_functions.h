#pragma once
// Functions that are equal up to names are one function.
//
//   before:  fn double (%x: f32) -> (f32) {…}   fn twice (%y: f32) -> (f32) {…}   %a = call @twice %b : f32
//   after:   %a = call @double %b : f32         and nothing calls `twice`
//
// Those that may panic, or end in a stack overflow, only if they also have the same name and the same code,
// which a trace tells. Functions that call each other are left alone, but for one that calls only itself.
// Requires: verified Core without derivatives. Keeps: everything but which of two names a profiler sees.

#include "core/ir/ir.h"

namespace melix::transforms {

void mergeFunctions(core::Module& module);

} // namespace melix::transforms
