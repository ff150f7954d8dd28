#pragma once
// Deduplicates equal kernels: functions that are inlined in several places bring a kernel to each.
//
//   before:  fn step { launch %n, %w, %x : @step.loop0 }   fn epoch { launch %m, %w, %z : @epoch.loop3 }
//   after:   the same with @step.loop0 for both, if they differ in names and places only
//
// Kernels with checks stay: a panic reports the place. Requires: kernels outlined. Keeps: values, every
// effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void deduplicateKernels(Module& module);

/// The same for kernels that also differ in constants, which become parameters. Excluded are constants whose
/// value helps the compiler: sizes, strides and divisors. Requires: kernels scheduled, as schedules use
/// constants.
void deduplicateKernelsModuloConstants(Module& module);

/// Removes the functions that nothing calls or launches.
void dropUncalled(Module& module);

} // namespace melix::loops
