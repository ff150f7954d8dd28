#include "loops/tiles/jam_bodies.h"

#include "loops/analysis/iteration_bounds.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/index_sets/triangular_reduction.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

bool isOfColumns(const Stmt& loop) {
  return loop.as<ForAttr>().vectorWidth > 0 && loop.as<ForAttr>().minDistance == 0;
}

void Jam::region(const std::vector<StmtId>& all, FunctionRef<void(size_t row)> beforeLast) {
  const std::vector<StmtId> stmts = opened(all);
  std::vector<StmtId> separate;
  auto finish = [&] {
    for (Row& row : rows_)
      for (StmtId id : separate) cloneTo(row, id);
    separate.clear();
  };
  for (size_t k = 0; k + 1 < stmts.size(); ++k) {
    const Stmt s = b_.fn.stmts[stmts[k]]; // statements are made on the way
    if (isSame(s)) {
      clone(b_, stmts[k], same_);
      if (taken_.valid()) // a row may have made it by itself, where the branch was asked
        for (ValueId v : s.results)
          for (Row& row : rows_) row.copies.forget(v);
    } else if (s.kind == StmtKind::For && isSame(s.operands[0]) && isSame(s.operands[1])) {
      finish();
      loops(stmts[k], s);
    } else if (s.kind == StmtKind::If && isSame(s.operands[0]) && holdsLoop(s)) {
      finish();
      branch(s);
    } else {
      separate.push_back(stmts[k]);
      if (std::ranges::any_of(s.results, [&](ValueId v) { return isSame(v); })) {
        finish();
        noteSame(s);
      }
    }
  }
  const std::vector<StmtId> together =
      beforeLast ? storedTogether(b_.fn, variance_, separate, point_) : std::vector<StmtId>();
  for (size_t k = 0; k < rows_.size(); ++k) {
    if (beforeLast) beforeLast(k);
    for (StmtId id : separate)
      if (std::ranges::find(together, id) == together.end()) cloneTo(rows_[k], id);
  }
  for (StmtId id : together) storeTogether(id);
}

std::vector<ValueId> Jam::fold(RegionId body, std::vector<ValueId> carried) {
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

void Jam::noteSame(const Stmt& s) {
  for (ValueId v : s.results)
    if (isSame(v)) same_.set(v, rows_.front().copies.of(v));
}

std::vector<StmtId> Jam::opened(const std::vector<StmtId>& stmts) const {
  std::vector<StmtId> out;
  for (StmtId id : stmts) {
    if (id == taken_) {
      const std::vector<StmtId>& arm = b_.fn.regions[b_.fn.stmts[id].regions[0]].stmts;
      out.insert(out.end(), arm.begin(), arm.end() - 1);
    }
    out.push_back(id);
  }
  return out;
}

void Jam::takeArm(Row& row) {
  const Stmt& s = b_.fn.stmts[taken_];
  const std::vector<ValueId>& yields = b_.fn.stmts[b_.fn.regions[s.regions[0]].stmts.back()].operands;
  for (size_t k = 0; k < yields.size(); ++k) row.copies.set(s.results[k], row.copies.of(yields[k]));
}

void Jam::cloneTo(Row& row, StmtId id) {
  if (id == taken_) return takeArm(row);
  if (!row.isThere.valid() || b_.fn.stmts[id].kind != StmtKind::Store) return clone(b_, id, row.copies);
  const RegionId yes = b_.begin();
  clone(b_, id, row.copies);
  b_.end();
  const RegionId no = b_.begin();
  b_.end();
  b_.stmt(StmtKind::If, {row.isThere}, {}, {}, {yes, no});
}

void Jam::storeTogether(StmtId id) {
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

bool Jam::isSame(const Stmt& s) const {
  return s.kind != StmtKind::Store && variance_.allUniform(s.operands) && variance_.allUniform(s.results) &&
         std::ranges::all_of(s.regions, [this](RegionId r) {
           return !anyOf(b_.fn, r, [this](const Stmt& inner) { return !isSame(inner); });
         });
}

void Jam::replicateForRows(ValueId v, ValueId carried, std::vector<ValueId>& out) const {
  if (isSame(carried)) return out.push_back(same_.of(v));
  for (const Row& row : rows_) out.push_back(row.copies.of(v));
}

void Jam::gather(ValueId v, const std::vector<ValueId>& values, size_t& at) {
  if (isSame(v)) return same_.set(v, values[at++]);
  for (Row& row : rows_) row.copies.set(v, values[at++]);
}

void Jam::loops(StmtId id, const Stmt& s) {
  if (lanes_)
    if (const std::optional<StmtId> branch = narrowBranch(b_.fn, id, variance_, *lanes_))
      return narrowed(id, s, *branch);
  const bool isOfLanes = isOfColumns(s);
  if (isOfLanes) lanes_.emplace(b_.fn, s);
  jamRange(s, same_.of(s.operands[0]), same_.of(s.operands[1]), {s.operands.begin() + 2, s.operands.end()});
  if (isOfLanes) lanes_.reset();
}

void Jam::jamRange(const Stmt& s, ValueId first, ValueId last, const std::vector<ValueId>& begun) {
  const std::vector<ValueId> params = b_.fn.regions[s.regions[0]].params;
  const std::vector<StmtId> stmts = b_.fn.regions[s.regions[0]].stmts;
  std::vector<ValueId> begin;
  for (size_t k = 1; k < params.size(); ++k) replicateForRows(begun[k - 1], params[k], begin);
  b_.loc = s.loc;
  const std::vector<ValueId> ends = b_.carryLoop(
      first, last, std::move(begin),
      [&](ValueId index, const std::vector<ValueId>& values) {
        same_.set(params[0], index);
        size_t at = 0;
        for (size_t k = 1; k < params.size(); ++k) gather(params[k], values, at);
        region(stmts);
        std::vector<ValueId> next;
        const std::vector<ValueId> yields = b_.fn.stmts[stmts.back()].operands;
        for (size_t k = 1; k < params.size(); ++k) replicateForRows(yields[k - 1], params[k], next);
        return next;
      },
      s.as<ForAttr>());
  size_t at = 0;
  for (ValueId v : s.results) gather(v, ends, at);
}

void Jam::narrowed(StmtId id, const Stmt& s, StmtId branch) {
  const RegionId made = b_.begin();
  MaskRange range(b_, id);
  range.assumeSmall(point_);
  bool bounds[2] = {};
  std::vector<ValueId> unless; // of each condition
  for (ValueId v : conjuncts(b_.fn, b_.fn.stmts[branch].operands[0])) {
    const IterationBound bound = iterationBound(b_.fn, id, v);
    range.take(bound.compared);
    bounds[range.isLeast()] = true;
    unless.push_back(bound.unless);
  }
  const MaskRange::Rows of = range.rows();
  b_.end();
  const ValueId begin = same_.of(s.operands[0]), end = same_.of(s.operands[1]);
  const bool holdsThen = std::ranges::all_of(unless, [&](ValueId v) { return v == unless[0]; });
  ValueId isExact = areSmall_;
  // Iterations that a row may have, and that it has.
  std::vector<ValueId> mayFirsts, mayEnds, firsts, ends;
  for (Row& row : rows_) {
    const std::vector<StmtId>& stmts = b_.fn.regions[made].stmts;
    for (size_t k = 0; k + 1 < stmts.size(); ++k) clone(b_, stmts[k], row.copies);
    if (range.mayWrap()) isExact = b_.both(isExact, row.copies.of(range.isExact()));
    ValueId first = row.copies.of(of.first), last = row.copies.of(of.end), mayFirst = first, mayEnd = last;
    for (ValueId v : unless) {
      if (!v.valid()) continue;
      mayFirst = b_.select(row.copies.of(v), begin, mayFirst);
      mayEnd = b_.select(row.copies.of(v), end, mayEnd);
      if (holdsThen) break;
    }
    mayFirsts.push_back(mayFirst), mayEnds.push_back(mayEnd);
    firsts.push_back(holdsThen ? mayFirst : first), ends.push_back(holdsThen ? mayEnd : last);
  }
  const std::vector<ValueId> begun(s.operands.begin() + 2, s.operands.end());
  const bool beginsVary = bounds[true], endsVary = bounds[false];
  ValueId first = begin, last = end;
  if (beginsVary) { // all iterations are here if they are not known
    first = b_.select(isExact, extreme(OpKind::Max, firsts), end);
    jamRange(s, b_.select(isExact, extreme(OpKind::Min, mayFirsts), begin), first, begun);
  }
  if (endsVary) {
    const ValueId least = b_.arith(OpKind::Max, first, extreme(OpKind::Min, ends));
    last = beginsVary ? least : b_.select(isExact, least, begin);
  }
  taken_ = branch;
  jamRange(s, first, last, beginsVary ? s.results : begun);
  taken_ = {};
  if (!endsVary) return;
  jamRange(s, last, b_.select(isExact, extreme(OpKind::Max, mayEnds), end), s.results);
}

ValueId Jam::extreme(OpKind op, const std::vector<ValueId>& of) {
  ValueId out = of[0];
  for (size_t k = 1; k < of.size(); ++k) out = b_.arith(op, out, of[k]);
  return out;
}

bool Jam::holdsLoop(const Stmt& s) const {
  return std::ranges::any_of(s.regions, [this](RegionId r) {
    return anyOf(b_.fn, r, [](const Stmt& inner) { return inner.kind == StmtKind::For; });
  });
}

void Jam::branch(const Stmt& s) {
  std::vector<RegionId> arms;
  std::vector<ValueType> types;
  for (RegionId r : s.regions) {
    const std::vector<StmtId> stmts = b_.fn.regions[r].stmts;
    const std::vector<ValueId> yields = b_.fn.stmts[stmts.back()].operands;
    std::vector<ValueId> out;
    arms.push_back(b_.begin());
    region(stmts);
    for (size_t k = 0; k < yields.size(); ++k) replicateForRows(yields[k], s.results[k], out);
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

} // namespace melix::loops
