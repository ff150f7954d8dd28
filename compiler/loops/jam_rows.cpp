#include "loops/jam_rows.h"

#include "loops/clone.h"
#include "loops/find_contraction.h"
#include "loops/lanes.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

bool anyOf(const Function& fn, RegionId region, auto&& test) {
  return std::ranges::any_of(fn.regions[region].stmts, [&](StmtId id) { return test(fn.stmts[id]); });
}

bool writes(const Function& fn, RegionId region) {
  return anyOf(fn, region, [&](const Stmt& s) {
    return s.kind == StmtKind::Store || siteOf(s.kind) != SiteKind::Lane ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return writes(fn, r); });
  });
}

/// Whether a region reads something that is the same at all points, to use it in lanes.
bool readsShared(const Function& fn, RegionId region, const Variance& points, const Variance& lanes) {
  return anyOf(fn, region, [&](const Stmt& s) {
    return s.kind == StmtKind::Load && points.isUniform(s.results[0]) && !lanes.isUniform(s.results[0]);
  });
}

/// Whether a loop in lanes holds a chain, of as many terms at all points, that reads what they share.
bool sharesInChain(const Function& fn, RegionId region, const Variance& points, const Variance& lanes) {
  return anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind != StmtKind::For) return false;
    const bool together = points.isUniform(s.operands[0]) && points.isUniform(s.operands[1]);
    const bool chain = !s.results.empty() && readsShared(fn, s.regions[0], points, lanes);
    return together && (chain || sharesInChain(fn, s.regions[0], points, lanes));
  });
}

/// Whether a store goes on by one element from point to point: nothing else of its place differs.
bool isAlong(const Function& fn, const Variance& points, const Stmt& s, ValueId point) {
  if (s.kind != StmtKind::Store || s.as<Access>().elemBytes != bytesOf(s.as<Access>().elem)) return false;
  bool isFound = false;
  if (!points.isUniform(s.operands[0])) return false;
  for (size_t k = 1; k + 2 < s.operands.size(); k += 2) {
    if (s.operands[k] != point) {
      if (!points.isUniform(s.operands[k]) || !points.isUniform(s.operands[k + 1])) return false;
      continue;
    }
    const uint64_t* stride = asConstant(fn, s.operands[k + 1]);
    if (isFound || !stride || *stride != 1) return false;
    isFound = true;
  }
  return isFound;
}

/// Stores of rows to neighbours that may come last: nothing behind them reads what they write.
std::vector<StmtId> storedTogether(const Function& fn, const Variance& points, std::span<const StmtId> stmts,
                                   ValueId point) {
  std::vector<StmtId> out;
  std::vector<ValueId> read;
  for (StmtId id : stmts) {
    const Stmt& s = fn.stmts[id];
    if (!s.regions.empty() || siteOf(s.kind) != SiteKind::Lane) return {};
    if (s.kind == StmtKind::Load) read.push_back(s.operands[0]);
    if (isAlong(fn, points, s, point)) out.push_back(id);
  }
  auto isBlock = [&](ValueId base) { return fn.typeOf(base) == dataType; };
  const bool areApart = std::ranges::all_of(out, [&](StmtId id) {
    const ValueId base = fn.stmts[id].operands[0];
    return isBlock(base) && std::ranges::find(read, base) == read.end();
  });
  if (!read.empty() && !(areApart && std::ranges::all_of(read, isBlock))) return {};
  return out;
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

/// A turn is so many points now.
ForAttr ofWholeRows(ForAttr attr, uint32_t rows) {
  attr.strip = std::bit_floor(attr.strip / rows);
  return attr;
}

/// Of a single row, chains wait for themselves: a mask costs nothing.
void maskColumns(Function& fn, RegionId row) {
  for (StmtId id : fn.regions[row].stmts) {
    if (fn.stmts[id].kind != StmtKind::For) continue;
    auto& attr = fn.stmts[id].as<ForAttr>();
    attr.masked = attr.lanes > 0 && attr.unroll > 1;
  }
}

/// Strips in a loop of points, those that end where is known in front of it, and how many turns they have at
/// most if partial sums of several points are to pay: what lies in longer rows is read faster one by one.
class ShortStrips {
public:
  ShortStrips(const Function& fn, const Stmt& points)
      : fn_(fn), fixed_(fn, [this](ValueId v) { return inside_.contains(fn_.values[v].region); }) {
    note(points.regions[0]);
  }

  /// Whether all are short, where the builder stands; none if there are none.
  std::optional<ValueId> areShort(Builder& b) const {
    std::optional<ValueId> all;
    Copies copies;
    for (auto [end, most] : ends_) {
      const ValueId isShort = b.compare(ops::CmpKind::Le, fixed_.write(b, end, copies), b.integer(most));
      all = all ? b.both(*all, isShort) : isShort;
    }
    return all;
  }

private:
  void note(RegionId region) {
    inside_.insert(region);
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (RegionId r : s.regions) note(r);
      if (s.kind == StmtKind::For && s.as<ForAttr>().strip > 0) note(s);
    }
  }
  void note(const Stmt& strip) {
    const int64_t most = int64_t(strip.as<ForAttr>().strip) * mostStrips;
    const StmtId def = fn_.values[strip.operands[1]].def;
    const bool isPart = def.valid() && fn_.stmts[def].kind == StmtKind::Scalar &&
                        fn_.stmts[def].as<ScalarAttr>().op == OpKind::Min;
    std::vector<ValueId> all = isPart ? fn_.stmts[def].operands : std::vector<ValueId>();
    all.push_back(strip.operands[1]);
    const auto end =
        std::ranges::find_if(all, [this](ValueId v) { return fixed_.holds(v) && !asConstant(fn_, v); });
    if (end != all.end()) ends_.emplace_back(*end, most);
  }

  static constexpr int64_t mostStrips = 2;

  const Function& fn_;
  std::unordered_set<RegionId> inside_;
  FixedNumbers fixed_;
  std::vector<std::pair<ValueId, int64_t>> ends_;
};

/// What stands in place of the loop: the points in rows, then what is left. What it carries goes from the one
/// to the other.
void inRows(Builder& b, StmtId id, RegionId home) {
  const Stmt s = b.fn.stmts[id];
  ForAttr attr = s.as<ForAttr>();
  const auto rows = static_cast<int64_t>(std::exchange(attr.rows, 0));
  const Variance variance(b.fn, s, FramesKind::OfEach);
  const std::vector<StmtId> body = b.fn.regions[s.regions[0]].stmts;
  const ValueId point = b.fn.regions[s.regions[0]].params[0];
  b.loc = s.loc;
  const ValueId first = s.operands[0], size = b.integer(rows);
  const ValueId count = b.arith(OpKind::Max, b.arith(OpKind::Sub, s.operands[1], first), b.integer(0));
  // Where so many are left, the last ones are done again and again to fill the rows; of a sum around chains
  // always, as what is left takes about as long; of a chain never, which would wait for the choice.
  const std::optional<uint64_t> turns = turnsOf(b.fn, s);
  const bool isSum = !s.results.empty();
  const bool fillsBlocks = turns && *turns % static_cast<uint64_t>(rows) == 0;
  const bool isChain =
      isSum && !anyOf(b.fn, s.regions[0], [](const Stmt& inner) { return inner.kind == StmtKind::For; });
  const int64_t least = isSum ? 1 : std::max<int64_t>(2, rows / 2);
  const bool canFill = !fillsBlocks && !isChain && storesApart(b.fn, s.regions[0], variance);
  const int64_t enough = canFill ? least : rows;
  const ValueId filled = enough < rows ? b.arith(OpKind::Add, count, b.integer(rows - enough)) : count;
  ValueId blocks = b.arith(OpKind::IDiv, filled, size);
  const std::optional<ValueId> areShort =
      ShortStrips(b.fn, s).areShort(b); // else the loop behind does all points
  if (areShort) blocks = b.select(*areShort, blocks, b.integer(0));
  const std::vector<ValueId> begun(s.operands.begin() + 2, s.operands.end());
  const std::vector<ValueId> ends = b.carryLoop(
      b.integer(0), blocks, begun,
      [&](ValueId t, const std::vector<ValueId>& carried) {
        const ValueId at = b.arith(OpKind::Add, first, b.arith(OpKind::Mul, t, size));
        Copies same;
        const ValueId last = enough < rows ? b.arith(OpKind::Sub, s.operands[1], b.integer(1)) : ValueId();
        std::vector<Row> all(static_cast<size_t>(rows), Row{Copies(&same), {}});
        for (int64_t r = 0; r < rows; ++r) {
          Row& row = all[static_cast<size_t>(r)];
          ValueId here = b.arith(OpKind::Add, at, b.integer(r));
          if (r >= enough) {
            row.isThere = b.compare(ops::CmpKind::Lt, here, s.operands[1]);
            here = b.arith(OpKind::Min, here, last);
          }
          row.copies.set(point, here);
        }
        Jam jam(b, variance, point, std::move(all), same);
        if (!carried.empty()) return jam.fold(s.regions[0], carried);
        jam.region(body);
        return carried;
      },
      ofWholeRows(attr, static_cast<uint32_t>(rows)));
  if (!areShort && (fillsBlocks || enough == 1)) {
    for (size_t k = 0; k < ends.size(); ++k) replaceUses(b.fn, home, s.results[k], ends[k]);
    return;
  }
  b.loc = s.loc;
  maskColumns(b.fn, s.regions[0]);
  const ValueId left = b.arith(OpKind::Add, first, b.arith(OpKind::Mul, blocks, size));
  b.fn.stmts[id].operands[0] = left;
  std::ranges::copy(ends, b.fn.stmts[id].operands.begin() + 2);
  b.fn.stmts[id].attr = attr;
  b.fn.regions[b.current()].stmts.push_back(id);
}

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
    inRows(b, id, r);
    b.end();
    std::vector<StmtId> all = b.fn.regions[made].stmts;
    all.pop_back(); // the yield
    for (StmtId k : all)
      for (ValueId v : b.fn.stmts[k].results) b.fn.values[v].region = r;
    out.insert(out.end(), all.begin(), all.end());
  }
  b.fn.regions[r].stmts = std::move(out);
}

bool isOrHoldsLoop(const Function& fn, const Stmt& s) {
  return siteOf(s.kind) != SiteKind::Lane || s.kind == StmtKind::For || s.kind == StmtKind::While ||
         std::ranges::any_of(s.regions, [&](RegionId r) {
           return anyOf(fn, r, [&](const Stmt& inner) { return isOrHoldsLoop(fn, inner); });
         });
}

/// Whether a region reads of each point, and for each lane, something else.
bool readsApart(const Function& fn, RegionId region, const Variance& points, const Variance& lanes) {
  return anyOf(fn, region, [&](const Stmt& s) {
    return (s.kind == StmtKind::Load && !points.isUniform(s.results[0]) && !lanes.isUniform(s.results[0])) ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return readsApart(fn, r, points, lanes); });
  });
}

/// Whether copies of a region, one for each point, can be mixed: each writes to memory of its own only.
bool canMix(const Module& module, const Function& fn, RegionId region, const Variance& points) {
  return !anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind == StmtKind::Store) {
      const std::span<const ValueId> place = std::span(s.operands).first(s.operands.size() - 1);
      return fn.typeOf(s.operands.back()).counted() || points.allUniform(place);
    }
    const bool isLoop = s.kind == StmtKind::For && s.as<ForAttr>().mark != MarkKind::Parallel;
    if (!isLoop && s.kind != StmtKind::If && s.kind != StmtKind::Scratch && !isPlain(module, fn, s))
      return true;
    return std::ranges::any_of(s.regions, [&](RegionId r) { return !canMix(module, fn, r, points); });
  });
}

/// Whether a strip in lanes, of as many terms at all points, reads what they share.
bool sharesInStrip(const Function& fn, RegionId region, const Variance& points) {
  return anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind != StmtKind::For || !points.isUniform(s.operands[0]) || !points.isUniform(s.operands[1]))
      return false;
    const auto& attr = s.as<ForAttr>();
    const bool isStrip = attr.lanes > 0 && attr.strip > 0;
    return isStrip ? readsShared(fn, s.regions[0], points, Variance(fn, s))
                   : sharesInStrip(fn, s.regions[0], points);
  });
}

uint64_t bytesOfFrames(const Function& fn, RegionId region) {
  uint64_t bytes = 0;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::Scratch) bytes += s.as<uint64_t>();
    for (RegionId r : s.regions) bytes += bytesOfFrames(fn, r);
  }
  return bytes;
}

} // namespace

std::optional<uint64_t> frameOfStrips(const Module& module, const Function& fn, const Stmt& loop) {
  if (loop.as<ForAttr>().mark != MarkKind::Points || !loop.results.empty()) return std::nullopt;
  const Variance points(fn, loop, FramesKind::OfEach);
  if (!sharesInStrip(fn, loop.regions[0], points) || !canMix(module, fn, loop.regions[0], points))
    return std::nullopt;
  return bytesOfFrames(fn, loop.regions[0]);
}

bool addsBehindLoops(const Function& fn, const Stmt& sum) {
  const std::vector<StmtId>& stmts = fn.regions[sum.regions[0]].stmts;
  const std::span<const ValueId> carried = std::span(fn.regions[sum.regions[0]].params).subspan(1);
  size_t last = stmts.size();
  while (last > 0 && !isOrHoldsLoop(fn, fn.stmts[stmts[last - 1]])) --last;
  auto isCarried = [&](ValueId v) { return std::ranges::find(carried, v) != carried.end(); };
  bool isUsed = false;
  for (size_t k = 0; k < last; ++k) {
    isUsed |= std::ranges::any_of(fn.stmts[stmts[k]].operands, isCarried);
    for (RegionId r : fn.stmts[stmts[k]].regions)
      forEachUse(fn, r, [&](ValueId v) { isUsed |= isCarried(v); });
  }
  return !isUsed && std::ranges::all_of(stmts.begin() + static_cast<std::ptrdiff_t>(last), stmts.end(),
                                        [&](StmtId id) { return fn.stmts[id].regions.empty(); });
}

bool storesAlong(const Function& fn, const Stmt& loop) {
  const ValueId point = fn.regions[loop.regions[0]].params[0];
  const Variance points(fn, loop);
  return anyOf(fn, loop.regions[0], [&](const Stmt& s) { return isAlong(fn, points, s, point); });
}

std::vector<StmtId> storesOfChain(const Function& fn, const Stmt& loop) {
  const auto& attr = loop.as<ForAttr>();
  if (loop.results.empty() || attr.lanes > 0 || attr.strip > 0 || attr.mark == MarkKind::Parallel) return {};
  const Region& body = fn.regions[loop.regions[0]];
  const Variance points(fn, loop);
  std::vector<StmtId> out =
      storedTogether(fn, points, std::span(body.stmts).first(body.stmts.size() - 1), body.params[0]);
  const auto isOther = [&](const Stmt& s) {
    return s.kind == StmtKind::Store && !isAlong(fn, points, s, body.params[0]);
  };
  if (anyOf(fn, loop.regions[0], isOther)) out.clear();
  return out;
}

std::optional<StmtId> sumForRows(const Function& fn, StmtId lanes, std::span<const StmtId> sums) {
  const Variance columns(fn, fn.stmts[lanes]);
  for (StmtId id : sums) {
    const Stmt& sum = fn.stmts[id];
    const auto& attr = sum.as<ForAttr>();
    if (attr.mark != MarkKind::Points || attr.strip > 0 || attr.lanes > 0 ||
        !columns.allUniform(std::span(sum.operands).first(2)) || !addsBehindLoops(fn, sum))
      continue;
    const Variance points(fn, sum);
    if (sharesInChain(fn, sum.regions[0], points, columns) &&
        !readsApart(fn, sum.regions[0], points, columns))
      return id;
  }
  return std::nullopt;
}

/// Whether turns of a loop share in the chains of one in lanes.
static bool shareIn(const Function& fn, const Variance& points, const Stmt& lanes) {
  return points.allUniform(lanes.operands) &&
         sharesInChain(fn, lanes.regions[0], points, Variance(fn, lanes));
}

bool gainsByRows(const Module& module, const Function& fn, const Stmt& loop) {
  if (!loop.results.empty() || !canWiden(module, fn, loop)) return false;
  const Variance points(fn, loop);
  return anyOf(fn, loop.regions[0], [&](const Stmt& s) {
    return s.kind == StmtKind::For && s.as<ForAttr>().lanes > 0 && shareIn(fn, points, s);
  });
}

bool gainsAround(const Module& module, const Function& fn, const Stmt& loop, const Stmt& lanes) {
  return loop.results.empty() && canWiden(module, fn, loop) && shareIn(fn, Variance(fn, loop), lanes);
}

void jamRows(Function& function) {
  Builder b(function);
  region(b, function.body);
}

} // namespace melix::loops
