#pragma once
// The canonical form: arrays that only stand between others are not made, and each access says where in
// memory it reads, so that whoever fuses, orders sums and schedules sees it.
//
// A sequence of passes, each of which lowers (arrays in memory, ops); see their headers. Requires: verified
// Core without derivatives. Keeps: every effect, in order; the bits of floats, where no order was chosen yet.

#include "core/ir/ir.h"

namespace melix::transforms {

void canonicalise(core::Module& module);

} // namespace melix::transforms
