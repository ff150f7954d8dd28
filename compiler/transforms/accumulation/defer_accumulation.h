#pragma once
// Defers accumulation: a value to which a counted loop does nothing but add is accumulated after the loop,
// where it is a sum.
//
//   before:  %h1, %w1 = for %n, %h, %w { (%t, %h', %w')
//              %d = …   %w'' = nest (%i: I, %j: J) accs(%a = %w') { … add_at %a[%i, %j] += %x[%t, %i] *
//              %d[%j] } yield %h'', %w'' }
//   after:   %h1, %ds = for %n, %h { (%t, %h')   %d = …   yield %h'', %d }
//            %w1 = nest (%t: N) accs(%b = %w) {
//              %d = get %ds[%t]   %c = nest (%i: I, %j: J) accs(%a = %b) { … }   yield %c }
//
// Values of the loop that an add needs are stored for all iterations, if they have fewer axes than the nest
// that adds. Loads of values from outside of the loop, and scalar arithmetic on them, are rematerialised. So
// are a few elementary functions, for a number that is added to an accumulator of an enclosing nest. Applies
// to adds that have no effect and mention no size that the loop makes. The trip count of the loop has to be a
// size. Requires: verified Core. Keeps: values, bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool deferAccumulation(core::Module& module);

} // namespace melix::transforms
