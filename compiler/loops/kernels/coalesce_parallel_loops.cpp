#include "loops/kernels/coalesce_parallel_loops.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/launch_expressions.h"
#include "loops/analysis/perfect_nest.h"
#include "loops/ir/clone.h"
#include "loops/ir/constant_values.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

/// About how many iterations the loops in a region have, all together, if none makes more than is known.
uint64_t iterationsIn(const Function& fn, RegionId region, uint64_t most) {
  uint64_t all = 1;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::While) return most;
    uint64_t inner = 0;
    for (RegionId r : s.regions) inner += iterationsIn(fn, r, most);
    const uint64_t tripCount = s.kind == StmtKind::For ? provenTripCount(fn, s).value_or(most) : 1;
    if (tripCount >= most || inner >= most) return most;
    all += tripCount * inner;
  }
  return std::min(all, most);
}

/// Whether it takes some microseconds or more, as far as is known.
bool mayBeLong(const Function& fn, StmtId loop) {
  constexpr uint64_t many = 1024;
  const uint64_t tripCount = provenTripCount(fn, fn.stmts[loop]).value_or(many);
  return tripCount >= many || tripCount * iterationsIn(fn, fn.stmts[loop].regions[0], many) >= many;
}

class NestFinder {
public:
  NestFinder(const Module& module, const Function& fn) : module_(module), fn_(fn) {}

  std::optional<ChunkNests> run() {
    if (fn_.kind == FunctionKind::Orchestration || !region(fn_.body) || out_.nests.empty())
      return std::nullopt;
    size_t depth = out_.nests.front().size();
    for (const auto& nest : out_.nests) depth = std::min(depth, nest.size());
    while (out_.extents.size() + 1 < depth && isShared(out_.extents.size() + 1))
      out_.extents.push_back(extentOf(out_.nests.front()[out_.extents.size() + 1]));
    if (out_.extents.empty()) return std::nullopt;
    for (auto& nest : out_.nests) nest.resize(out_.extents.size() + 1);
    return std::move(out_);
  }

private:
  /// Whether all that it does beside the loops over the chunk may be done by each chunk.
  bool region(RegionId r) {
    return std::ranges::all_of(fn_.regions[r].stmts, [this](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For && isOverChunk(fn_, s)) return nest(id);
      if (s.kind == StmtKind::Store && !isOwn(s.operands[0])) return false;
      const bool isControl = !s.regions.empty() || s.kind == StmtKind::Store || s.kind == StmtKind::Scratch;
      if (!isControl && !isPlain(module_, fn_, s)) return false;
      return std::ranges::all_of(s.regions, [this](RegionId inner) { return region(inner); });
    });
  }
  bool nest(StmtId loop) {
    if (!isPointsLoop(fn_.stmts[loop]) || fn_.stmts[loop].as<ForAttr>().unrollJam > 1) return false;
    out_.nests.push_back(perfectPoints(module_, fn_, loop));
    return true;
  }
  /// Whether it is memory of the thread that runs the chunk.
  bool isOwn(ValueId base) const {
    const StmtId def = fn_.values[base].def;
    if (!def.valid()) {
      const auto param = std::ranges::find(fn_.params(), base);
      return param != fn_.params().end() &&
             fn_.modes[static_cast<size_t>(param - fn_.params().begin())] == ModeKind::Scratch;
    }
    const Stmt& s = fn_.stmts[def];
    if (s.kind == StmtKind::AddressOf || s.kind == StmtKind::PointerOf) return isOwn(s.operands[0]);
    return s.kind == StmtKind::Scratch || s.kind == StmtKind::FrameArray;
  }

  ValueId extentOf(StmtId loop) const { return fn_.stmts[loop].operands[1]; }
  /// Whether the loops of a level have as many iterations in all nests, and in all iterations around them.
  bool isShared(size_t level) const {
    const ValueId extent = extentOf(out_.nests.front()[level]);
    return LaunchValues::isUniform(fn_, extent) &&
           std::ranges::all_of(out_.nests, [&](const std::vector<StmtId>& nest) {
             const uint64_t* first = asConstant(fn_, fn_.stmts[nest[level]].operands[0]);
             return first && *first == 0 && areSameNumber(fn_, extentOf(nest[level]), extent) &&
                    mayBeLong(fn_, nest[level]);
           });
  }

  const Module& module_;
  const Function& fn_;
  ChunkNests out_;
};

class UnitWriter {
public:
  UnitWriter(Function& fn, const ChunkNests& found, ValueId tripCount, ValueId units)
      : fn_(fn), b_(fn), found_(found), iterations_(tripCount), units_(units) {}

  UnitRange run(UnitRange units) {
    b_.loc = fn_.stmts[found_.nests.front().front()].loc;
    const RegionId front = b_.begin();
    measure();
    const UnitRange iterations = around(isAll(units, units_), units, iterations_, sizes_[0]);
    b_.end();
    replaceUses(fn_, fn_.body, fn_.params()[0], iterations.first);
    replaceUses(fn_, fn_.body, fn_.params()[1], iterations.end);
    splice(fn_, front, fn_.body, 0);
    for (const std::vector<StmtId>& nest : found_.nests) write(nest, units);
    return iterations;
  }

private:
  /// How many units an iteration of each loop has.
  void measure() {
    const FixedNumbers numbers(fn_, [this](ValueId v) { return fn_.values[v].def.valid(); });
    Copies copies;
    for (ValueId extent : found_.extents) extents_.push_back(numbers.write(b_, extent, copies));
    sizes_.assign(extents_.size() + 1, b_.integer(1));
    for (size_t k = extents_.size(); k-- > 0;) sizes_[k] = b_.product({extents_[k], sizes_[k + 1]});
  }
  ValueId isAll(UnitRange units, ValueId all) {
    return b_.both(b_.compare(CmpKind::Eq, units.first, b_.integer(0)),
                   b_.compare(CmpKind::Eq, units.end, all));
  }
  /// The iterations that hold some units, of which each has `size`: all of them where it is all units.
  UnitRange around(ValueId isAll, UnitRange units, ValueId tripCount, ValueId size) {
    const RegionId all = b_.begin();
    b_.end({b_.integer(0), tripCount});
    const RegionId some = b_.begin();
    const ValueId one = b_.integer(1), each = b_.arith(OpKind::Max, size, one);
    const ValueId filled = b_.arith(OpKind::Add, units.end, b_.arith(OpKind::Sub, each, one));
    const ValueId first = b_.arith(OpKind::IDiv, units.first, each);
    b_.end({first, b_.arith(OpKind::IDiv, filled, each)});
    const std::vector<ValueId> ends =
        b_.results(b_.stmt(StmtKind::If, {isAll}, {indexType, indexType}, {}, {all, some}));
    return {ends[0], ends[1]};
  }

  void write(const std::vector<StmtId>& nest, UnitRange units) {
    for (size_t level = 1; level < nest.size(); ++level) {
      const RegionId home = fn_.stmts[nest[level - 1]].regions[0];
      b_.loc = fn_.stmts[nest[level]].loc;
      const RegionId front = b_.begin();
      units = unitsOfIteration(units, fn_.regions[home].params[0], sizes_[level - 1]);
      UnitRange iterations = units;
      if (level + 1 < nest.size()) {
        iterations = around(isAll(units, sizes_[level - 1]), units, extents_[level - 1], sizes_[level]);
      }
      b_.end();
      splice(fn_, front, home, placeOf(fn_, home, nest[level]));
      fn_.stmts[nest[level]].operands[0] = iterations.first;
      fn_.stmts[nest[level]].operands[1] = iterations.end;
    }
  }
  /// Those of some units that are of one iteration, counted from its own first one.
  UnitRange unitsOfIteration(UnitRange units, ValueId iteration, ValueId size) {
    const ValueId before = b_.arith(OpKind::Mul, iteration, size);
    return {b_.arith(OpKind::Max, b_.arith(OpKind::Sub, units.first, before), b_.integer(0)),
            b_.arith(OpKind::Min, b_.arith(OpKind::Sub, units.end, before), size)};
  }

  Function& fn_;
  Builder b_;
  const ChunkNests& found_;
  const ValueId iterations_, units_;
  std::vector<ValueId> extents_,
      sizes_; ///< of the loops after the first; of all, how many units an iteration is
};

} // namespace

std::optional<ChunkNests> findChunkNests(const Module& module, const Function& fn) {
  return NestFinder(module, fn).run();
}

UnitRange sweepUnits(Function& fn, const ChunkNests& found, UnitRange some, ValueId tripCount,
                     ValueId units) {
  return UnitWriter(fn, found, tripCount, units).run(some);
}

} // namespace melix::loops
