#include "loops/strip_mining/fuse_by_strips.h"

#include "loops/ir/clone.h"
#include "loops/strip_mining/fusable_sweeps.h"
#include "loops/strip_mining/strip_reductions.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t stripBits = 3; ///< so many strips at least, by two: threads share them

/// One group of a region.
class SweepFuser {
public:
  SweepFuser(const Module& module, Function& fn, const RowSweeps& rows, const StripGroup& group,
             const StripSizes& sizes)
      : module_(module), fn_(fn), b_(fn), rows_(rows), group_(group), sizes_(sizes) {
    for (const RowArray* array : group.arrays) {
      if (fn.stmts[array->alloc].operands.size() <= group.axes) continue; // no row is left
      (isSummed(*array) ? summed_ : arrays_).push_back(array);
    }
  }

  void run(RegionId home, const LateStatements& late) {
    const StmtId last = sweepAt(group_.sweeps.size() - 1).loop();
    b_.loc = fn_.stmts[last].loc;
    const RegionId made = b_.begin();
    sizeStrips();
    axis(attrOf(group_.axes > 1));
    b_.end();
    put(made, home, late);
  }

private:
  const RowSweep& sweepAt(size_t k) const { return rows_.sweeps()[group_.sweeps[k]]; }
  bool isSummed(const RowArray& array) const {
    return std::ranges::any_of(array.sweeps, [this](size_t k) { return group_.isSum(k); });
  }
  /// Of the loop that all sweeps share, or those over strips of rows.
  ForAttr attrOf(bool withSums) const {
    ForAttr attr = fn_.stmts[sweepAt(group_.sweeps.size() - 1).loop()].as<ForAttr>();
    attr.dependence = Dependence::None;
    for (size_t k : group_.sweeps)
      if (fn_.stmts[rows_.sweeps()[k].loop()].as<ForAttr>().dependence != Dependence::None &&
          (withSums || !group_.isSum(k)))
        attr.dependence = Dependence::Independent;
    return attr;
  }
  static ForAttr points() {
    ForAttr attr;
    attr.dependence = Dependence::Independent;
    return attr;
  }
  ValueId quotient(ValueId x, ValueId by) {
    return b_.scalar(OpKind::IDiv, {x, by}, TypeKind::I64, TypeKind::I64);
  }
  ValueId parts(ValueId x, ValueId by) {
    return quotient(b_.arith(OpKind::Add, x, b_.arith(OpKind::Sub, by, b_.integer(1))), by);
  }
  ValueId atLeastOne(ValueId v) { return b_.arith(OpKind::Max, v, b_.integer(1)); }

  /// Of an axis, where the builder stands: sweeps may know it as a constant of their own.
  ValueId endOf(size_t axis) {
    std::vector<ValueId> ends;
    for (size_t k : group_.sweeps) {
      const bool isSummed = group_.isSum(k) && axis + 1 == group_.axes;
      ValueId end = isSummed ? rows_.sweeps()[k].sum.rows : rows_.endOf(k, axis);
      if (const uint64_t* known = asConstant(fn_, end)) end = b_.integer(static_cast<int64_t>(*known));
      if (std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
    }
    ValueId most = ends[0];
    for (size_t k = 1; k < ends.size(); ++k) most = b_.arith(OpKind::Max, most, ends[k]);
    return most;
  }

  // --- sizes
  // ---------------------------------------------------------------------------------------------------------
  /// How many rows a strip is of, as many as are kept in so many bytes, or few, or all; of sums as many as
  /// all strips between two iterations of the sums.
  void sizeStrips() {
    rowsEnd_ = endOf(group_.axes - 1);
    ValueId end = b_.arith(OpKind::Max, rowsEnd_, b_.integer(0));
    if (!group_.sums.empty()) {
      const ValueId row = bytesOfRow(summed_), step = b_.integer(sizes_.summedRows);
      const ValueId fit =
          b_.arith(OpKind::Mul, quotient(quotient(b_.integer(sizes_.summedBytes), row), step), step);
      const ValueId many = b_.arith(OpKind::Max, fit, fewRows(row, sizes_.summedRows));
      end = summedCount_ = atLeastOne(b_.arith(OpKind::Min, end, many));
    }
    std::vector<const RowArray*> all = arrays_;
    all.insert(all.end(), summed_.begin(), summed_.end());
    ValueId inner = b_.integer(1);
    const ValueId row = bytesOfRow(all, &inner), fit = quotient(b_.integer(sizes_.stripBytes), row);
    const ValueId few = fewRows(row, sizes_.fewestRows);
    const ValueId fewest = inner == b_.integer(1) ? few : quotient(few, atLeastOne(inner));
    const ValueId share = b_.arith(OpKind::Shr, end, b_.integer(stripBits));
    const ValueId many = b_.arith(OpKind::Max, b_.arith(OpKind::Min, fit, share), fewest);
    rowCount_ = atLeastOne(b_.arith(OpKind::Min, end, many));
  }
  ValueId fewRows(ValueId row, int64_t few) {
    return b_.arith(
        OpKind::Min, b_.integer(few),
        b_.arith(OpKind::Max, b_.integer(sizes_.rowsOfTile), quotient(b_.integer(sizes_.mostBytes), row)));
  }
  /// All arrays together; and how many rows there are in one of the axis, of the last array that has some.
  ValueId bytesOfRow(const std::vector<const RowArray*>& arrays, ValueId* inner = nullptr) {
    ValueId bytes = b_.integer(0);
    for (const RowArray* array : arrays) {
      const Stmt alloc = fn_.stmts[array->alloc];
      std::vector<ValueId> sizes = rowOf(alloc);
      if (inner && sizes.size() > 1) *inner = b_.product({sizes.begin(), sizes.end() - 1});
      sizes.push_back(b_.integer(static_cast<int64_t>(alloc.as<AllocAttr>().bytes)));
      bytes = b_.arith(OpKind::Add, bytes, b_.product(sizes));
    }
    return atLeastOne(bytes);
  }
  /// The sizes of an array after the axes.
  std::vector<ValueId> rowOf(const Stmt& alloc) const {
    return {alloc.operands.begin() + static_cast<std::ptrdiff_t>(group_.axes), alloc.operands.end()};
  }

  // --- loops
  // ---------------------------------------------------------------------------------------------------------
  /// The loop over an axis, and those inside of it.
  void axis(const ForAttr& attr) {
    if (around_.size() + 1 == group_.axes) {
      if (group_.sums.empty()) return strips({}, rowsEnd_, attr);
      return withSums(group_.axes > 1 ? points() : attrOf(false));
    }
    b_.carryLoop(
        b_.integer(0), endOf(around_.size()), {},
        [&](ValueId at, const std::vector<ValueId>& none) {
          around_.push_back(at);
          axis(points());
          return none;
        },
        attr);
  }

  /// Rows up to one, strip by strip: from the first on, if none is given.
  void strips(ValueId first, ValueId end, const ForAttr& attr) {
    const ValueId count =
        b_.arith(OpKind::Max, first.valid() ? b_.arith(OpKind::Sub, end, first) : end, b_.integer(0));
    b_.carryLoop(
        b_.integer(0), parts(count, rowCount_), {},
        [&](ValueId at, const std::vector<ValueId>& none) {
          const ValueId past = b_.arith(OpKind::Mul, at, rowCount_);
          const ValueId begun = first.valid() ? b_.arith(OpKind::Add, first, past) : past;
          strip(begun, b_.arith(OpKind::Min, end, b_.arith(OpKind::Add, begun, rowCount_)));
          return none;
        },
        attr);
  }
  void strip(ValueId first, ValueId after) {
    const std::vector<StripBlock> blocks = allocate(arrays_, rowCount_);
    for (size_t k = 0; k < group_.sweeps.size(); ++k) {
      if (group_.isSum(group_.sweeps[k])) continue;
      const StmtId loop = inside(sweepAt(k));
      beginWithStrip(loop, sweepAt(k), blocks, first);
      beginWithStrip(loop, sweepAt(k), summedBlocks_, summedFirst_);
      fn_.stmts[loop].operands = {first, after};
      fn_.regions[b_.current()].stmts.push_back(loop);
    }
    drop(blocks);
  }
  std::vector<StripBlock> allocate(const std::vector<const RowArray*>& arrays, ValueId count) {
    std::vector<StripBlock> blocks;
    for (const RowArray* array : arrays) {
      const Stmt alloc = fn_.stmts[array->alloc];
      std::vector<ValueId> sizes = rowOf(alloc);
      sizes.insert(sizes.begin(), count);
      blocks.push_back({array->array, b_.value(StmtKind::AllocArray, sizes, dataType, alloc.as<AllocAttr>()),
                        group_.axes});
    }
    return blocks;
  }
  void drop(const std::vector<StripBlock>& blocks) {
    for (const StripBlock& strip : blocks) b_.stmt(StmtKind::Drop, {strip.block});
  }
  /// The innermost of the loops over the axes becomes the one over the last axis, at these points of the
  /// others.
  StmtId inside(const RowSweep& sweep) {
    const StmtId loop = sweep.loops[around_.size()];
    const RegionId body = fn_.stmts[loop].regions[0];
    std::vector<StmtId> invariant;
    for (size_t k = 0; k <= around_.size(); ++k)
      fn_.stmts[sweep.loops[k]].as<ForAttr>().dependence = Dependence::Independent;
    for (size_t k = 0; k < around_.size(); ++k)
      for (StmtId id : fn_.regions[fn_.stmts[sweep.loops[k]].regions[0]].stmts)
        if (const StmtKind kind = fn_.stmts[id].kind; kind != StmtKind::For && kind != StmtKind::Yield)
          invariant.push_back(id);
    for (StmtId id : invariant)
      for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = body;
    std::vector<StmtId>& stmts = fn_.regions[body].stmts;
    stmts.insert(stmts.begin(), invariant.begin(), invariant.end());
    for (size_t k = 0; k < around_.size(); ++k) replaceUses(fn_, body, sweep.indices[k], around_[k]);
    const ValueId index = sweep.indices[around_.size()];
    fn_.regions[body].params[0] = index;
    fn_.values[index].region = body;
    return loop;
  }
  /// In the loop, arrays are these blocks, whose first row is that one.
  void beginWithStrip(StmtId loop, const RowSweep& sweep, const std::vector<StripBlock>& blocks,
                      ValueId first) {
    if (std::ranges::none_of(blocks, [&](auto& strip) { return sweep.memory.touches(strip.array); })) return;
    const RegionId body = fn_.stmts[loop].regions[0], front = b_.begin();
    const ValueId row = b_.arith(OpKind::Sub, sweep.indices[around_.size()], first);
    b_.end();
    for (const StripBlock& strip : blocks) useStrip(fn_, body, strip, row);
    splice(fn_, front, body, 0);
  }

  // --- sums
  // ---------------------------------------------------------------------------------------------------------
  /// Of blocks of terms, each of some rows of which first the strips are done and then the iterations of all
  /// sums.
  void withSums(const ForAttr& attr) {
    std::vector<StripSum> sums;
    int64_t blockRows = 0;
    for (size_t k : group_.sums) {
      sums.emplace_back(b_, rows_.sweeps()[k], around_);
      blockRows = std::max(blockRows, rows_.sweeps()[k].sum.blockRows);
    }
    summedBlocks_ = allocate(summed_, summedCount_);
    const ValueId zero = b_.integer(0);
    const uint64_t* known = asConstant(fn_, rowsEnd_);
    if (blockRows == 0 || (known && *known <= static_cast<uint64_t>(blockRows)))
      sweepStrips(sums, {zero, rowsEnd_, zero, b_.boolean(true)}, attr);
    else
      blocksOfTerms(sums, b_.integer(blockRows), attr);
    drop(summedBlocks_);
  }
  /// Rows whose terms are a block.
  struct Terms {
    ValueId first, end, block;
    ValueId isAll; ///< whether there is no other
  };
  void blocksOfTerms(std::vector<StripSum>& sums, ValueId size, const ForAttr& attr) {
    const ValueId zero = b_.integer(0);
    const ValueId isAll = b_.compare(CmpKind::Le, rowsEnd_, size);
    std::vector<ValueId> totals;
    totals.reserve(sums.size());
    for (StripSum& sum : sums) totals.push_back(sum.isOverBlocks() ? totalsOf(sum, isAll) : ValueId());
    b_.carryLoop(zero, atLeastOne(parts(rowsEnd_, size)), {},
                 [&](ValueId block, const std::vector<ValueId>& none) {
                   const ValueId first = b_.arith(OpKind::Mul, block, size);
                   const ValueId end = b_.arith(OpKind::Min, rowsEnd_, b_.arith(OpKind::Add, first, size));
                   sweepStrips(sums, {first, end, block, isAll}, attr);
                   const RegionId one = b_.begin();
                   b_.end();
                   const RegionId several = b_.begin();
                   const ValueId isFirst = b_.compare(CmpKind::Eq, block, zero);
                   for (size_t k = 0; k < sums.size(); ++k)
                     if (totals[k].valid()) sums[k].addBlock(block, isFirst, totals[k]);
                   b_.end();
                   b_.stmt(StmtKind::If, {isAll}, {}, {}, {one, several});
                   return none;
                 });
    for (ValueId v : totals)
      if (v.valid()) b_.stmt(StmtKind::Drop, {v});
  }
  ValueId totalsOf(const StripSum& sum, ValueId isAll) {
    std::vector<ValueId> sizes = sum.extents();
    if (sizes.empty()) sizes.push_back(b_.integer(1));
    sizes[0] = b_.select(isAll, b_.integer(0), sizes[0]);
    const TypeKind kind = sum.kind();
    return b_.value(StmtKind::AllocArray, sizes, dataType,
                    AllocAttr{module_.core.types.scalar(kind), bytesOf(scalarType(kind)), false});
  }
  void sweepStrips(std::vector<StripSum>& sums, const Terms& terms, const ForAttr& attr) {
    const ValueId count = parts(b_.arith(OpKind::Sub, terms.end, terms.first), summedCount_);
    b_.carryLoop(
        b_.integer(0), atLeastOne(count), {}, [&](ValueId iteration, const std::vector<ValueId>& none) {
          const ValueId first =
              b_.arith(OpKind::Add, terms.first, b_.arith(OpKind::Mul, iteration, summedCount_));
          const ValueId end = b_.arith(OpKind::Min, terms.end, b_.arith(OpKind::Add, first, summedCount_));
          summedFirst_ = first;
          strips(first, end, attr);
          const ValueId zero = b_.integer(0), isLast = b_.compare(CmpKind::Eq, end, rowsEnd_);
          const SumStrip strip{first,
                               b_.arith(OpKind::Sub, end, first),
                               {b_.compare(CmpKind::Eq, first, terms.first), b_.both(terms.isAll, isLast)},
                               {b_.compare(CmpKind::Eq, first, zero), isLast},
                               terms.block,
                               b_.compare(CmpKind::Gt, rowsEnd_, zero)};
          for (StripSum& sum : sums) sum.write(strip, summedBlocks_);
          return none;
        });
  }

  /// The joined loop stands in place of the last one.
  void put(RegionId made, RegionId home, const LateStatements& late) {
    std::unordered_set<StmtId> gone;
    for (size_t k : group_.sweeps) {
      gone.insert(rows_.sweeps()[k].loop());
      fn_.stmts[rows_.sweeps()[k].loop()].as<ForAttr>().dependence =
          Dependence::Independent; // no kernel of its own
    }
    for (const std::vector<const RowArray*>& arrays : {arrays_, summed_})
      for (const RowArray* array : arrays) gone.insert({array->alloc, array->drop});
    const StmtId last = sweepAt(group_.sweeps.size() - 1).loop();
    const std::vector<StmtId> before = std::exchange(fn_.regions[home].stmts, {});
    std::vector<StmtId> all, after;
    size_t place = 0;
    for (StmtId id : before) {
      if (id == last) {
        place = all.size();
        all.insert(all.end(), after.begin(), after.end());
      }
      if (!gone.contains(id)) (late.contains(id) ? after : all).push_back(id);
    }
    fn_.regions[home].stmts = std::move(all);
    splice(fn_, made, home, place);
  }

  const Module& module_;
  Function& fn_;
  Builder b_;
  const RowSweeps& rows_;
  const StripGroup& group_;
  const StripSizes& sizes_;
  std::vector<const RowArray*> arrays_, summed_; ///< as large as a strip; as what sums take at a time
  ValueId rowsEnd_, rowCount_, summedCount_;     ///< of all; of a strip; of what sums take at a time
  std::vector<ValueId> around_;                  ///< indices of the other axes
  std::vector<StripBlock> summedBlocks_;
  ValueId summedFirst_; ///< the first row in these
};

/// Whether any sweeps of the region were joined.
bool joinIn(const Module& module, Function& fn, const LocalBlocks& blocks, RegionId home,
            const StripSizes& sizes) {
  std::unordered_set<size_t> mayNotSum;
  for (size_t before = 0;; before = mayNotSum.size()) {
    RowSweeps rows(module, fn, blocks, home,
                   {static_cast<uint64_t>(sizes.stripBytes), static_cast<uint64_t>(sizes.summedBytes)},
                   mayNotSum);
    if (rows.sweeps().size() < 2) return false;
    const std::vector<RowArray> arrays = rows.arrays();
    if (arrays.empty()) return false;
    const std::vector<StripGroup> groups = stripGroups(fn, rows, home, arrays, mayNotSum);
    if (mayNotSum.size() > before) continue;
    bool any = false;
    for (const StripGroup& group : groups) {
      const LateStatements late(fn, rows, group, home);
      if (!late.mayJoin()) continue;
      SweepFuser(module, fn, rows, group, sizes).run(home, late);
      any = true;
    }
    return any;
  }
}

class RegionWalk {
public:
  RegionWalk(const Module& module, Function& fn, const StripSizes& sizes)
      : module_(module), fn_(fn), sizes_(sizes) {}

  void run(RegionId region) {
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
    }
    if (!mayHold(region)) return;
    if (!blocks_) blocks_.emplace(module_, fn_);
    if (joinIn(module_, fn_, *blocks_, region, sizes_)) blocks_.reset(); // statements moved
  }

private:
  /// Two loops and a table.
  bool mayHold(RegionId region) const {
    size_t loops = 0, tables = 0;
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      loops += s.kind == StmtKind::For;
      tables += s.kind == StmtKind::AllocArray && s.operands.size() > 1;
    }
    return loops > 1 && tables > 0;
  }

  const Module& module_;
  Function& fn_;
  const StripSizes& sizes_;
  std::optional<LocalBlocks> blocks_;
};

} // namespace

void fuseByStrips(const Module& module, Function& fn, const StripSizes& sizes) {
  RegionWalk(module, fn, sizes).run(fn.body);
}

} // namespace melix::loops
