#pragma once
// Scalarises carried records: a record that a loop carries or a branch yields is replaced by its parts.
// Updates of a record just made are replaced too.
//
//   before:  %r = for %n, %s { (%i, %a: S)  %b = set %a.1[%i] = %v  yield %b }
//   after:   %p0 = get %s.0  %p1 = get %s.1
//            %r0, %r1 = for %n, %p0, %p1 { (%i, %a0, %a1)  %b1 = set %a1[%i] = %v  yield %a0, %b1 }
//            %r = make %r0, %r1
//
// Each part is then visibly invariant, replaced or updated by itself. A record has at most `mostParts` parts;
// larger ones go as one block. Requires: verified Core without derivatives. Keeps: all values. Unpacking of
// records just made is left to simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr size_t mostParts = 64; ///< of a record, with the parts of its parts

/// Whether anything changed.
bool scalariseCarriedRecords(core::Module& module);

} // namespace melix::transforms
