#pragma once
// Part of join_strips: a sum over rows that goes on from strip to strip, in the memory that it is stored to.
//
//   before:  for points 0, %m { (%j)  %s = for 0, %n, %z { (%i, %c) … load %x[%i*%m + %j] … yield … }
//              %t = … %s …   store %y[%j] = %t }
//   after, for the rows from %first on, %count of them, which lie in %strip:
//            for points 0, %m { (%j)  %b = if %begins { %z } { load %y[%j] }
//              %s = for 0, %count, %b { (%r, %c) … load %strip[%r*%m + %j] … yield … }
//              %t = … %s …   %u = select %ends, %t, %s   store %y[%j] = %u }
//
// A sum over blocks of its terms begins anew with each of them; where there is more than one, what they came
// to together is kept beside it, and behind each block
//            for points 0, %m { (%j)  %a = load %all[%j]   %b = add %a, load %y[%j]   store %all[%j] = %b
//              %t = … %b …   store %y[%j] = %t }
//
// Keeps: bits; each sum takes its terms in its order.

#include "loops/ir/clone.h"
#include "loops/strip_mining/sweep_analysis.h"

namespace melix::loops {

/// An array of rows of which some lie in a block, the first of them in front: at one point of the axes
/// before.
struct StripBlock {
  ValueId array, block;
  size_t axes; ///< of the row's index and those before it
};
/// In a region, accesses to the array are to the block, to a row that stands for the one that was named.
void useStrip(Function& fn, RegionId region, const StripBlock& strip, ValueId row);

/// Rows of which a sum takes its terms.
struct SumStrip {
  ValueId first, count;
  struct Ends {
    ValueId first, last; ///< whether these rows are
  };
  Ends ofBlock;  ///< the first of a block of terms; the last, where there is one block
  Ends ofAll;    ///< of all
  ValueId block; ///< number of the block
  ValueId isAny; ///< whether there is a row at all
};

class StripSum {
public:
  /// At a point of the first axes of the sweep.
  StripSum(Builder& b, const RowSweep& sweep, const std::vector<ValueId>& around);

  void write(const SumStrip& strip, std::span<const StripBlock> blocks);

  TypeKind kind() const { return b_.fn.typeOf(stmt(sum_.chain).results[0]).scalar; }
  bool isOverBlocks() const { return sum_.blocks.valid(); }
  /// How many points there are over each of the loops that are left.
  std::vector<ValueId> extents() const;
  /// Adds a block of terms to what those before came to, which `totals` has for each of these points.
  void addBlock(ValueId block, ValueId isFirst, ValueId totals);

private:
  ValueId pointOf(size_t loop) const;
  template <class Body>
  void loops(const Body& body);
  template <class Body>
  void loopsFrom(size_t level, Copies& copies, const Body& body);
  void besides(RegionId region, StmtId until, Copies& copies);
  void behind(RegionId region, StmtId from, Copies& copies);
  ValueId loadStored(Copies& copies);
  ValueId number(ValueId v, Copies& copies);
  void keep(ValueId v, const Copies& copies);
  const SumStrip::Ends& endsOf(const SumStrip& strip) const {
    return isOverBlocks() ? strip.ofBlock : strip.ofAll;
  }
  ValueId runChain(const SumStrip& strip, std::span<const StripBlock> blocks, Copies& copies);
  ValueId beginOrGoOn(ValueId begins, ValueId first, Copies& copies);
  bool isNeverNegativeZero() const;
  ValueId finish(ValueId chain, ValueId total, ValueId isAny, Copies& copies);
  const Stmt& stmt(StmtId id) const { return b_.fn.stmts[id]; }
  /// Where the sum stands.
  RegionId home() const { return stmt(sweep_.loops.back()).regions[0]; }

  Builder& b_;
  const RowSweep& sweep_;
  const RowSum& sum_;
  const std::vector<ValueId>& around_;
  std::vector<StmtId> inner_; ///< the loops over the other axes
};

} // namespace melix::loops
