#pragma once
// A sum over rows at each point of other loops: it can be taken for some rows at a time, and go on from
// there.
//
//   %all = for 0, (%n + 8191) / 8192, %a { (%b, %sofar)                 blocks of its terms, if there are
//   some
//     %first = mul %b, 8192   %end = min %n, %first + 8192
//     %c = for %first, %end, %z { (%i, %d) … yield … }                  the chain
//     %next = add %sofar, %c   yield %next }
//   … store %x[…] = …                                                   what is made of it

#include "loops/ir/build.h"

namespace melix::loops {

struct RowSum {
  StmtId blocks, chain; ///< no blocks where the chain takes all rows
  int64_t blockRows = 0;
  ValueId rows; ///< how many
  StmtId store; ///< of the only number that is kept

  StmtId outermost() const { return blocks.valid() ? blocks : chain; }
};

/// The sum that a region is there for: beside it are one store and numbers, computed without fail whatever
/// the sum is. It carries one number, as large as what is stored.
std::optional<RowSum> findRowSum(const Function& fn, RegionId region);

} // namespace melix::loops
