#pragma once
// How long launches take, which decides whether they are worth sharing between threads.
//
//   before:  launch @f.loop0 %m, %m, %n, %x
//   after:   %row = mul %n, %614 : i64
//            %all = mul %m, %row : i64
//            %work = shr %all, %10 : i64
//            launch @f.loop0 %m, %work, %n, %x
//
// for %m rows of %n numbers, each of which takes 614/1024 ns.
//
// The time of a kernel is read off its loops as they were scheduled: what a turn takes, divided among lanes,
// times the turns, as far as they can be computed where the launch stands (of a loop whose ends differ from
// turn to turn of another one, in the middle of that); turns of which nothing is known are 16. Of a branch
// that the launch can tell it is the time of what is taken, of others the dearest. So the work depends on
// sizes alone. Of a launch that leaves blocks behind (a list of trees, what a derivative keeps of a call)
// making blocks and counting owners count against it: they take less in one thread than the threads lose by
// handing blocks over and by counting the owners of the same ones. Requires: lanes chosen, rows done
// together. Keeps: every effect; adds arithmetic that cannot fail.

#include "loops/ir/ir.h"

namespace melix::loops {

void estimateWork(Module& module);

} // namespace melix::loops
