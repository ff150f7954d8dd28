#include "loops/join_strips.h"

#include "loops/clone.h"
#include "loops/row_sweeps.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr int64_t fewestRows = 96;        ///< of a strip: tiles of a product take them together
constexpr int64_t rowsOfTile = 6;         ///< even of rows so long that those would not be
constexpr int64_t mostBytes = 32 << 20;   ///< kept in so many bytes
constexpr int64_t stripBytes = 512 << 10; ///< of what a strip keeps, unless that are fewer rows
constexpr int64_t stripBits = 3;          ///< so many strips at least, by two: threads share them

/// Sweeps that become one, over so many axes: the last of them in strips.
struct Group {
  std::vector<size_t> sweeps;
  size_t axes = 0;
};

// --- which go together
// ----------------------------------------------------------------------------------------------------------

/// The sweeps of one region that arrays of rows tie to each other.
class Grouper {
public:
  Grouper(const Function& fn, const RowSweeps& rows, const std::vector<RowArray>& arrays)
      : fn_(fn), rows_(rows), arrays_(arrays) {}

  std::vector<Group> groups() const {
    std::vector<size_t> group(rows_.sweeps().size());
    for (size_t k = 0; k < group.size(); ++k) group[k] = k;
    for (const RowArray& array : arrays_)
      for (size_t k : array.sweeps) {
        const size_t from = group[k], to = group[array.sweeps[0]];
        std::ranges::replace(group, from, to);
      }
    std::map<size_t, Group> byGroup;
    for (size_t k = 0; k < group.size(); ++k) byGroup[group[k]].sweeps.push_back(k);
    std::vector<Group> out;
    for (auto& [first, made] : byGroup) {
      made.axes = made.sweeps.size() > 1 ? axesOf(made.sweeps) : 0;
      if (made.axes > 0) out.push_back(std::move(made));
    }
    return out;
  }

private:
  /// Axes that all of them have, at whose points what one of them writes the others use at their own row
  /// only.
  size_t axesOf(const std::vector<size_t>& group) const {
    const std::vector<RowSweep>& sweeps = rows_.sweeps();
    size_t axes = sweeps[group[0]].loops.size();
    for (size_t k : group) {
      axes = std::min(axes, sweeps[k].loops.size());
      for (size_t a = 0; a < axes; ++a)
        if (!rows_.sameEnds(k, group[0], a)) axes = a;
    }
    for (size_t writer : group)
      for (ValueId v : sweeps[writer].memory.writes) {
        if (rows_.isInside(v)) continue;
        for (size_t other : group)
          if (other != writer && sweeps[other].memory.touches(v))
            axes = std::min({axes, rows_.rowAxes(sweeps[writer], v), rows_.rowAxes(sweeps[other], v)});
      }
    for (const RowArray& array : arrays_) // a row at least is left
      if (std::ranges::find(group, array.sweeps[0]) != group.end())
        axes = std::min(axes, fn_.stmts[array.alloc].operands.size() - 1);
    auto areOutermost = [&](size_t k) { return sweeps[k].areOutermost(axes); };
    while (axes > 0 && !std::ranges::all_of(group, areOutermost)) --axes;
    return axes;
  }

  const Function& fn_;
  const RowSweeps& rows_;
  const std::vector<RowArray>& arrays_;
};

/// What stands between sweeps and has to come behind all of them, if they run where the last one stands: what
/// needs one that stands in front of it, and what needs that.
class LateStatements {
public:
  LateStatements(const Function& fn, const RowSweeps& rows, const Group& group, RegionId home) {
    size_t next = 0;
    MemoryUse swept;
    for (StmtId id : fn.regions[home].stmts) {
      const Stmt& s = fn.stmts[id];
      const MemoryUse memory = memoryOf(fn, s);
      if (id == rows.sweeps()[group.sweeps[next]].loop()) {
        if (usesLate(fn, s) || memory.conflicts(late_)) return;
        swept.add(memory);
        if (++next == group.sweeps.size()) break;
      } else if (next > 0 && (usesLate(fn, s) || memory.conflicts(late_) || memory.conflicts(swept) ||
                              (checks_ && mayFail(fn, s)))) {
        checks_ |= mayFail(fn, s); // what fails first stays the first
        stmts_.insert(id);
        late_.add(memory);
        made_.insert(s.results.begin(), s.results.end());
      }
    }
    mayJoin_ = true;
  }

  /// Whether the sweeps need none of these.
  bool mayJoin() const { return mayJoin_; }
  bool contains(StmtId id) const { return stmts_.contains(id); }

private:
  bool usesLate(const Function& fn, const Stmt& s) const {
    return std::ranges::any_of(s.operands, [this](ValueId v) { return made_.contains(v); }) ||
           std::ranges::any_of(s.regions, [&](RegionId r) {
             return std::ranges::any_of(fn.regions[r].stmts,
                                        [&](StmtId id) { return usesLate(fn, fn.stmts[id]); });
           });
  }

  static bool mayFail(const Function& fn, const Stmt& s) {
    return s.kind == StmtKind::Check || std::ranges::any_of(s.regions, [&](RegionId r) {
             return std::ranges::any_of(fn.regions[r].stmts,
                                        [&](StmtId id) { return mayFail(fn, fn.stmts[id]); });
           });
  }

  std::unordered_set<StmtId> stmts_;
  MemoryUse late_;
  ValueSet made_;
  bool mayJoin_ = false, checks_ = false;
};

// --- joined
// ----------------------------------------------------------------------------------------------------------

/// One group of a region.
class Joiner {
public:
  Joiner(Function& fn, const RowSweeps& rows, const Group& group, const std::vector<RowArray>& arrays)
      : fn_(fn), b_(fn), rows_(rows), group_(group) {
    for (const RowArray& array : arrays)
      if (std::ranges::find(group.sweeps, array.sweeps[0]) != group.sweeps.end()) arrays_.push_back(&array);
  }

  void run(RegionId home, const LateStatements& late) {
    const StmtId last = sweepAt(group_.sweeps.size() - 1).loop();
    b_.loc = fn_.stmts[last].loc;
    ForAttr attr = fn_.stmts[last].as<ForAttr>();
    for (size_t k : group_.sweeps)
      if (fn_.stmts[rows_.sweeps()[k].loop()].as<ForAttr>().mark != MarkKind::Parallel)
        attr.mark = MarkKind::Points;
    const RegionId made = b_.begin();
    sizeStrips();
    axis(attr);
    b_.end();
    put(made, home, late);
  }

private:
  const RowSweep& sweepAt(size_t k) const { return rows_.sweeps()[group_.sweeps[k]]; }
  ValueId quotient(ValueId x, ValueId by) {
    return b_.scalar(OpKind::IDiv, {x, by}, TypeKind::I64, TypeKind::I64);
  }
  ValueId atLeastOne(ValueId v) { return b_.arith(OpKind::Max, v, b_.integer(1)); }

  /// Of an axis, where the builder stands: sweeps may know it as a constant of their own.
  ValueId endOf(size_t axis) {
    std::vector<ValueId> ends;
    for (size_t k : group_.sweeps) {
      const uint64_t* known = asConstant(fn_, rows_.endOf(k, axis));
      const ValueId end = known ? b_.integer(static_cast<int64_t>(*known)) : rows_.endOf(k, axis);
      if (std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
    }
    ValueId most = ends[0];
    for (size_t k = 1; k < ends.size(); ++k) most = b_.arith(OpKind::Max, most, ends[k]);
    return most;
  }

  /// How many rows a strip is of, as many as are kept in so many bytes, or few, or all; and how many strips
  /// that is.
  void sizeStrips() {
    const ValueId zero = b_.integer(0), one = b_.integer(1);
    ValueId bytes = zero, inner = one;
    for (const RowArray* array : arrays_) {
      const Stmt alloc = fn_.stmts[array->alloc];
      std::vector<ValueId> sizes = rowOf(alloc);
      if (sizes.size() > 1) inner = b_.product({sizes.begin(), sizes.end() - 1});
      sizes.push_back(b_.integer(static_cast<int64_t>(alloc.as<AllocAttr>().bytes)));
      bytes = b_.arith(OpKind::Add, bytes, b_.product(sizes));
    }
    const ValueId row = atLeastOne(bytes), fit = quotient(b_.integer(stripBytes), row);
    const ValueId few =
        b_.arith(OpKind::Min, b_.integer(fewestRows),
                 b_.arith(OpKind::Max, b_.integer(rowsOfTile), quotient(b_.integer(mostBytes), row)));
    const ValueId fewest = inner == one ? few : quotient(few, atLeastOne(inner));
    const ValueId end = b_.arith(OpKind::Max, endOf(group_.axes - 1), zero);
    const ValueId share = b_.arith(OpKind::Shr, end, b_.integer(stripBits));
    const ValueId many = b_.arith(OpKind::Max, b_.arith(OpKind::Min, fit, share), fewest);
    rowCount_ = atLeastOne(b_.arith(OpKind::Min, end, many));
    strips_ = quotient(b_.arith(OpKind::Add, end, b_.arith(OpKind::Sub, rowCount_, one)), rowCount_);
  }
  /// The sizes of an array behind the axes.
  std::vector<ValueId> rowOf(const Stmt& alloc) const {
    return {alloc.operands.begin() + static_cast<std::ptrdiff_t>(group_.axes), alloc.operands.end()};
  }

  /// The loop over an axis, and those inside of it.
  void axis(ForAttr attr) {
    const bool isLast = around_.size() + 1 == group_.axes;
    b_.carryLoop(
        b_.integer(0), isLast ? strips_ : endOf(around_.size()), {},
        [&](ValueId at, const std::vector<ValueId>& none) {
          if (isLast) {
            strip(at);
            return none;
          }
          around_.push_back(at);
          ForAttr points;
          points.mark = MarkKind::Points;
          axis(points);
          return none;
        },
        attr);
  }

  void strip(ValueId at) {
    first_ = b_.arith(OpKind::Mul, at, rowCount_);
    const ValueId behind =
        b_.arith(OpKind::Min, endOf(around_.size()), b_.arith(OpKind::Add, first_, rowCount_));
    std::vector<ValueId> blocks;
    for (const RowArray* array : arrays_) {
      const Stmt alloc = fn_.stmts[array->alloc];
      std::vector<ValueId> sizes = rowOf(alloc);
      sizes.insert(sizes.begin(), rowCount_);
      blocks.push_back(b_.value(StmtKind::AllocArray, sizes, dataType, alloc.as<AllocAttr>()));
    }
    for (size_t k = 0; k < group_.sweeps.size(); ++k) {
      const StmtId loop = inside(sweepAt(k));
      beginWithStrip(loop, sweepAt(k), blocks);
      fn_.stmts[loop].operands = {first_, behind};
      fn_.regions[b_.current()].stmts.push_back(loop);
    }
    for (ValueId block : blocks) b_.stmt(StmtKind::Drop, {block});
  }
  /// The innermost of the loops over the axes becomes the one over the last axis, at these points of the
  /// others.
  StmtId inside(const RowSweep& sweep) {
    const StmtId loop = sweep.loops[around_.size()];
    const RegionId body = fn_.stmts[loop].regions[0];
    std::vector<StmtId> beside;
    for (size_t k = 0; k <= around_.size(); ++k)
      fn_.stmts[sweep.loops[k]].as<ForAttr>().mark = MarkKind::Points;
    for (size_t k = 0; k < around_.size(); ++k)
      for (StmtId id : fn_.regions[fn_.stmts[sweep.loops[k]].regions[0]].stmts)
        if (const StmtKind kind = fn_.stmts[id].kind; kind != StmtKind::For && kind != StmtKind::Yield)
          beside.push_back(id);
    for (StmtId id : beside)
      for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = body;
    std::vector<StmtId>& stmts = fn_.regions[body].stmts;
    stmts.insert(stmts.begin(), beside.begin(), beside.end());
    for (size_t k = 0; k < around_.size(); ++k) replaceUses(fn_, body, sweep.indices[k], around_[k]);
    const ValueId index = sweep.indices[around_.size()];
    fn_.regions[body].params[0] = index;
    fn_.values[index].region = body;
    return loop;
  }

  /// In the loop, arrays are these blocks, whose first row is that of the strip.
  void beginWithStrip(StmtId loop, const RowSweep& sweep, const std::vector<ValueId>& blocks) {
    const RegionId body = fn_.stmts[loop].regions[0], front = b_.begin();
    const ValueId row = b_.arith(OpKind::Sub, sweep.indices[around_.size()], first_);
    b_.end();
    for (size_t k = 0; k < arrays_.size(); ++k)
      if (sweep.memory.touches(arrays_[k]->array)) beginWithStrip(body, arrays_[k]->array, blocks[k], row);
    splice(fn_, front, body, 0);
  }
  void beginWithStrip(RegionId region, ValueId array, ValueId block, ValueId row) {
    for (StmtId id : fn_.regions[region].stmts) {
      Stmt& s = fn_.stmts[id];
      if (!s.operands.empty() && s.operands[0] == array) {
        s.operands[0] = block;
        s.operands.erase(s.operands.begin() + 1,
                         s.operands.begin() + 1 + 2 * static_cast<std::ptrdiff_t>(around_.size()));
        s.operands[1] = row;
      }
      for (RegionId r : s.regions) beginWithStrip(r, array, block, row);
    }
  }

  /// The joined loop stands in place of the last one.
  void put(RegionId made, RegionId home, const LateStatements& late) {
    std::unordered_set<StmtId> gone;
    for (size_t k : group_.sweeps) gone.insert(rows_.sweeps()[k].loop());
    for (const RowArray* array : arrays_) gone.insert({array->alloc, array->drop});
    const StmtId last = sweepAt(group_.sweeps.size() - 1).loop();
    const std::vector<StmtId> before = std::exchange(fn_.regions[home].stmts, {});
    std::vector<StmtId> all, behind;
    size_t place = 0;
    for (StmtId id : before) {
      if (id == last) {
        place = all.size();
        all.insert(all.end(), behind.begin(), behind.end());
      }
      if (!gone.contains(id)) (late.contains(id) ? behind : all).push_back(id);
    }
    fn_.regions[home].stmts = std::move(all);
    splice(fn_, made, home, place);
  }

  Function& fn_;
  Builder b_;
  const RowSweeps& rows_;
  const Group& group_;
  std::vector<const RowArray*> arrays_;
  ValueId rowCount_, strips_;   ///< of a strip; of the last axis
  std::vector<ValueId> around_; ///< indices of the other axes
  ValueId first_;               ///< row of the strip
};

/// Whether any sweeps of the region were joined.
bool joinIn(const Module& module, Function& fn, const LocalBlocks& blocks, RegionId home) {
  RowSweeps rows(module, fn, blocks, home);
  if (rows.sweeps().size() < 2) return false;
  const std::vector<RowArray> arrays = rows.arraysAbove(stripBytes);
  if (arrays.empty()) return false;
  bool any = false;
  for (const Group& group : Grouper(fn, rows, arrays).groups()) {
    const LateStatements late(fn, rows, group, home);
    if (!late.mayJoin()) continue;
    Joiner(fn, rows, group, arrays).run(home, late);
    any = true;
  }
  return any;
}

class RegionWalk {
public:
  RegionWalk(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  void run(RegionId region) {
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
    }
    if (!mayHold(region)) return;
    if (!blocks_) blocks_.emplace(module_, fn_);
    if (joinIn(module_, fn_, *blocks_, region)) blocks_.reset(); // statements moved
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
  std::optional<LocalBlocks> blocks_;
};

} // namespace

void joinStrips(const Module& module, Function& fn) { RegionWalk(module, fn).run(fn.body); }

} // namespace melix::loops
