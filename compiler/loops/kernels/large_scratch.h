#pragma once
// Versions launches by scratch size: a kernel whose scratch would be large runs as its original chunk. The
// chunk allocates its arrays where it needs them, and panics where it cannot.
//
//   before:  launch @f.loop0 %n, %work, %x, %bytes
//   after:   if %bytes <= 2^26 { launch @f.loop0 %n, %work, %x, %bytes } { launch @f.loop0.blocks %n, %work,
//   %x }
//
// Scratch is reserved before the first iteration, whatever branches iterations take, and stays with its
// thread. Requires: launches pass the bytes that they need as their last operands.

#include "loops/ir/ir.h"

#include <unordered_map>

namespace melix::loops {

/// The original chunk of a kernel, and how many of its last parameters are scratch that the chunk allocates
/// itself.
struct ChunkBefore {
  FunctionId chunk;
  size_t arrays = 0;
};

void launchByScratch(Module& module, const std::unordered_map<FunctionId, ChunkBefore>& kernels);

} // namespace melix::loops
