#pragma once
// Jams copies of a body, one for each of some iterations, into one body. Part of unroll_and_jam.

#include "loops/analysis/variance.h"
#include "loops/ir/clone.h"
#include "support/function_ref.h"

#include <optional>

namespace melix::loops {

/// An iteration of a jammed group. Its stores only count if `isThere`, which is none for iterations that are
/// known to exist.
struct Row {
  Copies copies;
  ValueId isThere;
};

class Jam {
public:
  /// `areSmall`: whether sums with the iterations' indices do not wrap.
  Jam(Builder& b, const Variance& variance, ValueId point, ValueId areSmall, std::vector<Row> rows,
      Copies& same)
      : b_(b), variance_(variance), point_(point), areSmall_(areSmall), same_(same), rows_(std::move(rows)) {}

  /// Up to the next loop the rows come one after another, so that the live ranges of a row are short. In a
  /// sum, the output of `beforeLast` stands before the last statements of a row. Contiguous stores of rows
  /// are done together.
  void region(const std::vector<StmtId>& all, FunctionRef<void(size_t row)> beforeLast = {});

  /// The body of a sum whose iterations are the rows, from the carried values to the next ones. Each row
  /// takes the result of the previous one, if that exists.
  std::vector<ValueId> fold(RegionId body, std::vector<ValueId> carried);

private:
  /// Values that are the same for all rows are taken from the first.
  void noteSame(const Stmt& s);
  /// The statements, where a branch that is always taken is split: the statements inside, then the branch
  /// itself for its results.
  std::vector<StmtId> opened(const std::vector<StmtId>& stmts) const;
  void takeArm(Row& row);
  void cloneTo(Row& row, StmtId id);

  /// One store if all rows exist, and their elements follow each other in memory; else one by one.
  void storeTogether(StmtId id);

  bool isSame(ValueId v) const { return variance_.isUniform(v); }
  /// Whether a statement, with its regions, does the same at all points, so that once is enough.
  bool isSame(const Stmt& s) const;

  /// Initial values of a carried value: one, or one for each row.
  void replicateForRows(ValueId v, ValueId carried, std::vector<ValueId>& out) const;
  void gather(ValueId v, const std::vector<ValueId>& values, size_t& at);

  /// A loop with the same trip count at all points: once for all of them.
  void loops(StmtId id, const Stmt& s);
  /// Its iterations from one to another, continuing from the initial values or results of other loops.
  void jamRange(const Stmt& s, ValueId first, ValueId last, const std::vector<ValueId>& begun);

  /// A chain of which each row has the iterations that take the branch. It becomes three loops: iterations
  /// that some rows have, all rows, and some rows.
  void narrowed(StmtId id, const Stmt& s, StmtId branch);
  ValueId extreme(core::OpKind op, const std::vector<ValueId>& of);

  bool holdsLoop(const Stmt& s) const;
  /// A branch that all points take or none takes: once for all of them.
  void branch(const Stmt& s);

  Builder& b_;
  const Variance& variance_;
  ValueId point_, areSmall_;
  Copies& same_;
  std::vector<Row> rows_;
  std::optional<Variance> lanes_; ///< in columns
  StmtId taken_;                  ///< a branch
};

/// Whether a loop has its points in lanes, and each point is computed as a whole.
bool isOfColumns(const Stmt& loop);

} // namespace melix::loops
