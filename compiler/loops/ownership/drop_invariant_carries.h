#pragma once
// Drops loop carries that every iteration passes on unchanged.
//
//   before:  %r, %s = for %a, %b, %x, %y { (%i, %c, %d) … yield %c, %n }   … %r …
//   after:   %s = for %a, %b, %y { (%i, %d) … yield %n }                   … %x …
//
// A block has one owner less on its way. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void dropInvariantCarries(Function& function);

} // namespace melix::loops
