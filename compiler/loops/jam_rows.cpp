#include "loops/jam_rows.h"

#include "loops/brief_chains.h"
#include "loops/clone.h"
#include "loops/lanes.h"
#include "loops/row_gains.h"
#include "loops/short_strips.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

bool writes(const Function& fn, RegionId region) {
  return anyOf(fn, region, [&](const Stmt& s) {
    return s.kind == StmtKind::Store || siteOf(s.kind) != SiteKind::Lane ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return writes(fn, r); });
  });
}

/// A point of some that are done together; what it stores counts only if `isThere`, which is none of those
/// that surely are.
struct Row {
  Copies copies;
  ValueId isThere;
};

class Jam {
public:
  Jam(Builder& b, const Variance& variance, ValueId point, std::vector<Row> rows, Copies& same)
      : b_(b), variance_(variance), point_(point), same_(same), rows_(std::move(rows)) {}

  /// Up to the next loop the rows come one after another, so that what a row needs is not there for long.
  /// Of a sum, what `beforeLast` writes stands in front of the last statements of a row, and what rows store
  /// side by side is stored together.
  void region(const std::vector<StmtId>& stmts, const std::function<void(size_t row)>& beforeLast = {}) {
    std::vector<StmtId> apart;
    auto finish = [&] {
      for (Row& row : rows_)
        for (StmtId id : apart) cloneTo(row, id);
      apart.clear();
    };
    for (size_t k = 0; k + 1 < stmts.size(); ++k) {
      const Stmt s = b_.fn.stmts[stmts[k]]; // statements are made on the way
      if (isSame(s)) {
        clone(b_, stmts[k], same_);
      } else if (s.kind == StmtKind::For && isSame(s.operands[0]) && isSame(s.operands[1])) {
        finish();
        loop(s);
      } else if (s.kind == StmtKind::If && isSame(s.operands[0]) && holdsLoop(s)) {
        finish();
        branch(s);
      } else {
        apart.push_back(stmts[k]);
        if (std::ranges::any_of(s.results, [&](ValueId v) { return isSame(v); })) {
          finish();
          noteSame(s);
        }
      }
    }
    const std::vector<StmtId> together =
        beforeLast ? storedTogether(b_.fn, variance_, apart, point_) : std::vector<StmtId>();
    for (size_t k = 0; k < rows_.size(); ++k) {
      if (beforeLast) beforeLast(k);
      for (StmtId id : apart)
        if (std::ranges::find(together, id) == together.end()) cloneTo(rows_[k], id);
    }
    for (StmtId id : together) storeTogether(id);
  }

  /// The body of a sum whose turns the rows are, from what is carried to what is carried on: each row takes
  /// what the one before gives, unless that is not there.
  std::vector<ValueId> fold(RegionId body, std::vector<ValueId> carried) {
    const std::vector<ValueId> params = b_.fn.regions[body].params;
    const std::vector<StmtId> stmts = b_.fn.regions[body].stmts;
    const std::vector<ValueId> yields = b_.fn.stmts[stmts.back()].operands;
    auto goOn = [&](const Row& row) {
      for (size_t k = 0; k < carried.size(); ++k) {
        const ValueId next = row.copies.of(yields[k]);
        carried[k] = row.isThere.valid() ? b_.select(row.isThere, next, carried[k]) : next;
      }
    };
    region(stmts, [&](size_t row) {
      if (row > 0) goOn(rows_[row - 1]);
      for (size_t k = 0; k < carried.size(); ++k) rows_[row].copies.set(params[k + 1], carried[k]);
    });
    goOn(rows_.back());
    return carried;
  }

private:
  /// What all rows give alike is that of the first.
  void noteSame(const Stmt& s) {
    for (ValueId v : s.results)
      if (isSame(v)) same_.set(v, rows_.front().copies.of(v));
  }
  void cloneTo(Row& row, StmtId id) {
    if (!row.isThere.valid() || b_.fn.stmts[id].kind != StmtKind::Store) return clone(b_, id, row.copies);
    const RegionId yes = b_.begin();
    clone(b_, id, row.copies);
    b_.end();
    const RegionId no = b_.begin();
    b_.end();
    b_.stmt(StmtKind::If, {row.isThere}, {}, {}, {yes, no});
  }

  /// If all rows are there, at one place and others right behind it; else one by one.
  void storeTogether(StmtId id) {
    const Stmt s = b_.fn.stmts[id];
    auto all = [&] {
      Stmt next = s;
      for (const Row& row : rows_) {
        std::vector<ValueId> operands = rows_.front().copies.of(s.operands);
        operands.back() = row.copies.of(s.operands.back());
        b_.stmt(StmtKind::Store, std::move(operands), {}, next.attr);
        next.as<Access>().offset += next.as<Access>().elemBytes;
      }
    };
    b_.loc = s.loc;
    if (!rows_.back().isThere.valid()) return all();
    const RegionId yes = b_.begin();
    all();
    b_.end();
    const RegionId no = b_.begin();
    for (Row& row : rows_) cloneTo(row, id);
    b_.end();
    b_.stmt(StmtKind::If, {rows_.back().isThere}, {}, {}, {yes, no});
  }

  bool isSame(ValueId v) const { return variance_.isUniform(v); }
  /// Whether a statement, with all in it, does the same at all points, so that once is enough.
  bool isSame(const Stmt& s) const {
    return s.kind != StmtKind::Store && variance_.allUniform(s.operands) && variance_.allUniform(s.results) &&
           std::ranges::all_of(s.regions, [this](RegionId r) {
             return !anyOf(b_.fn, r, [this](const Stmt& inner) { return !isSame(inner); });
           });
  }

  /// What goes into a carried value: one, or one for each row.
  void spread(ValueId v, ValueId carried, std::vector<ValueId>& out) const {
    if (isSame(carried)) return out.push_back(same_.of(v));
    for (const Row& row : rows_) out.push_back(row.copies.of(v));
  }
  void gather(ValueId v, const std::vector<ValueId>& values, size_t& at) {
    if (isSame(v)) return same_.set(v, values[at++]);
    for (Row& row : rows_) row.copies.set(v, values[at++]);
  }

  /// A loop that runs as often at all points: once for all of them.
  void loop(const Stmt& s) {
    const std::vector<ValueId> params = b_.fn.regions[s.regions[0]].params;
    const std::vector<StmtId> stmts = b_.fn.regions[s.regions[0]].stmts;
    std::vector<ValueId> begin;
    for (size_t k = 1; k < params.size(); ++k) spread(s.operands[k + 1], params[k], begin);
    b_.loc = s.loc;
    const std::vector<ValueId> ends = b_.carryLoop(
        same_.of(s.operands[0]), same_.of(s.operands[1]), std::move(begin),
        [&](ValueId index, const std::vector<ValueId>& values) {
          same_.set(params[0], index);
          size_t at = 0;
          for (size_t k = 1; k < params.size(); ++k) gather(params[k], values, at);
          region(stmts);
          std::vector<ValueId> next;
          const std::vector<ValueId> yields = b_.fn.stmts[stmts.back()].operands;
          for (size_t k = 1; k < params.size(); ++k) spread(yields[k - 1], params[k], next);
          return next;
        },
        s.as<ForAttr>());
    size_t at = 0;
    for (ValueId v : s.results) gather(v, ends, at);
  }

  bool holdsLoop(const Stmt& s) const {
    return std::ranges::any_of(s.regions, [this](RegionId r) {
      return anyOf(b_.fn, r, [](const Stmt& inner) { return inner.kind == StmtKind::For; });
    });
  }
  /// A branch that all points take or none: once for all of them.
  void branch(const Stmt& s) {
    std::vector<RegionId> arms;
    std::vector<ValueType> types;
    for (RegionId r : s.regions) {
      const std::vector<StmtId> stmts = b_.fn.regions[r].stmts;
      const std::vector<ValueId> yields = b_.fn.stmts[stmts.back()].operands;
      std::vector<ValueId> out;
      arms.push_back(b_.begin());
      region(stmts);
      for (size_t k = 0; k < yields.size(); ++k) spread(yields[k], s.results[k], out);
      types.clear();
      for (ValueId v : out) types.push_back(b_.fn.typeOf(v));
      b_.end(std::move(out));
    }
    b_.loc = s.loc;
    const std::vector<ValueId> ends =
        b_.results(b_.stmt(StmtKind::If, {same_.of(s.operands[0])}, types, s.attr, arms));
    size_t at = 0;
    for (ValueId v : s.results) gather(v, ends, at);
  }

  Builder& b_;
  const Variance& variance_;
  ValueId point_;
  Copies& same_;
  std::vector<Row> rows_;
};

/// Whether all that is written in a region is written by stores in loops that turn as often at all points:
/// each can be left out by itself.
bool storesApart(const Function& fn, RegionId region, const Variance& points) {
  return !anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind == StmtKind::For && points.isUniform(s.operands[0]) && points.isUniform(s.operands[1]))
      return !storesApart(fn, s.regions[0], points);
    return siteOf(s.kind) != SiteKind::Lane ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return writes(fn, r); });
  });
}

/// Of a single row, chains wait for themselves: a mask costs nothing.
void maskColumns(Function& fn, RegionId row) {
  for (StmtId id : fn.regions[row].stmts) {
    if (fn.stmts[id].kind != StmtKind::For) continue;
    auto& attr = fn.stmts[id].as<ForAttr>();
    attr.masked = attr.lanes > 0 && attr.unroll > 1;
  }
}

void askNothing(Function& fn, RegionId region) {
  for (StmtId id : fn.regions[region].stmts) {
    if (fn.stmts[id].kind == StmtKind::Load) fn.stmts[id].as<Access>().ahead = false;
    for (RegionId r : fn.stmts[id].regions) askNothing(fn, r);
  }
}

/// What stands in place of a loop: its points in rows, then what is left. What it carries goes from the one
/// to the other.
class InRows {
public:
  InRows(Builder& b, StmtId id, RegionId home)
      : b_(b), id_(id), home_(home), loop_(b.fn.stmts[id]), attr_(loop_.as<ForAttr>()),
        rows_(std::exchange(attr_.rows, 0)), variance_(b.fn, loop_, FramesKind::OfEach) {}

  void run() {
    b_.loc = loop_.loc;
    const ValueId first = loop_.operands[0], size = b_.integer(rows_);
    const ValueId count = b_.arith(OpKind::Max, b_.arith(OpKind::Sub, end(), first), b_.integer(0));
    const std::optional<uint64_t> turns = turnsOf(b_.fn, loop_);
    const bool fillsBlocks = turns && *turns % static_cast<uint64_t>(rows_) == 0;
    const bool canFill = !fillsBlocks && !isChain() && storesApart(b_.fn, loop_.regions[0], variance_);
    int64_t enough = canFill ? least() : rows_;
    const bool hasPairs = canFill && enough == pair + 1;
    const BriefChains chains(b_.fn, loop_);
    if (hasPairs && chains.areSurely()) enough = leastOfPairs();
    ValueId blocks =
        b_.arith(OpKind::IDiv, filled(count, enough, hasPairs ? chains.areBrief(b_) : std::nullopt), size);
    const std::optional<ValueId> areShort =
        ShortStrips(b_.fn, loop_).areShort(b_); // else the loop behind does all points
    if (areShort) blocks = b_.select(*areShort, blocks, b_.integer(0));
    const std::vector<ValueId> ends =
        inBlocks(first, blocks, size, enough, {loop_.operands.begin() + 2, loop_.operands.end()});
    if (!areShort && (fillsBlocks || enough == 1)) return replaceWith(ends);
    maskColumns(b_.fn, loop_.regions[0]);
    const ValueId left = b_.arith(OpKind::Add, first, b_.arith(OpKind::Mul, blocks, size));
    if (!areShort && hasPairs) return byPairs(left);
    oneByOne(left, ends);
  }

private:
  static constexpr int64_t pair = 2;

  ValueId end() const { return loop_.operands[1]; }
  bool isSum() const { return !loop_.results.empty(); }
  bool isChain() const {
    return isSum() &&
           !anyOf(b_.fn, loop_.regions[0], [](const Stmt& inner) { return inner.kind == StmtKind::For; });
  }
  /// Where so many are left, the last ones are done again and again to fill the rows; of a sum around chains
  /// always, as what is left takes about as long; of a chain never, which would wait for the choice.
  int64_t least() const { return isSum() ? 1 : std::max<int64_t>(2, rows_ / 2); }

  /// The same where pairs do as well as blocks: as many of them as there are in one row less make as many
  /// sums.
  int64_t leastOfPairs() const { return rows_ % pair == 0 ? rows_ - 1 : rows_; }

  /// Rows and those that fill the last block of them.
  ValueId filled(ValueId count, int64_t enough, std::optional<ValueId> areBrief) {
    if (enough == rows_) return count;
    const ValueId more = b_.integer(rows_ - enough);
    if (!areBrief) return b_.arith(OpKind::Add, count, more);
    return b_.arith(OpKind::Add, count, b_.select(*areBrief, b_.integer(rows_ - leastOfPairs()), more));
  }

  /// So many blocks of `size` rows, the first `sure` of which are surely there; what they carry on.
  std::vector<ValueId> inBlocks(ValueId from, ValueId count, ValueId size, int64_t sure,
                                std::vector<ValueId> begun) {
    const std::vector<StmtId> body = b_.fn.regions[loop_.regions[0]].stmts;
    const ValueId point = b_.fn.regions[loop_.regions[0]].params[0];
    ForAttr attr = attr_; // a turn is so many points now
    attr.strip = std::bit_floor(attr.strip / static_cast<uint32_t>(*b_.asConstant(size)));
    return b_.carryLoop(
        b_.integer(0), count, std::move(begun),
        [&](ValueId t, const std::vector<ValueId>& carried) {
          Copies same;
          Jam jam(
              b_, variance_, point,
              rowsAt(b_.arith(OpKind::Add, from, b_.arith(OpKind::Mul, t, size)), size, sure, point, same),
              same);
          if (!carried.empty()) return jam.fold(loop_.regions[0], carried);
          jam.region(body);
          return carried;
        },
        attr);
  }
  std::vector<Row> rowsAt(ValueId at, ValueId size, int64_t sure, ValueId point, Copies& same) {
    const auto rows = static_cast<int64_t>(*b_.asConstant(size));
    const ValueId last = sure < rows ? b_.arith(OpKind::Sub, end(), b_.integer(1)) : ValueId();
    std::vector<Row> all(static_cast<size_t>(rows), Row{Copies(&same), {}});
    for (int64_t r = 0; r < rows; ++r) {
      Row& row = all[static_cast<size_t>(r)];
      ValueId here = b_.arith(OpKind::Add, at, b_.integer(r));
      if (r >= sure) {
        row.isThere = b_.compare(ops::CmpKind::Lt, here, end());
        here = b_.arith(OpKind::Min, here, last);
      }
      row.copies.set(point, here);
    }
    return all;
  }

  void replaceWith(const std::vector<ValueId>& ends) {
    for (size_t k = 0; k < ends.size(); ++k) replaceUses(b_.fn, home_, loop_.results[k], ends[k]);
  }
  /// What is left, two points at a time: what they share is read once. That is bound by what it reads, so
  /// nothing is asked for ahead.
  void byPairs(ValueId left) {
    b_.loc = loop_.loc;
    askNothing(b_.fn, loop_.regions[0]);
    const ValueId count = b_.arith(OpKind::Sub, end(), left), two = b_.integer(pair);
    const ValueId pairs =
        b_.arith(OpKind::Shr, b_.arith(OpKind::Add, count, b_.integer(pair - 1)), b_.integer(1));
    inBlocks(left, b_.arith(OpKind::Max, pairs, b_.integer(0)), two, 1, {});
  }
  void oneByOne(ValueId left, const std::vector<ValueId>& ends) {
    Stmt& s = b_.fn.stmts[id_];
    s.operands[0] = left;
    std::ranges::copy(ends, s.operands.begin() + 2);
    s.attr = attr_;
    b_.fn.regions[b_.current()].stmts.push_back(id_);
  }

  Builder& b_;
  const StmtId id_;
  const RegionId home_;
  const Stmt loop_;
  ForAttr attr_;
  const int64_t rows_;
  const Variance variance_;
};

void region(Builder& b, RegionId r) {
  const std::vector<StmtId> stmts = b.fn.regions[r].stmts;
  std::vector<StmtId> out;
  for (StmtId id : stmts) {
    const std::vector<RegionId> inner = b.fn.stmts[id].regions;
    for (RegionId each : inner) region(b, each);
    const Stmt& s = b.fn.stmts[id];
    if (s.kind != StmtKind::For || s.as<ForAttr>().rows < 2) {
      out.push_back(id);
      continue;
    }
    const RegionId made = b.begin();
    InRows(b, id, r).run();
    b.end();
    std::vector<StmtId> all = b.fn.regions[made].stmts;
    all.pop_back(); // the yield
    for (StmtId k : all)
      for (ValueId v : b.fn.stmts[k].results) b.fn.values[v].region = r;
    out.insert(out.end(), all.begin(), all.end());
  }
  b.fn.regions[r].stmts = std::move(out);
}

} // namespace

void jamRows(Function& function) {
  Builder b(function);
  region(b, function.body);
}

} // namespace melix::loops
