#pragma once
// One kernel for several that are equal: functions that are inlined in several places bring a kernel to each.
//
//   before:  fn step { launch %n, %w, %x : @step.loop0 }   fn epoch { launch %m, %w, %z : @epoch.loop3 }
//   after:   the same with @step.loop0 for both, if they differ in names and places only
//
// Kernels with checks stay: a panic tells the place. Requires: kernels outlined. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void mergeKernels(Module& module);

/// The same for kernels that differ in constants too, which become parameters. Only constants that are worth
/// nothing to who knows them: not sizes, strides or divisors. Requires: kernels scheduled, for schedules ask
/// for constants.
void mergeKernelsOfConstants(Module& module);

/// Leaves out the functions that nothing calls or launches.
void dropUncalled(Module& module);

} // namespace melix::loops
