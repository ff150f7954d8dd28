#pragma once
// Continues a reduction over rows from strip to strip, in the memory of its result. Part of fuse_by_strips.
//
//   before:  for independent 0, %m { (%j)  %s = for 0, %n, %z { (%i, %c) … load %x[%i*%m + %j] … yield … }
//              %t = … %s …   store %y[%j] = %t }
//   after, for the rows from %first on, %count of them, which lie in %strip:
//            for independent 0, %m { (%j)  %b = if %begins { %z } { load %y[%j] }
//              %s = for 0, %count, %b { (%r, %c) … load %strip[%r*%m + %j] … yield … }
//              %t = … %s …   %u = select %ends, %t, %s   store %y[%j] = %u }
//
// A sum over blocks of its terms begins anew with each block. If there are several, their total is stored in
// a second array, and updated after each block
//            for independent 0, %m { (%j)
//              %a = load %all[%j]   %b = add %a, load %y[%j]   store %all[%j] = %b
//              %t = … %b …   store %y[%j] = %t }
//
// Keeps: bits; each sum takes its terms in its order.

#include "loops/ir/clone.h"
#include "loops/strip_mining/sweep_analysis.h"

namespace melix::loops {

/// An array of rows of which a block holds some, at one point of the axes before; the first of these rows is
/// at the block's start.
struct StripBlock {
  ValueId array, block;
  size_t axes; ///< the axis of the row's index and the axes before it
};
/// Redirects accesses to the array in a region to the block, to a row that replaces the named one.
void useStrip(Function& fn, RegionId region, const StripBlock& strip, ValueId row);

/// The rows that a sum takes its terms of.
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
  /// The sum at a point of the first axes of the sweep.
  StripSum(Builder& b, const RowSweep& sweep, const std::vector<ValueId>& around);

  void write(const SumStrip& strip, std::span<const StripBlock> blocks);

  TypeKind kind() const { return b_.fn.typeOf(stmt(sum_.chain).results[0]).scalar; }
  bool isOverBlocks() const { return sum_.blocks.valid(); }
  /// The number of points over each of the remaining loops.
  std::vector<ValueId> extents() const;
  /// Adds a block of terms to the total of the earlier ones, which `totals` has for each of these points.
  void addBlock(ValueId block, ValueId isFirst, ValueId totals);

private:
  ValueId pointOf(size_t loop) const;
  template <class Body>
  void loops(const Body& body);
  template <class Body>
  void loopsFrom(size_t level, Copies& copies, const Body& body);
  void besides(RegionId region, StmtId until, Copies& copies);
  void after(RegionId region, StmtId from, Copies& copies);
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
  /// The region of the sum.
  RegionId home() const { return stmt(sweep_.loops.back()).regions[0]; }

  Builder& b_;
  const RowSweep& sweep_;
  const RowSum& sum_;
  const std::vector<ValueId>& around_;
  std::vector<StmtId> inner_; ///< the loops over the other axes
};

} // namespace melix::loops
