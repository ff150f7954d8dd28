#pragma once
// Loops of few turns are written out, so that a loop around them can run in lanes and reads the rows of all
// lanes together; what they keep in the frame becomes values.
//
//   before:  for points %0, %n { (%i)
//              %a = scratch 12
//              for points %0, %3 { (%k)   store %a[%k*%1] = f(%x[%i*%3 + %k*%1]) }
//              store %r[%i*%1] = g(%a[%0*%1]) … }
//   after:   for points %0, %n { (%i)
//              %a0 = f(%x[%i*%3 + %0*%1])   %a1 = f(%x[%i*%3 + %1*%1])   %a2 = …
//              store %r[%i*%1] = g(%a0) … }
//
// Requires: counts inserted. Keeps: bits, every effect in its order.

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// Whether a loop of points has enough turns for lanes (`most`: it has no more, if that is known), nothing in
/// it that no lane can do, and something to write out: short loops, of so many statements at most (`length`),
/// that carry something or are not in lanes, or memory of the frame. Other loops stay, if they are not in
/// lanes.
bool holdsShort(const Function& fn, const Stmt& loop, double length, std::optional<uint64_t> most = {});

/// The body of such a loop, written out; none if that is too long, or something in the frame is not found to
/// be a value.
std::optional<RegionId> unrollShort(Function& fn, StmtId loop, double length);

} // namespace melix::loops
