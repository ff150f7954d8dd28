#include "loops/groups/tile_points.h"

#include "loops/analysis/launch_expressions.h"
#include "loops/groups/group_schedule.h"
#include "loops/groups/tile_plan.h"
#include "loops/ir/clone.h"
#include "melix/abi.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace melix::loops {
namespace {

using core::OpKind;
using ops::CmpKind;

/// Writes the statements of a tile in place of those of a point.
class TileWriter {
public:
  TileWriter(Function& fn, const TilePlan& plan, RegionId point)
      : fn_(fn), plan_(plan), axes_(plan.axes), depends_(fn, point, plan.axes), b_(fn), point_(point) {}

  void run() {
    fn_.points.threads = MELIX_BLOCK_THREADS;
    fn_.points.tile = plan_.extent();
    rows_ = fn_.values.add({indexType, StmtId(), fn_.body});
    const std::vector<StmtId> stmts = fn_.regions[point_].stmts;
    const RegionId made = b_.begin();
    openTile();
    for (StmtId id : stmts) statement(id);
    b_.end();
    fn_.regions[point_].stmts.clear();
    fn_.regions[point_].stmts.push_back(stmts.back());
    splice(fn_, made, point_, 0);
    fn_.regions[fn_.body].params.push_back(rows_);
    fn_.modes.push_back(ModeKind::Size);
  }

private:
  /// A point of a thread, and what stands for the values of the kernel there.
  struct Point {
    uint32_t row, column;
    Copies values;
    ValueId isInside;
  };

  ValueId quotient(ValueId x, uint32_t by) {
    return b_.arith(OpKind::Shr, x, b_.integer(std::countr_zero(by)));
  }
  ValueId remainder(ValueId x, uint32_t by) { return b_.arith(OpKind::And, x, b_.integer(int64_t{by} - 1)); }
  ValueId add(ValueId x, ValueId y) { return b_.arith(OpKind::Add, x, y); }
  ValueId times(ValueId x, uint32_t by) { return b_.arith(OpKind::Mul, x, b_.integer(by)); }
  ValueId least(ValueId x, ValueId y) { return b_.arith(OpKind::Min, x, y); }
  /// How many tiles an axis has.
  ValueId tilesOf(ValueId extent) {
    return quotient(add(extent, b_.integer(plan_.extent() - 1)), plan_.extent());
  }

  // --- the points of a thread
  void openTile() {
    thread_ = b_.value(StmtKind::Thread, {}, indexType);
    columns_ = extentIn(axes_.columns);
    const ValueId across = tilesOf(columns_), down = tilesOf(rows_);
    const ValueId strip = b_.arith(OpKind::IDiv, axes_.point, across);
    first_.batch = b_.arith(OpKind::IDiv, strip, down);
    first_.row = times(b_.arith(OpKind::IRem, strip, down), plan_.extent());
    first_.column = times(b_.arith(OpKind::IRem, axes_.point, across), plan_.extent());
    if (axes_.batch.valid()) all_.set(axes_.batch, first_.batch);
    const ValueId down0 = quotient(thread_, TilePlan::side), across0 = remainder(thread_, TilePlan::side);
    std::vector<ValueId> rows, columns;
    for (uint32_t k = 0; k < plan_.perThread; ++k) {
      inRow_.push_back(add(down0, b_.integer(TilePlan::side * k)));
      inColumn_.push_back(add(across0, b_.integer(TilePlan::side * k)));
      rows.push_back(add(first_.row, inRow_[k]));
      columns.push_back(add(first_.column, inColumn_[k]));
    }
    for (uint32_t r = 0; r < plan_.perThread; ++r)
      for (uint32_t c = 0; c < plan_.perThread; ++c) addPoint(r, c, rows[r], columns[c]);
  }

  /// An extent that the region of a point or the kernel has: its own statements are not there yet.
  ValueId extentIn(ValueId extent) {
    const uint64_t* known = asConstant(fn_, extent);
    if (known) return b_.integer(static_cast<int64_t>(*known));
    return FixedNumbers(fn_, point_).write(b_, extent, all_);
  }

  void addPoint(uint32_t r, uint32_t c, ValueId row, ValueId column) {
    Point point{r, c, Copies(&all_), {}};
    const ValueId isInRows = b_.compare(CmpKind::Lt, row, rows_);
    point.isInside = b_.both(isInRows, b_.compare(CmpKind::Lt, column, columns_));
    setPoint(point.values, row, column);
    points_.push_back(std::move(point));
  }

  void setPoint(Copies& values, ValueId row, ValueId column) {
    setRow(values, row);
    setColumn(values, column);
    const ValueId before = b_.arith(OpKind::Mul, values.of(axes_.rest), columns_);
    values.set(axes_.point, add(before, values.of(axes_.column)));
  }

  /// The last row stands for all that are beyond it.
  void setRow(Copies& values, ValueId row) {
    const ValueId there = least(row, b_.arith(OpKind::Sub, rows_, b_.integer(1)));
    values.set(axes_.row, there);
    if (axes_.rest != axes_.row)
      values.set(axes_.rest, add(b_.arith(OpKind::Mul, first_.batch, rows_), there));
  }
  void setColumn(Copies& values, ValueId column) {
    values.set(axes_.column, least(column, b_.arith(OpKind::Sub, columns_, b_.integer(1))));
  }

  // --- statements
  bool isAxis(ValueId v) const {
    return v == axes_.column || v == axes_.row || v == axes_.rest || v == axes_.batch;
  }

  void statement(StmtId id) {
    const Stmt s = fn_.stmts[id];
    b_.loc = s.loc;
    if (s.kind == StmtKind::Yield || (!s.results.empty() && isAxis(s.results[0]))) return;
    if (const auto sum = plan_.sums.find(id); sum != plan_.sums.end()) return loop(sum->second, 0);
    if (plan_.transposed.contains(id)) return transpose(s.results[0]);
    if (!depends_.of(s) && !s.results.empty()) return clone(b_, id, all_);
    for (Point& point : points_) {
      if (!s.results.empty()) {
        clone(b_, id, point.values);
        continue;
      }
      const RegionId yes = b_.begin();
      clone(b_, id, point.values);
      b_.end();
      const RegionId no = b_.begin();
      b_.end();
      b_.stmt(StmtKind::If, {point.isInside}, {}, {}, {yes, no});
    }
  }

  /// A load of all points of the tile, in the order of the memory that it reads.
  void transpose(ValueId v) {
    const uint32_t pitch = plan_.extent() + 1; // so that a column of the memory is in different banks
    const ValueId memory = b_.value(StmtKind::Shared, {}, addressType,
                                    uint64_t{bytesOf(fn_.typeOf(v))} * plan_.extent() * pitch);
    auto placeOf = [&](ValueId row, ValueId column) {
      return std::vector<Term>{{row, b_.integer(pitch)}, {column, b_.integer(1)}};
    };
    for (uint32_t done = 0; done < plan_.extent() * plan_.extent(); done += MELIX_BLOCK_THREADS) {
      const ValueId number = add(thread_, b_.integer(done));
      const ValueId row = remainder(number, plan_.extent()), column = quotient(number, plan_.extent());
      Copies values(&all_);
      setPoint(values, add(first_.row, row), add(first_.column, column));
      rematerialise(v, {}, values);
      b_.store(memory, placeOf(row, column), access(v), values.of(v));
    }
    b_.stmt(StmtKind::Barrier, {});
    for (Point& point : points_)
      point.values.set(v, b_.load(memory, placeOf(inRow_[point.row], inColumn_[point.column]), access(v)));
  }

  /// Runs a loop of a sum for all points: it carries what it carried for each of them.
  void loop(const TiledSum& sum, size_t depth) {
    const Stmt s = fn_.stmts[sum.loops[depth]];
    if (depth + 1 == sum.loops.size()) return chain(sum);
    const RegionId body = s.regions[0];
    const std::vector<ValueId> results =
        b_.carryLoop(all_.of(s.operands[0]), all_.of(s.operands[1]), initial(s),
                     [&](ValueId index, std::vector<ValueId> carried) {
                       all_.set(fn_.regions[body].params[0], index);
                       setCarried(fn_.regions[body].params, carried);
                       const std::vector<StmtId> stmts = fn_.regions[body].stmts;
                       for (StmtId id : stmts)
                         if (id == sum.loops[depth + 1])
                           loop(sum, depth + 1);
                         else
                           statement(id);
                       return yielded(stmts.back());
                     });
    setResults(s, results);
  }

  std::vector<ValueId> initial(const Stmt& loop) {
    std::vector<ValueId> out;
    for (Point& point : points_)
      for (size_t k = boundOperands; k < loop.operands.size(); ++k)
        out.push_back(point.values.of(loop.operands[k]));
    return out;
  }
  std::vector<ValueId> yielded(StmtId yield) {
    std::vector<ValueId> out;
    const std::vector<ValueId> operands = fn_.stmts[yield].operands;
    for (Point& point : points_)
      for (ValueId v : operands) out.push_back(point.values.of(v));
    return out;
  }
  /// `params`: the index, then what is carried for a point.
  void setCarried(const std::vector<ValueId> params, const std::vector<ValueId>& carried) {
    size_t at = 0;
    for (Point& point : points_)
      for (size_t k = 1; k < params.size(); ++k) point.values.set(params[k], carried[at++]);
  }
  void setResults(const Stmt& loop, const std::vector<ValueId>& results) {
    size_t at = 0;
    for (Point& point : points_)
      for (ValueId v : loop.results) point.values.set(v, results[at++]);
  }

  // --- the innermost loop of a sum
  void chain(const TiledSum& sum) {
    const Stmt s = fn_.stmts[sum.chain()];
    const RegionId body = s.regions[0];
    const ValueId begin = all_.of(s.operands[0]), end = all_.of(s.operands[1]);
    std::vector<ValueId> memory;
    for (const StagedValue& v : sum.staged)
      memory.push_back(b_.value(StmtKind::Shared, {}, addressType,
                                uint64_t{bytesOf(fn_.typeOf(v.value))} * plan_.extent() * tileSteps));
    const ValueId filled = add(b_.arith(OpKind::Sub, end, begin), b_.integer(tileSteps - 1));
    const std::vector<ValueId> results =
        b_.carryLoop(b_.integer(0), quotient(filled, tileSteps), initial(s),
                     [&](ValueId step, std::vector<ValueId> carried) {
                       const ValueId first = add(begin, times(step, tileSteps));
                       for (size_t k = 0; k < memory.size(); ++k)
                         stage(sum.staged[k], memory[k], body, first, end);
                       b_.stmt(StmtKind::Barrier, {});
                       const ValueId some = least(b_.integer(tileSteps), b_.arith(OpKind::Sub, end, first));
                       std::vector<ValueId> next =
                           b_.carryLoop(b_.integer(0), some, std::move(carried),
                                        [&](ValueId k, std::vector<ValueId> values) {
                                          return term(sum, memory, body, first, k, values);
                                        });
                       b_.stmt(StmtKind::Barrier, {});
                       return next;
                     });
    setResults(s, results);
  }

  Access access(ValueId value) const {
    const ValueType type = fn_.typeOf(value);
    return {type, bytesOf(type), 0, false, false};
  }
  /// Where the memory of a block has what belongs to a row or column and a term.
  std::vector<Term> place(ValueId along, ValueId term) {
    return {{term, b_.integer(plan_.extent())}, {along, b_.integer(1)}};
  }

  /// Each thread computes some of the elements, neighbours those that lie side by side.
  void stage(const StagedValue& v, ValueId memory, RegionId body, ValueId first, ValueId end) {
    const ValueId last = b_.arith(OpKind::Sub, end, b_.integer(1));
    for (uint32_t done = 0; done < plan_.extent() * tileSteps; done += MELIX_BLOCK_THREADS) {
      const ValueId number = add(thread_, b_.integer(done));
      const uint32_t fast = v.isAlongSum ? tileSteps : plan_.extent();
      const ValueId inner = remainder(number, fast), outer = quotient(number, fast);
      const ValueId along = v.isAlongSum ? outer : inner, term = v.isAlongSum ? inner : outer;
      Copies values(&all_);
      values.set(fn_.regions[body].params[0], least(add(first, term), last));
      if (v.axes == AxisDependence::Row)
        setRow(values, add(first_.row, along));
      else
        setColumn(values, add(first_.column, along));
      rematerialise(v.value, body, values);
      b_.store(memory, place(along, term), access(v.value), values.of(v.value));
    }
  }

  /// Computes a value of a row or column and a term anew.
  void rematerialise(ValueId v, RegionId body, Copies& values) {
    if (values.of(v) != v) return;
    const bool isInChain = fn_.values[v].region == body;
    if (!isInChain && !depends_.of(v)) return;
    const StmtId def = fn_.values[v].def;
    const std::vector<ValueId> operands = fn_.stmts[def].operands;
    for (ValueId operand : operands) rematerialise(operand, body, values);
    for (RegionId r : fn_.stmts[def].regions) rematerialiseUses(r, body, values);
    clone(b_, def, values);
  }
  void rematerialiseUses(RegionId r, RegionId body, Copies& values) {
    const auto inside = regionsWithin(fn_, r);
    std::vector<ValueId> used;
    forEachUse(fn_, r, [&](ValueId v) {
      if (!inside.contains(fn_.values[v].region)) used.push_back(v);
    });
    for (ValueId v : used) rematerialise(v, body, values);
  }

  /// A term of all points.
  std::vector<ValueId> term(const TiledSum& sum, const std::vector<ValueId>& memory, RegionId body,
                            ValueId first, ValueId k, const std::vector<ValueId>& carried) {
    all_.set(fn_.regions[body].params[0], add(first, k));
    setCarried(fn_.regions[body].params, carried);
    for (size_t v = 0; v < memory.size(); ++v) loadStaged(sum.staged[v], memory[v], k);
    const std::vector<StmtId> stmts = fn_.regions[body].stmts;
    for (StmtId id : stmts) termOf(sum, id);
    return yielded(stmts.back());
  }

  void loadStaged(const StagedValue& v, ValueId memory, ValueId k) {
    const bool isRow = v.axes == AxisDependence::Row;
    std::vector<ValueId> loaded;
    for (ValueId along : isRow ? inRow_ : inColumn_)
      loaded.push_back(b_.load(memory, place(along, k), access(v.value)));
    for (Point& point : points_) point.values.set(v.value, loaded[isRow ? point.row : point.column]);
  }

  /// Statements on the way to what is staged are not needed here.
  void termOf(const TiledSum& sum, StmtId id) {
    if (fn_.stmts[id].kind == StmtKind::Yield) return;
    if (sum.ofPoints.contains(id))
      for (Point& point : points_) clone(b_, id, point.values);
    else if (!depends_.of(fn_.stmts[id]))
      clone(b_, id, all_);
  }

  Function& fn_;
  const TilePlan& plan_;
  const PointAxes axes_;
  const AxisDependence depends_;
  Builder b_;
  const RegionId point_;
  Copies all_; ///< of values that all points have
  std::vector<Point> points_;
  ValueId thread_, rows_, columns_;
  struct {
    ValueId batch, row, column;
  } first_;                               ///< point of the tile
  std::vector<ValueId> inRow_, inColumn_; ///< where in the tile the rows and columns of the thread are
};

/// A kernel that runs tiles where there are enough points.
struct Tiled {
  FunctionId kernel;
  PointAxes axes;
  int64_t extent; ///< of a tile
};

/// Chooses at each launch of a kernel.
class TileLaunches {
public:
  TileLaunches(Module& module, const std::unordered_map<FunctionId, Tiled>& tiled)
      : module_(module), tiled_(tiled) {}

  void region(Function& caller, RegionId r) {
    for (size_t k = 0; k < caller.regions[r].stmts.size(); ++k) {
      const StmtId id = caller.regions[r].stmts[k];
      const std::vector<RegionId> inner = caller.stmts[id].regions;
      for (RegionId each : inner) region(caller, each);
      if (caller.stmts[id].kind != StmtKind::Launch) continue;
      if (const auto found = tiled_.find(caller.stmts[id].as<FunctionId>()); found != tiled_.end())
        k = choose(caller, id, found->second, r, k);
    }
  }

private:
  /// Gives where the choice stands.
  size_t choose(Function& caller, StmtId id, const Tiled& tiled, RegionId home, size_t place) {
    const Stmt launch = caller.stmts[id];
    Builder b(caller);
    b.loc = launch.loc;
    const RegionId made = b.begin();
    const ValueId one = b.integer(1), size = b.integer(tiled.extent);
    auto divided = [&](ValueId x, ValueId by) {
      return b.arith(OpKind::IDiv, x, b.arith(OpKind::Max, by, one));
    };
    auto tilesOf = [&](ValueId extent) {
      return b.arith(OpKind::IDiv, b.arith(OpKind::Add, extent, b.arith(OpKind::Sub, size, one)), size);
    };
    const Function& kernel = module_.functions[launch.as<FunctionId>()];
    LaunchValues values(b, kernel, launch, kernel.stmts.size());
    const ValueId columns = *values.of(tiled.axes.columns), rest = divided(launch.operands[0], columns);
    const ValueId rows = tiled.axes.rows.valid() ? *values.of(tiled.axes.rows) : rest;
    auto hasMany = [&](ValueId extent) { return b.compare(CmpKind::Ge, extent, b.integer(leastTiled)); };
    const ValueId hasRows = hasMany(rows), hasBoth = b.both(hasRows, hasMany(columns));
    // Quotients by numbers that are no extents leave points out.
    const ValueId batches = divided(rest, rows);
    const ValueId all = b.arith(OpKind::Mul, b.arith(OpKind::Mul, batches, rows), columns);
    const ValueId isWorth = b.both(hasBoth, b.compare(CmpKind::Eq, all, launch.operands[0]));
    const RegionId tiles = b.begin();
    Stmt tiledLaunch = launch;
    const ValueId down = tilesOf(rows);
    tiledLaunch.operands[0] = b.product({batches, down, tilesOf(columns)});
    tiledLaunch.operands.push_back(rows);
    b.stmt(StmtKind::Launch, tiledLaunch.operands, {}, tiled.kernel);
    b.end();
    const RegionId points = b.begin();
    b.stmt(StmtKind::Launch, launch.operands, {}, launch.as<FunctionId>());
    b.end();
    b.stmt(StmtKind::If, {isWorth}, {}, {}, {tiles, points});
    b.end();
    const size_t count = caller.regions[made].stmts.size() - 1;
    replaceStmt(caller, made, home, id);
    return place + count - 1;
  }

  Module& module_;
  const std::unordered_map<FunctionId, Tiled>& tiled_;
};

} // namespace

void tilePoints(Module& module) {
  std::unordered_map<FunctionId, Tiled> tiled;
  for (uint32_t f = 0, count = static_cast<uint32_t>(module.functions.size()); f < count; ++f) {
    const Function& kernel = module.functions[FunctionId(f)];
    if (kernel.kind != FunctionKind::Device) continue;
    const std::optional<TilePlan> plan = planTile(module, kernel);
    if (!plan) continue;
    Function made = kernel;
    made.key += ".tiles";
    TileWriter(made, *plan, pointOf(made)).run();
    tiled[FunctionId(f)] = {module.functions.add(std::move(made)), plan->axes, plan->extent()};
  }
  if (tiled.empty()) return;
  for (Function& fn : module.functions) TileLaunches(module, tiled).region(fn, fn.body);
}

} // namespace melix::loops
