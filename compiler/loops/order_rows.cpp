#include "loops/order_rows.h"

#include "loops/build.h"
#include "loops/variance.h"

#include <algorithm>

namespace melix::loops {

namespace {

/// Loops of points around each other, outermost first; the last are the columns.
class Sweep {
public:
  Sweep(Function& fn, RegionId home, StmtId loop) : fn_(fn), home_(home) {
    for (StmtId at = loop; at.valid(); at = onlyPoints(bodyOf(at))) loops_.push_back(at);
  }

  void run() {
    if (loops_.size() < 3) return;
    chain_ = chainIn(bodyOf(loops_.back()));
    if (!chain_.valid() || areShared(loops_.size() - 2)) return;
    for (size_t k = loops_.size() - 2; k-- > 0;)
      if (areShared(k)) return moveInside(k);
  }
  const std::vector<StmtId>& loops() const { return loops_; }

  static bool isPoints(const Stmt& s) {
    if (s.kind != StmtKind::For || !s.results.empty()) return false;
    const auto& attr = s.as<ForAttr>();
    return attr.mark == MarkKind::Points && attr.strip == 0 && !attr.polls;
  }

private:
  RegionId bodyOf(StmtId loop) const { return fn_.stmts[loop].regions[0]; }
  ValueId indexOf(StmtId loop) const { return fn_.regions[bodyOf(loop)].params[0]; }

  /// The loop that is all there is in a region, but for numbers.
  StmtId onlyPoints(RegionId region) const {
    StmtId found;
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::Const || s.kind == StmtKind::Scalar || s.kind == StmtKind::Yield) continue;
      if (found.valid() || !isPoints(s) || !isFixed(s)) return {};
      found = id;
    }
    return found;
  }
  /// Whether the ends are constants, or stand in front of the outermost loop.
  bool isFixed(const Stmt& loop) const {
    return std::ranges::all_of(std::span(loop.operands).first(2), [this](ValueId v) {
      return asConstant(fn_, v) ||
             std::ranges::none_of(loops_, [&](StmtId l) { return fn_.values[v].region == bodyOf(l); });
    });
  }
  /// The innermost of sums around each other.
  StmtId chainIn(RegionId region) const {
    StmtId found;
    for (StmtId id : fn_.regions[region].stmts) {
      if (fn_.stmts[id].kind != StmtKind::For) continue;
      if (found.valid() || fn_.stmts[id].results.empty()) return {};
      found = id;
    }
    if (!found.valid()) return {};
    const StmtId inner = chainIn(bodyOf(found));
    return inner.valid() ? inner : found;
  }

  /// Whether all points of a loop read the same for a column of the sum.
  bool areShared(size_t loop) const {
    if (const std::optional<uint64_t> turns = turnsOf(fn_, fn_.stmts[loops_[loop]]); turns && *turns < 2)
      return false;
    const Variance rows(fn_, fn_.stmts[loops_[loop]]), columns(fn_, fn_.stmts[loops_.back()]);
    return std::ranges::any_of(fn_.regions[bodyOf(chain_)].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return s.kind == StmtKind::Load && rows.isUniform(s.results[0]) && !columns.isUniform(s.results[0]);
    });
  }

  /// The loop becomes the one around the columns; numbers beside the loops stand in the columns.
  void moveInside(size_t loop) {
    struct Header {
      std::vector<ValueId> ends;
      ValueId index;
      ForAttr attr;
    };
    std::vector<Header> headers;
    const size_t count = loops_.size() - 1;
    for (size_t k = 0; k < count; ++k) {
      const Stmt& s = fn_.stmts[loops_[k]];
      headers.push_back(
          {{inFront(s.operands[0]), inFront(s.operands[1])}, indexOf(loops_[k]), s.as<ForAttr>()});
    }
    for (size_t k = 0; k < 2; ++k) {
      const ValueId end = fn_.stmts[loops_.back()].operands[k];
      fn_.stmts[loops_.back()].operands[k] = inFront(end);
    }
    std::rotate(headers.begin() + static_cast<std::ptrdiff_t>(loop),
                headers.begin() + static_cast<std::ptrdiff_t>(loop) + 1, headers.end());
    std::vector<StmtId> numbers;
    for (size_t k = 0; k < count; ++k) {
      const RegionId body = bodyOf(loops_[k]);
      std::vector<StmtId>& stmts = fn_.regions[body].stmts;
      std::ranges::copy_if(stmts, std::back_inserter(numbers), [this](StmtId id) { return isNumber(id); });
      std::erase_if(stmts, [this](StmtId id) { return isNumber(id); });
      Stmt& s = fn_.stmts[loops_[k]];
      std::ranges::copy(headers[k].ends, s.operands.begin());
      s.attr = headers[k].attr;
      fn_.regions[body].params[0] = headers[k].index;
      fn_.values[headers[k].index].region = body;
    }
    const RegionId columns = bodyOf(loops_.back());
    for (StmtId id : numbers)
      for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = columns;
    std::vector<StmtId>& stmts = fn_.regions[columns].stmts;
    stmts.insert(stmts.begin(), numbers.begin(), numbers.end());
  }
  bool isNumber(StmtId id) const {
    return fn_.stmts[id].kind == StmtKind::Const || fn_.stmts[id].kind == StmtKind::Scalar;
  }
  /// A number that may be a constant inside of the loops, in front of all of them.
  ValueId inFront(ValueId v) {
    const uint64_t* known = asConstant(fn_, v);
    if (!known) return v;
    const StmtId made = fn_.stmts.add({StmtKind::Const, fn_.stmts[loops_[0]].loc, {}, {}, {}, *known});
    const ValueId copy = fn_.values.add({fn_.typeOf(v), made, home_, {}});
    fn_.stmts[made].results.push_back(copy);
    std::vector<StmtId>& stmts = fn_.regions[home_].stmts;
    stmts.insert(stmts.begin() + static_cast<std::ptrdiff_t>(placeOf(fn_, home_, loops_[0])), made);
    return copy;
  }

  Function& fn_;
  const RegionId home_;
  std::vector<StmtId> loops_;
  StmtId chain_;
};

void orderIn(Function& fn, RegionId region) {
  const std::vector<StmtId> stmts = fn.regions[region].stmts;
  for (StmtId id : stmts) {
    std::vector<RegionId> inner = fn.stmts[id].regions;
    if (Sweep::isPoints(fn.stmts[id])) {
      Sweep sweep(fn, region, id);
      sweep.run();
      inner = fn.stmts[sweep.loops().back()].regions;
    }
    for (RegionId each : inner) orderIn(fn, each);
  }
}

} // namespace

void orderRows(Function& function) { orderIn(function, function.body); }

} // namespace melix::loops
