#pragma once
// Chains that a branch alone goes on with, and only between two turns that differ from row to row. Rows that
// are swept together (unroll_and_jam.h) leave out the turns that none of them takes, and ask nothing at those
// that all of them take:
//
//   before:  for %zero, %k, %c { (%l, %t)   %s = if (cmp le %l, %i) { … fma …, %t } { %t }   yield %s }
//   after:   for %zero, %i0 + 1, … { … }           of all rows, %i0 being the first
//            for %i0 + 1, %i5 + 1, … { … if … }    of some
//
// Where sums in conditions might wrap, all turns ask.

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

/// What a condition asks: a comparison, and what holds instead of it, the same for all turns, if there is
/// that.
struct TurnBound {
  ValueId compared, unless;
};
TurnBound turnBound(const Function& fn, StmtId chain, ValueId condition);

/// The branches of a loop of more than a few turns that carries something, and reads at most, where what is
/// carried goes on unchanged if none is taken; no branches if it may not.
std::vector<StmtId> branchesOf(const Function& fn, StmtId chain);

/// The branch of a loop that carries something and reads at most, if all that its condition asks for bounds
/// the turns and is the same for all columns, and something of it is not for all rows.
std::optional<StmtId> narrowBranch(Function& fn, StmtId chain, const Variance& rows, const Variance& columns);

/// Puts what a condition asks of rows in a branch around the rest of it, so that `narrowBranch` finds it;
/// whether it does.
bool narrowChain(Function& fn, StmtId chain, const Variance& rows, const Variance& columns);

} // namespace melix::loops
