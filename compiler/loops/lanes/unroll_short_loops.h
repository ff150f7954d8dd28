#pragma once
// Unrolls loops of few iterations fully, so that an enclosing loop can be vectorised and reads the rows of
// all lanes together. Their frame memory becomes values.
//
//   before:  for independent %0, %n { (%i)
//              %a = scratch 12
//              for independent %0, %3 { (%k)   store %a[%k*%1] = f(%x[%i*%3 + %k*%1]) }
//              store %r[%i*%1] = g(%a[%0*%1]) … }
//   after:   for independent %0, %n { (%i)
//              %a0 = f(%x[%i*%3 + %0*%1])   %a1 = f(%x[%i*%3 + %1*%1])   %a2 = …
//              store %r[%i*%1] = g(%a0) … }
//
// Requires: counts inserted. Keeps: bits, every effect in its order.

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// Whether a loop of independent iterations is a candidate:
/// (1) Its trip count suffices for vectorisation; `most` is an upper bound, if known.
/// (2) Every statement inside can be vectorised.
/// (3) It contains short loops to unroll, of at most `length` statements, that carry values or are not
///     vectorised; or frame memory.
///
/// Other loops inside stay, if they are not vectorised.
bool holdsShort(const Function& fn, const Stmt& loop, double length, std::optional<uint64_t> most = {});

/// The unrolled body of such a loop; none if it is too long, or some frame memory cannot become a value.
std::optional<RegionId> unrollShortLoop(Function& fn, StmtId loop, double length);

} // namespace melix::loops
