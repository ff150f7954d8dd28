#pragma once
// Finds a reduction over rows at each point of other loops. It can be computed for some rows at a time, and
// continued from there.
//
//   %all = for 0, (%n + 8191) / 8192, %a { (%b, %sofar)                 blocks of its terms, if there are
//   some
//     %first = mul %b, 8192   %end = min %n, %first + 8192
//     %c = for %first, %end, %z { (%i, %d) … yield … }                  the chain
//     %next = add %sofar, %c   yield %next }
//   … store %x[…] = …                                                   a function of the sum

#include "loops/ir/build.h"

namespace melix::loops {

struct RowSum {
  StmtId blocks, chain; ///< no blocks where the chain takes all rows
  int64_t blockRows = 0;
  ValueId rows; ///< how many
  StmtId store; ///< the store of the only stored number

  StmtId outermost() const { return blocks.valid() ? blocks : chain; }
};

/// The sum that is the purpose of a region. Beside it the region has one store and scalars, whose computation
/// never fails, whatever the sum is. It carries one number, as large as the stored element.
std::optional<RowSum> findRowSum(const Function& fn, RegionId region);

} // namespace melix::loops
