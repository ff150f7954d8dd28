#pragma once
// Splits the rows of a panel so that rows whose sums are all masked out skip them. Part of split_predicated.
//
//   before:  for independent unroll_jam 6 0, %n { (%i)
//              for independent vector 16 … %first, %last { (%j)
//                %s = for %k … { … }   store %r[…] = select (cmp le %j, %i), %s, %z } }
//   after:   for independent 0, %first { (%i)      at none of them is %j <= %i
//              for independent vector 16 … %first, %last { (%j)   store %r[…] = %z } }
//            for independent unroll_jam 6 %first, %n { (%i) … as before … }

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// For the rows of a contraction: the statements that now precede them, if any rows are skipped.
std::optional<RegionId> skipMaskedRows(const Module& module, Function& fn, StmtId rows);

} // namespace melix::loops
