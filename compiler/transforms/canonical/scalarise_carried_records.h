#pragma once
// Records that loops carry and branches yield go as their parts, and so do updates of a record just made.
//
//   before:  %r = for %n, %s { (%i, %a: S)  %b = set %a.1[%i] = %v  yield %b }
//   after:   %p0 = get %s.0  %p1 = get %s.1
//            %r0, %r1 = for %n, %p0, %p1 { (%i, %a0, %a1)  %b1 = set %a1[%i] = %v  yield %a0, %b1 }
//            %r = make %r0, %r1
//
// So that each part is seen to stay, to be replaced or to be updated by itself. Of records of at most
// `mostParts` parts; larger ones go as one block. Requires: verified Core without derivatives. Keeps: all
// values. What only takes apart what was put together is left to simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr size_t mostParts = 64; ///< of a record, with those of its parts

/// Whether anything changed.
bool openRecords(core::Module& module);

} // namespace melix::transforms
