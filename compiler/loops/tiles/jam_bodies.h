#pragma once
// Part of jam_rows: copies of a body, one for each of some points, mixed up to be one.

#include "loops/analysis/variance.h"
#include "loops/ir/clone.h"

#include <functional>
#include <optional>

namespace melix::loops {

/// A point of some that are done together; what it stores counts only if `isThere`, which is none of those
/// that surely are.
struct Row {
  Copies copies;
  ValueId isThere;
};

class Jam {
public:
  /// `areSmall`: whether sums with the points do not wrap.
  Jam(Builder& b, const Variance& variance, ValueId point, ValueId areSmall, std::vector<Row> rows,
      Copies& same)
      : b_(b), variance_(variance), point_(point), areSmall_(areSmall), same_(same), rows_(std::move(rows)) {}

  /// Up to the next loop the rows come one after another, so that what a row needs is not there for long.
  /// Of a sum, what `beforeLast` writes stands in front of the last statements of a row, and what rows store
  /// side by side is stored together.
  void region(const std::vector<StmtId>& all, const std::function<void(size_t row)>& beforeLast = {});

  /// The body of a sum whose turns the rows are, from what is carried to what is carried on: each row takes
  /// what the one before gives, unless that is not there.
  std::vector<ValueId> fold(RegionId body, std::vector<ValueId> carried);

private:
  /// What all rows give alike is that of the first.
  void noteSame(const Stmt& s);
  /// With the branch that is taken anyway in pieces: what it does, then itself, for what it gives.
  std::vector<StmtId> opened(const std::vector<StmtId>& stmts) const;
  void takeArm(Row& row);
  void cloneTo(Row& row, StmtId id);

  /// If all rows are there, at one place and others right behind it; else one by one.
  void storeTogether(StmtId id);

  bool isSame(ValueId v) const { return variance_.isUniform(v); }
  /// Whether a statement, with all in it, does the same at all points, so that once is enough.
  bool isSame(const Stmt& s) const;

  /// What goes into a carried value: one, or one for each row.
  void spread(ValueId v, ValueId carried, std::vector<ValueId>& out) const;
  void gather(ValueId v, const std::vector<ValueId>& values, size_t& at);

  /// A loop that runs as often at all points: once for all of them.
  void loops(StmtId id, const Stmt& s);
  /// Its turns from one to another, which go on from values that loops have begun with or gave.
  void turns(const Stmt& s, ValueId first, ValueId last, const std::vector<ValueId>& begun);

  /// A chain of which each row has the turns that the branch takes: those that some have, all, and some.
  void narrowed(StmtId id, const Stmt& s, StmtId branch);
  ValueId extreme(core::OpKind op, const std::vector<ValueId>& of);

  bool holdsLoop(const Stmt& s) const;
  /// A branch that all points take or none: once for all of them.
  void branch(const Stmt& s);

  Builder& b_;
  const Variance& variance_;
  ValueId point_, areSmall_;
  Copies& same_;
  std::vector<Row> rows_;
  std::optional<Variance> lanes_; ///< in columns
  StmtId taken_;                  ///< a branch
};

/// Whether a loop has its points in lanes, each the whole of what it computes.
bool isOfColumns(const Stmt& loop);

} // namespace melix::loops
