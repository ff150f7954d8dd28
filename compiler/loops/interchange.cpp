#include "loops/interchange.h"

#include "loops/outline.h"
#include "loops/point_tile.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr int64_t mostPoints = 64; ///< of a tile
constexpr int64_t fewPoints = 8;   ///< less are not worth it

class Interchanger {
public:
  Interchanger(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  /// Whether anything in the region was changed. A loop around that stays as it is: code would grow by three
  /// at each level.
  bool run(RegionId region) {
    bool changed = false;
    std::vector<StmtId> out;
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      bool inside = false;
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) inside |= run(inner);
      const size_t chains = inside ? 0 : chainsIn(fn_.stmts[id]);
      const bool taken = chains > 0 && tileOf(fn_.stmts[id]) >= fewPoints;
      changed |= inside || taken;
      if (!taken) {
        out.push_back(id);
        continue;
      }
      const std::vector<StmtId> made = inTiles(id, chains, region);
      out.insert(out.end(), made.begin(), made.end());
    }
    fn_.regions[region].stmts = std::move(out);
    return changed;
  }

private:
  /// How many statements of a loop of points go up to the end of its last chain; 0 if it is not to be
  /// changed.
  size_t chainsIn(const Stmt& s) const {
    if (s.kind != StmtKind::For || s.as<ForAttr>().mark != MarkKind::Points) return 0;
    const RegionId body = s.regions[0];
    const std::vector<ValueId>& params = fn_.regions[body].params;
    const std::span early = std::span(fn_.regions[body].stmts).first(upToLastChain(body));
    auto mayComeEarly = [&](StmtId id) { return isEarly(fn_.stmts[id], std::span(params).subspan(1)); };
    return isClosed(module_, fn_, body) && std::ranges::all_of(early, mayComeEarly) ? early.size() : 0;
  }

  /// The last one whose ends are the same at all points.
  size_t upToLastChain(RegionId body) const {
    const std::vector<ValueId>& params = fn_.regions[body].params;
    const std::vector<StmtId>& stmts = fn_.regions[body].stmts;
    std::unordered_set<ValueId> varying(params.begin(), params.end());
    size_t last = 0;
    for (size_t k = 0; k < stmts.size(); ++k) {
      const Stmt& s = fn_.stmts[stmts[k]];
      auto varies = [&](ValueId v) { return varying.contains(v); };
      if (isChain(module_, fn_, s) && std::ranges::none_of(std::span(s.operands).first(2), varies))
        last = k + 1;
      if (!dependsOnOperands(s) || std::ranges::any_of(s.operands, varies))
        varying.insert(s.results.begin(), s.results.end());
    }
    return last;
  }

  /// Whether a statement may run before those of the point in front of it.
  bool isEarly(const Stmt& s, std::span<const ValueId> carried) const {
    auto isScalar = [&](ValueId v) { return fn_.typeOf(v).cls == ClassKind::Scalar; };
    return isPlain(module_, fn_, s) && std::ranges::all_of(s.results, isScalar) && !uses(s, carried);
  }
  bool uses(const Stmt& s, std::span<const ValueId> values) const {
    auto isOne = [&](ValueId v) { return std::ranges::find(values, v) != values.end(); };
    return std::ranges::any_of(s.operands, isOne) || std::ranges::any_of(s.regions, [&](RegionId r) {
             return std::ranges::any_of(fn_.regions[r].stmts,
                                        [&](StmtId id) { return uses(fn_.stmts[id], values); });
           });
  }

  /// So many points, evenly if it is known how many there are.
  int64_t tileOf(const Stmt& loop) {
    const std::optional<int64_t> points = pointsOf(loop);
    if (!points) return mostPoints;
    const int64_t tiles = (*points + mostPoints - 1) / mostPoints;
    return tiles > 0 ? (*points + tiles - 1) / tiles : 0;
  }
  std::optional<int64_t> pointsOf(const Stmt& loop) {
    const Builder b(fn_);
    const uint64_t *first = b.asConstant(loop.operands[0]), *end = b.asConstant(loop.operands[1]);
    if (!first || !end) return std::nullopt;
    return static_cast<int64_t>(*end - *first);
  }

  /// A loop that is to be changed.
  struct Loop {
    const Stmt& stmt;
    std::vector<StmtId> body;
    size_t chains; ///< statements up to the last chain
    int64_t size;  ///< points of a tile
  };
  std::vector<ValueId> tile(Builder& b, const Loop& loop, ValueId first, ValueId count,
                            std::vector<ValueId> carried);
  void rest(Builder& b, const Loop& loop, StmtId id, ValueId first, std::vector<ValueId> carried);
  std::vector<StmtId> inTiles(StmtId id, size_t chains, RegionId home);

  const Module& module_;
  Function& fn_;
};

/// The points of one tile; gives what is carried.
std::vector<ValueId> Interchanger::tile(Builder& b, const Loop& loop, ValueId first, ValueId count,
                                        std::vector<ValueId> carried) {
  PointTile points(module_, b, loop.stmt, first, count, loop.size);
  points.sweepChains(std::span(loop.body).first(loop.chains));
  return points.sweepRest(std::span(loop.body).subspan(loop.chains), std::move(carried));
}

/// What is left behind whole tiles: the loop itself serves where that is little. The last statement made
/// gives what is carried.
void Interchanger::rest(Builder& b, const Loop& loop, StmtId id, ValueId first,
                        std::vector<ValueId> carried) {
  Stmt& stmt = fn_.stmts[id];
  const ValueId count = b.arith(OpKind::Sub, stmt.operands[1], first);
  const RegionId no = b.begin();
  b.end(tile(b, loop, first, count, carried));
  const RegionId yes = b.begin();
  fn_.regions[yes].stmts.push_back(id);
  stmt.operands[0] = first;
  std::ranges::copy(carried, stmt.operands.begin() + 2);
  std::vector<ValueType> types;
  for (ValueId& v : stmt.results) {
    types.push_back(fn_.typeOf(v));
    v = fn_.values.add({fn_.typeOf(v), id, yes});
  }
  b.end(stmt.results);
  const ValueId few = b.compare(ops::CmpKind::Lt, count, b.integer(fewPoints));
  b.stmt(StmtKind::If, {few}, types, {}, {yes, no});
}

/// What stands in place of the loop.
std::vector<StmtId> Interchanger::inTiles(StmtId id, size_t chains, RegionId home) {
  const Stmt stmt = fn_.stmts[id];
  const Loop loop{stmt, fn_.regions[stmt.regions[0]].stmts, chains, tileOf(stmt)};
  const std::optional<int64_t> known = pointsOf(stmt);
  Builder b(fn_);
  b.loc = stmt.loc;
  const RegionId front = b.begin();
  const ValueId first = stmt.operands[0], size = b.integer(loop.size);
  const ValueId points = b.arith(OpKind::Max, b.arith(OpKind::Sub, stmt.operands[1], first), b.integer(0));
  const ValueId tiles = b.arith(OpKind::IDiv, points, size);
  std::vector<ValueId> carried = b.carryLoop(
      b.integer(0), tiles, {stmt.operands.begin() + 2, stmt.operands.end()},
      [&](ValueId t, std::vector<ValueId> values) {
        const ValueId at = b.arith(OpKind::Add, first, b.arith(OpKind::Mul, t, size));
        return tile(b, loop, at, size, std::move(values));
      },
      stmt.as<ForAttr>());
  if (!known || *known % loop.size != 0) {
    const ValueId left = b.arith(OpKind::Add, first, b.arith(OpKind::Mul, tiles, size));
    rest(b, loop, id, left, std::move(carried));
  }
  b.end();
  std::vector<StmtId> out = fn_.regions[front].stmts;
  out.pop_back(); // the yield
  for (StmtId s : out)
    for (ValueId v : fn_.stmts[s].results) fn_.values[v].region = home;
  // The last statement gives what the loop gave.
  for (ValueId v : stmt.results) fn_.values[v].def = out.back();
  fn_.stmts[out.back()].results = stmt.results;
  return out;
}

} // namespace

void interchange(const Module& module, Function& function) {
  Interchanger(module, function).run(function.body);
}

} // namespace melix::loops
