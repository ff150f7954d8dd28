#include "loops/index_sets/strip_mine_quotients.h"

#include "loops/ir/build.h"
#include "loops/ir/clone.h"
#include "loops/ir/constant_values.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr int64_t mostRemainders = 8; ///< of a row

/// The quotients and remainders of the index of a loop, all by the same number.
struct Quotients {
  int64_t by = 0;
  std::vector<StmtId> quotients, remainders;
  bool has(StmtId id) const {
    return std::ranges::find(quotients, id) != quotients.end() ||
           std::ranges::find(remainders, id) != remainders.end();
  }
};

class QuotientStripMiner {
public:
  explicit QuotientStripMiner(Function& fn) : fn_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      if (const std::optional<Quotients> found = quotientsOf(id)) {
        split(id, *found, r);
        continue;
      }
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) region(inner);
    }
  }

private:
  /// Of a loop over points that holds no other, reads at a quotient and stores at the index.
  std::optional<Quotients> quotientsOf(StmtId loop) const {
    const Stmt& s = fn_.stmts[loop];
    if (s.kind != StmtKind::For || !s.results.empty()) return std::nullopt;
    const auto& attr = s.as<ForAttr>();
    if (attr.dependence != Dependence::Independent || attr.minDistance > 0) return std::nullopt;
    const ValueId index = fn_.regions[s.regions[0]].params[0];
    Quotients out;
    bool stores = false;
    if (!isPlain(s.regions[0])) return std::nullopt;
    for (StmtId id : fn_.regions[s.regions[0]].stmts) {
      const Stmt& inner = fn_.stmts[id];
      stores |= inner.kind == StmtKind::Store;
      if (inner.kind == StmtKind::Scalar && !inner.operands.empty() && inner.operands[0] == index &&
          !note(id, out))
        return std::nullopt;
    }
    return stores && !out.quotients.empty() ? std::optional(out) : std::nullopt;
  }
  /// Whether it has no effect but stores, so that statements of several points may alternate.
  bool isPlain(RegionId r) const {
    return std::ranges::all_of(fn_.regions[r].stmts, [this](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      const bool can = s.kind == StmtKind::Const || s.kind == StmtKind::Scalar || s.kind == StmtKind::Load ||
                       s.kind == StmtKind::Store || s.kind == StmtKind::If || s.kind == StmtKind::Yield;
      return can && std::ranges::all_of(s.regions, [this](RegionId inner) { return isPlain(inner); });
    });
  }
  /// Whether what is done with the index fits to what is known.
  bool note(StmtId id, Quotients& out) const {
    const Stmt& s = fn_.stmts[id];
    const auto& attr = s.as<ScalarAttr>();
    if (attr.op != OpKind::IDiv && attr.op != OpKind::IRem) return true;
    const std::optional<int64_t> by = knownNumber(fn_, s.operands[1]);
    if (!by || *by < 2 || *by > mostRemainders || (out.by != 0 && *by != out.by)) return false;
    out.by = *by;
    (attr.op == OpKind::IDiv ? out.quotients : out.remainders).push_back(id);
    return true;
  }

  void split(StmtId loop, const Quotients& parts, RegionId home) {
    const ValueId begin = fn_.stmts[loop].operands[0], end = fn_.stmts[loop].operands[1];
    const size_t place = placeOf(fn_, home, loop);
    std::erase(fn_.regions[home].stmts, loop);
    Builder b(fn_);
    b.loc = fn_.stmts[loop].loc;
    const RegionId made = b.begin();
    const ValueId by = b.integer(parts.by);
    const ValueId before = b.arith(OpKind::Add, begin, b.integer(parts.by - 1));
    const ValueId first = b.arith(OpKind::IDiv, before, by);
    const ValueId last = b.arith(OpKind::Max, first, b.arith(OpKind::IDiv, end, by));
    if (!isWhole(begin, parts.by))
      rest(b, loop, begin, b.arith(OpKind::Min, end, b.arith(OpKind::Mul, first, by)));
    rows(b, loop, parts, first, last);
    if (!isWhole(begin, parts.by) || !isWhole(end, parts.by))
      rest(b, loop, b.arith(OpKind::Min, end, b.arith(OpKind::Mul, last, by)), end);
    b.end();
    splice(fn_, made, home, place);
  }
  bool isWhole(ValueId v, int64_t by) const {
    if (const std::optional<int64_t> known = knownNumber(fn_, v)) return *known % by == 0;
    return (by & (by - 1)) == 0 && isMultipleOf(fn_, v, static_cast<uint64_t>(by));
  }

  /// The loop as it was, between other ends.
  void rest(Builder& b, StmtId loop, ValueId begin, ValueId end) {
    Copies copies;
    clone(b, loop, copies);
    fn_.stmts[fn_.regions[b.current()].stmts.back()].operands = {begin, end};
  }

  void rows(Builder& b, StmtId loop, const Quotients& parts, ValueId first, ValueId last) {
    ForAttr attr;
    attr.dependence = Dependence::Independent;
    auto row = [&](ValueId quotient, std::vector<ValueId> none) {
      points(b, loop, parts, quotient);
      return none;
    };
    b.carryLoop(first, last, {}, row, attr);
  }
  /// A point of a row while its statements are copied.
  struct Point {
    Copies copies;
    ValueId index, remainder;
  };

  /// One statement after another for all points of a row, once if it is the same for all.
  void points(Builder& b, StmtId loop, const Quotients& parts, ValueId quotient) {
    const RegionId body = fn_.stmts[loop].regions[0];
    const ValueId start = b.arith(OpKind::Mul, quotient, b.integer(parts.by));
    std::vector<Point> row(static_cast<size_t>(parts.by));
    for (size_t r = 0; r < row.size(); ++r) {
      row[r].remainder = b.integer(static_cast<int64_t>(r));
      row[r].index = b.arith(OpKind::Add, start, row[r].remainder);
      row[r].copies.set(fn_.regions[body].params[0], row[r].index);
      for (StmtId id : parts.quotients) row[r].copies.set(fn_.stmts[id].results[0], quotient);
      for (StmtId id : parts.remainders) row[r].copies.set(fn_.stmts[id].results[0], row[r].remainder);
    }
    const std::vector<StmtId> stmts = fn_.regions[body].stmts;
    for (StmtId id : stmts)
      if (fn_.stmts[id].kind != StmtKind::Yield && !parts.has(id)) statement(b, id, row, start);
  }
  void statement(Builder& b, StmtId id, std::vector<Point>& row, ValueId start) {
    const bool isOnce = isSame(fn_.stmts[id], row);
    for (Point& point : row) {
      if (isOnce && &point != &row[0]) {
        for (ValueId v : fn_.stmts[id].results) point.copies.set(v, row[0].copies.of(v));
        continue;
      }
      clone(b, id, point.copies);
      writeAsColumn(fn_.stmts[fn_.regions[b.current()].stmts.back()], point, start);
    }
  }
  /// An access at the index of a point is one at a column of the row (interleaved_accesses.h).
  static void writeAsColumn(Stmt& access, const Point& point, ValueId start) {
    if (access.kind != StmtKind::Load && access.kind != StmtKind::Store) return;
    const auto at = std::find(access.operands.begin() + 1, access.operands.end(), point.index);
    if (at == access.operands.end() || at + 1 == access.operands.end()) return;
    *at = start;
    const ValueId stride = *(at + 1);
    access.operands.insert(at + 2, {point.remainder, stride});
  }
  static bool isSame(const Stmt& s, const std::vector<Point>& row) {
    if (s.kind != StmtKind::Const && s.kind != StmtKind::Scalar && s.kind != StmtKind::Load) return false;
    const std::vector<ValueId> first = row[0].copies.of(s.operands);
    return std::ranges::all_of(row, [&](const Point& point) { return point.copies.of(s.operands) == first; });
  }

  Function& fn_;
};

} // namespace

void stripMineQuotients(Function& function) { QuotientStripMiner(function).region(function.body); }

} // namespace melix::loops
