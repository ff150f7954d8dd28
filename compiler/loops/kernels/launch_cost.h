#pragma once
// Estimates the cost of launches, which decides whether they are worth sharing between threads.
//
//   before:  launch @f.loop0 %m, %m, %n, %x
//   after:   %row = mul %n, %614 : i64
//            %all = mul %m, %row : i64
//            %work = shr %all, %10 : i64
//            launch @f.loop0 %m, %work, %n, %x
//
// for %m rows of %n numbers, each of which takes 614/1024 ns.
//
// The time of a kernel is derived from its scheduled loops: the time of an iteration, divided among lanes,
// times the trip count. The trip count is computed at the launch as far as possible. If the ends of a loop
// vary with another loop, its middle iteration is used. An unknown trip count is taken as 16. A branch whose
// condition the launch can compute costs the arm taken, any other branch its most expensive arm. So the
// estimate depends on sizes alone.
//
// Some launches return counted blocks (a list of trees, the residuals of a call). For them the time of
// allocating blocks and counting owners is subtracted. One thread does these faster than several threads,
// which lose time by handing blocks over and by counting owners of the same blocks. Requires: lanes chosen,
// rows jammed. Keeps: every effect; adds arithmetic that cannot fail.

#include "loops/ir/ir.h"

namespace melix::loops {

void estimateLaunchCost(Module& module);

} // namespace melix::loops
