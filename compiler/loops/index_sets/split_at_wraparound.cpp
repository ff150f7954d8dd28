#include "loops/index_sets/split_at_wraparound.h"

#include "loops/analysis/induction.h"
#include "loops/ir/build.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr uint64_t fewIterationsOfPiece = 16; ///< if they are known, so few are not worth a piece

constexpr int64_t mostIndex = std::numeric_limits<int64_t>::max(),
                  leastIndex = std::numeric_limits<int64_t>::min();

/// A remainder r = x mod n at the first point of a piece, or a quotient q = x / n, with its remainder.
struct Wrap {
  StmtId stmt; ///< in the body
  bool rises;  ///< x does, by 1 in each iteration, or it falls
  ValueId x, n, r;
  ValueId q; ///< none for a remainder
};

/// Puts one loop into pieces.
class WraparoundSplitter {
public:
  WraparoundSplitter(Function& fn, StmtId loop, const Slopes& slopes)
      : fn_(fn), b_(fn), loop_(loop), slopes_(slopes),
        index_(fn.regions[fn.stmts[loop].regions[0]].params[0]) {
    b_.loc = fn.stmts[loop].loc;
  }

  /// What stands in place of the loop, in region `home`. From piece to piece go: where it begins, what the
  /// loop carries, and the remainders.
  std::vector<StmtId> run(RegionId home) {
    const Stmt loop = fn_.stmts[loop_];
    const RegionId front = b_.begin();
    std::vector<ValueId> begun{loop.operands[0]};
    begun.insert(begun.end(), loop.operands.begin() + 2, loop.operands.end());
    for (StmtId id : slopes_.wraps) begun.resize(begun.size() + carriedBy(id), b_.integer(0));
    std::vector<ValueType> types;
    for (ValueId v : begun) types.push_back(fn_.typeOf(v));

    const RegionId more = b_.begin(types);
    b_.end({b_.compare(CmpKind::Lt, b_.params(more)[0], loop.operands[1])});
    const RegionId piece = b_.begin(types);
    runPiece(loop.operands[0], loop.operands[1], b_.params(piece));
    const StmtId made = b_.stmt(StmtKind::While, std::move(begun), types, {}, {more, piece});
    for (size_t k = 0; k < loop.results.size(); ++k) {
      fn_.values[loop.results[k]].def = made;
      fn_.stmts[made].results[k + 1] = loop.results[k];
    }
    b_.end();
    std::vector<StmtId> out = std::exchange(fn_.regions[front].stmts, {});
    out.pop_back(); // the yield
    for (StmtId id : out)
      for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = home;
    return out;
  }

private:
  bool isQuotient(StmtId id) const { return fn_.stmts[id].as<ScalarAttr>().op == OpKind::IDiv; }
  /// How many numbers go from piece to piece for a remainder or quotient.
  size_t carriedBy(StmtId id) const { return isQuotient(id) ? 2 : 1; }

  /// One piece of the loop from `first` to `end`.
  void runPiece(ValueId first, ValueId end, std::vector<ValueId> params) {
    const ValueId at = params[0];
    const auto carried = params.begin() + 1, reached = carried + (std::ssize(fn_.stmts[loop_].operands) - 2);
    copyWraps(at, b_.compare(CmpKind::Eq, at, first), {reached, params.end()});
    ValueId next = end;
    for (const Wrap& wrap : wraps_) {
      const ValueId to = b_.arith(OpKind::Add, at, pointsToWrap(wrap));
      // A sum that itself wraps is beyond every end.
      const ValueId isNext = b_.both(b_.compare(CmpKind::Gt, to, at), b_.compare(CmpKind::Lt, to, next));
      next = b_.select(isNext, to, next);
    }
    std::vector<ValueId> yields = runLoop(at, next, {carried, reached});
    yields.insert(yields.begin(), next);
    const ValueId points = b_.arith(OpKind::Sub, next, at);
    for (const Wrap& wrap : wraps_) after(wrap, points, yields);
    b_.end(std::move(yields));
  }

  /// The loop itself, in which remainders are the index and a number that is the same in all of the piece.
  std::vector<ValueId> runLoop(ValueId at, ValueId next, const std::vector<ValueId>& carried) {
    const ValueId zero = b_.integer(0);
    for (const Wrap& wrap : wraps_) {
      Stmt& s = fn_.stmts[wrap.stmt];
      if (wrap.q) {
        s.attr = ScalarAttr{OpKind::Add, 0, TypeKind::I64};
        s.operands = {wrap.q, zero};
        continue;
      }
      const ValueId shift = b_.arith(wrap.rises ? OpKind::Sub : OpKind::Add, wrap.r, at);
      s.attr = ScalarAttr{wrap.rises ? OpKind::Add : OpKind::Sub, 0, TypeKind::I64};
      s.operands = {shift, index_};
    }
    fn_.regions[b_.current()].stmts.push_back(loop_);
    Stmt& loop = fn_.stmts[loop_];
    loop.operands = {at, next};
    loop.operands.insert(loop.operands.end(), carried.begin(), carried.end());
    for (ValueId& v : loop.results) v = fn_.values.add({fn_.typeOf(v), loop_, b_.current()});
    return loop.results;
  }

  /// The remainders and quotients, and the values they are computed from, at the first point of a piece.
  void copyWraps(ValueId at, ValueId isFirstPiece, std::span<const ValueId> reached) {
    std::unordered_map<ValueId, ValueId> copies{{index_, at}};
    std::unordered_set<ValueId> jumps; // computed from another remainder or quotient
    auto copy = [&](ValueId v) { return copies.contains(v) ? copies.at(v) : v; };
    for (StmtId id : slopes_.withOperands(slopes_.wraps)) {
      const Stmt s = fn_.stmts[id];
      std::vector<ValueId> operands;
      for (ValueId v : s.operands) operands.push_back(copy(v));
      const bool jumped = std::ranges::any_of(s.operands, [&](ValueId v) { return jumps.contains(v); });
      const bool isWrap = wraps_.size() < slopes_.wraps.size() && id == slopes_.wraps[wraps_.size()];
      if (jumped || isWrap) jumps.insert(s.results[0]);
      if (!isWrap) {
        copies[s.results[0]] = b_.value(s.kind, operands, fn_.typeOf(s.results[0]), s.attr);
        continue;
      }
      const size_t carried = carriedBy(id);
      const std::vector<ValueId> numbers =
          jumped ? divided(operands, carried)
                 : reachedOr({operands[0], operands[1]}, rises(s), isFirstPiece, reached.first(carried));
      reached = reached.subspan(carried);
      copies[s.results[0]] = numbers.back();
      wraps_.push_back(
          {id, rises(s), operands[0], operands[1], numbers[0], carried == 2 ? numbers[1] : ValueId()});
    }
  }
  bool rises(const Stmt& s) const { return *slopes_.strideOf(s.operands[0]) > 0; }

  /// The remainder of x and n, and the quotient if two numbers are asked for.
  std::vector<ValueId> divided(std::span<const ValueId> operands, size_t numbers) {
    std::vector<ValueId> out{b_.arith(OpKind::IRem, operands[0], operands[1])};
    if (numbers == 2) out.push_back(b_.arith(OpKind::IDiv, operands[0], operands[1]));
    return out;
  }
  /// Those that were reached, unless this is the first piece, x wrapped, or n is not positive.
  std::vector<ValueId> reachedOr(std::array<ValueId, 2> operands, bool rises, ValueId isFirstPiece,
                                 std::span<const ValueId> reached) {
    const auto [x, n] = operands;
    const ValueId wrapped = b_.compare(CmpKind::Eq, x, b_.integer(rises ? leastIndex : mostIndex));
    const ValueId isOther = b_.compare(CmpKind::Lt, n, b_.integer(1));
    const ValueId isNew = b_.either(isFirstPiece, b_.either(wrapped, isOther));
    const RegionId divides = b_.begin();
    b_.end(divided(operands, reached.size()));
    const RegionId keeps = b_.begin();
    b_.end({reached.begin(), reached.end()});
    const std::vector<ValueType> types(reached.size(), indexType);
    return b_.results(b_.stmt(StmtKind::If, {isNew}, types, {}, {divides, keeps}));
  }

  /// How many points there are before the next wrap, of r or of x: at least one.
  ValueId pointsToWrap(const Wrap& wrap) {
    ValueId points, room;
    if (wrap.rises) {
      points = b_.arith(OpKind::Sub, wrap.n, wrap.r);
      room = b_.arith(OpKind::Sub, b_.integer(mostIndex), b_.arith(OpKind::Max, wrap.x, b_.integer(0)));
    } else {
      points = b_.arith(OpKind::Add, wrap.r, b_.integer(1));
      room = b_.arith(OpKind::Sub, b_.arith(OpKind::Min, wrap.x, b_.integer(-1)), b_.integer(leastIndex));
    }
    return b_.arith(OpKind::Max, b_.arith(OpKind::Min, points, room), b_.integer(1));
  }

  /// Adds the remainder after a piece, and the quotient.
  void after(const Wrap& wrap, ValueId points, std::vector<ValueId>& out) {
    const ValueId zero = b_.integer(0), one = b_.integer(1);
    const ValueId r = b_.arith(wrap.rises ? OpKind::Add : OpKind::Sub, wrap.r, points);
    const ValueId wraps = wrap.rises ? b_.compare(CmpKind::Eq, r, wrap.n) : b_.compare(CmpKind::Lt, r, zero);
    out.push_back(b_.select(wraps, wrap.rises ? zero : b_.arith(OpKind::Sub, wrap.n, one), r));
    if (!wrap.q) return;
    out.push_back(b_.select(wraps, b_.arith(wrap.rises ? OpKind::Add : OpKind::Sub, wrap.q, one), wrap.q));
  }

  Function& fn_;
  Builder b_;
  StmtId loop_;
  const Slopes& slopes_;
  ValueId index_;
  std::vector<Wrap> wraps_;
};

bool hasFewIterations(const Function& fn, const Stmt& loop) {
  return constantTripCount(fn, loop).value_or(fewIterationsOfPiece) < fewIterationsOfPiece;
}

std::vector<StmtId> split(Function& fn, StmtId loop, RegionId home) {
  if (hasFewIterations(fn, fn.stmts[loop])) return {loop};
  const Slopes slopes(fn, fn.stmts[loop], SlopeRange::BetweenWraps);
  return slopes.wraps.empty() ? std::vector{loop} : WraparoundSplitter(fn, loop, slopes).run(home);
}

} // namespace

void splitAtWraparound(Function& function) {
  replaceInnermost(function, function.body,
                   [&](StmtId loop, RegionId home) { return split(function, loop, home); });
}

} // namespace melix::loops
