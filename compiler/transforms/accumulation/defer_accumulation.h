#pragma once
// What a counted loop does nothing with but add to it is added to behind the loop, where it is a sum.
//
//   before:  %h1, %w1 = for %n, %h, %w { (%t, %h', %w')
//              %d = …   %w'' = nest (%i: I, %j: J) accs(%a = %w') { … add_at %a[%i, %j] += %x[%t, %i] *
//              %d[%j] } yield %h'', %w'' }
//   after:   %h1, %ds = for %n, %h { (%t, %h')   %d = …   yield %h'', %d }
//            %w1 = nest (%t: N) accs(%b = %w) {
//              %d = get %ds[%t]   %c = nest (%i: I, %j: J) accs(%a = %b) { … }   yield %c }
//
// What an add needs of the loop is kept for all turns, if that has fewer axes than the nest that adds; reads
// of what stands around the loop, and scalar arithmetic on these, are made again; a few elementary functions
// too, of a number that is added to an accumulator of a nest around. Only adds that have no
// effect and mention no size that the loop makes, in loops whose number of turns is a size. Requires:
// verified Core. Keeps: values, bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool addBehindLoops(core::Module& module);

} // namespace melix::transforms
