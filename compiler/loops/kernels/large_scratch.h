#pragma once
// Kernels whose scratch would be large are launched as the chunks that they were: these make their arrays
// where they need them, and panic where they cannot.
//
//   before:  launch @f.loop0 %n, %work, %x, %bytes
//   after:   if %bytes <= 2^26 { launch @f.loop0 %n, %work, %x, %bytes } { launch @f.loop0.blocks %n, %work,
//   %x }
//
// Scratch is asked for before the first turn, whatever branches turns take, and stays with its thread.
// Requires: the launches say how many bytes they need, as their last operands.

#include "loops/ir/ir.h"

#include <unordered_map>

namespace melix::loops {

/// What a kernel was, and how many of its last parameters are scratch that the chunk makes itself.
struct ChunkBefore {
  FunctionId chunk;
  size_t arrays = 0;
};

void launchByScratch(Module& module, const std::unordered_map<FunctionId, ChunkBefore>& kernels);

} // namespace melix::loops
