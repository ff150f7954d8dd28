#include "loops/tiles/unroll_and_jam.h"

#include "loops/analysis/iteration_bounds.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/index_sets/triangular_reduction.h"
#include "loops/tiles/jam_bodies.h"
#include "loops/tiles/short_reductions.h"
#include "loops/tiles/short_strips.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

bool writes(const Function& fn, RegionId region) {
  return anyOf(fn, region, [&](const Stmt& s) {
    return s.kind == StmtKind::Store || siteOf(s.kind) != SiteKind::Vectorisable ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return writes(fn, r); });
  });
}

/// Whether all that is written in a region is written by stores in loops that iterate as often at all points:
/// each can be left out by itself.
bool storesVarying(const Function& fn, RegionId region, const Variance& points) {
  return !anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind == StmtKind::For && points.isUniform(s.operands[0]) && points.isUniform(s.operands[1]))
      return !storesVarying(fn, s.regions[0], points);
    return siteOf(s.kind) != SiteKind::Vectorisable ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return writes(fn, r); });
  });
}

/// Of a single row, chains wait for themselves: a mask costs nothing.
void maskColumns(Function& fn, RegionId row) {
  for (StmtId id : fn.regions[row].stmts) {
    if (fn.stmts[id].kind != StmtKind::For) continue;
    auto& attr = fn.stmts[id].as<ForAttr>();
    attr.predicated = attr.vectorWidth > 0 && attr.interleave > 1;
  }
}

void clearSchedule(Function& fn, RegionId region) {
  for (StmtId id : fn.regions[region].stmts) {
    if (fn.stmts[id].kind == StmtKind::Load) fn.stmts[id].as<Access>().prefetch = false;
    for (RegionId r : fn.stmts[id].regions) clearSchedule(fn, r);
  }
}

/// What stands in place of a loop: its points in rows, then what is left. What it carries goes from the one
/// to the other.
class UnrollAndJam {
public:
  UnrollAndJam(Builder& b, StmtId id, RegionId home)
      : b_(b), id_(id), home_(home), loop_(b.fn.stmts[id]), attr_(loop_.as<ForAttr>()),
        rows_(std::exchange(attr_.unrollJam, 0)), variance_(b.fn, loop_, FramesKind::OfEach) {}

  void run() {
    b_.loc = loop_.loc;
    const ValueId first = loop_.operands[0], size = b_.integer(rows_);
    const bool narrows = holdsNarrow(loop_.regions[0], nullptr);
    if (narrows) areSmall_ = b_.both(emitFitsWithoutOverflow(b_, first), emitFitsWithoutOverflow(b_, end()));
    const ValueId count = b_.arith(OpKind::Max, b_.arith(OpKind::Sub, end(), first), b_.integer(0));
    const std::optional<uint64_t> tripCount = constantTripCount(b_.fn, loop_);
    const bool fillsBlocks = tripCount && *tripCount % static_cast<uint64_t>(rows_) == 0;
    const bool canFill = !fillsBlocks && !isChain() && storesVarying(b_.fn, loop_.regions[0], variance_);
    int64_t enough = canFill ? least() : rows_;
    const bool hasPairs = canFill && enough == pair + 1;
    const ShortReductions chains(b_.fn, loop_);
    if (hasPairs && chains.isProvenShort()) enough = leastOfPairs();
    ValueId blocks =
        b_.arith(OpKind::IDiv, filled(count, enough, hasPairs ? chains.emitIsShort(b_) : std::nullopt), size);
    const std::optional<ValueId> areShort =
        ShortStrips(b_.fn, loop_).areShort(b_); // else the loop after does all points
    if (areShort) blocks = b_.select(*areShort, blocks, b_.integer(0));
    const std::vector<ValueId> ends =
        inBlocks(first, blocks, size, enough, {loop_.operands.begin() + 2, loop_.operands.end()});
    if (!areShort && (fillsBlocks || enough == 1)) return replaceWith(ends);
    maskColumns(b_.fn, loop_.regions[0]);
    const ValueId left = b_.arith(OpKind::Add, first, b_.arith(OpKind::Mul, blocks, size));
    if (!areShort && hasPairs) return byPairs(left);
    if (!narrows || isSum()) return oneByOne(left, ends);
    inBlocks(left, b_.arith(OpKind::Max, b_.arith(OpKind::Sub, end(), left), b_.integer(0)), b_.integer(1), 1,
             {});
  }

private:
  static constexpr int64_t pair = 2;

  ValueId end() const { return loop_.operands[1]; }
  bool isSum() const { return !loop_.results.empty(); }
  bool isChain() const {
    return isSum() &&
           !anyOf(b_.fn, loop_.regions[0], [](const Stmt& inner) { return inner.kind == StmtKind::For; });
  }
  /// Whether chains of columns, in branches too, leave out iterations (triangular_reduction.h).
  bool holdsNarrow(RegionId region, const Variance* lanes) {
    for (StmtId id : std::vector(b_.fn.regions[region].stmts)) {
      const Stmt s = b_.fn.stmts[id]; // statements are made when it is asked
      const bool isLoop = s.kind == StmtKind::For;
      if (isLoop && lanes && narrowBranch(b_.fn, id, variance_, *lanes)) return true;
      const std::optional<Variance> own =
          isLoop && isOfColumns(s) ? std::optional<Variance>(Variance(b_.fn, s)) : std::nullopt;
      for (RegionId inner : s.regions)
        if (holdsNarrow(inner, own ? &*own : lanes)) return true;
    }
    return false;
  }

  /// Where so many are left, the last ones are done again and again to fill the rows; of a sum around chains
  /// always, as what is left takes about as long; of a chain never, which would wait for the choice.
  int64_t least() const { return isSum() ? 1 : std::max<int64_t>(2, rows_ / 2); }

  /// The same where pairs do as well as blocks: as many of them as there are in one row less make as many
  /// sums.
  int64_t leastOfPairs() const { return rows_ % pair == 0 ? rows_ - 1 : rows_; }

  /// Rows and those that fill the last block of them.
  ValueId filled(ValueId count, int64_t enough, std::optional<ValueId> isShort) {
    if (enough == rows_) return count;
    const ValueId more = b_.integer(rows_ - enough);
    if (!isShort) return b_.arith(OpKind::Add, count, more);
    return b_.arith(OpKind::Add, count, b_.select(*isShort, b_.integer(rows_ - leastOfPairs()), more));
  }

  /// So many blocks of `size` rows, the first `sure` of which are surely there; what they carry on.
  std::vector<ValueId> inBlocks(ValueId from, ValueId count, ValueId size, int64_t sure,
                                std::vector<ValueId> begun) {
    const std::vector<StmtId> body = b_.fn.regions[loop_.regions[0]].stmts;
    const ValueId point = b_.fn.regions[loop_.regions[0]].params[0];
    ForAttr attr = attr_; // an iteration is so many points now
    attr.minDistance = std::bit_floor(attr.minDistance / static_cast<uint32_t>(*b_.asConstant(size)));
    return b_.carryLoop(
        b_.integer(0), count, std::move(begun),
        [&](ValueId t, const std::vector<ValueId>& carried) {
          Copies same;
          Jam jam(
              b_, variance_, point, areSmall_,
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
    clearSchedule(b_.fn, loop_.regions[0]);
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
  ValueId areSmall_;
};

void region(Builder& b, RegionId r) {
  const std::vector<StmtId> stmts = b.fn.regions[r].stmts;
  std::vector<StmtId> out;
  for (StmtId id : stmts) {
    const std::vector<RegionId> inner = b.fn.stmts[id].regions;
    for (RegionId each : inner) region(b, each);
    const Stmt& s = b.fn.stmts[id];
    if (s.kind != StmtKind::For || s.as<ForAttr>().unrollJam < 2) {
      out.push_back(id);
      continue;
    }
    const RegionId made = b.begin();
    UnrollAndJam(b, id, r).run();
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

void unrollAndJam(Function& function) {
  Builder b(function);
  region(b, function.body);
}

} // namespace melix::loops
