#pragma once
// Part of split_masked: rows of a panel at which a mask takes no column's sum do without the sums.
//
//   before:  for points rows 6 0, %n { (%i)
//              for points vector 16 … %first, %last { (%j)
//                %s = for %k … { … }   store %r[…] = select (cmp le %j, %i), %s, %z } }
//   after:   for points 0, %first { (%i)      at none of them is %j <= %i
//              for points vector 16 … %first, %last { (%j)   store %r[…] = %z } }
//            for points rows 6 %first, %n { (%i) … as before … }

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// For the rows of a contraction: what stands in front of them from now on, if that are some.
std::optional<RegionId> skipRows(const Module& module, Function& fn, StmtId rows);

} // namespace melix::loops
