#pragma once
// Finds triangular reductions: chains that only continue inside a branch, between two iterations that vary
// from row to row. Jammed rows (unroll_and_jam.h) omit the iterations that no row takes, and skip the test in
// iterations that all rows take:
//
//   before:  for %zero, %k, %c { (%l, %t)   %s = if (cmp le %l, %i) { … fma …, %t } { %t }   yield %s }
//   after:   for %zero, %i0 + 1, … { … }           of all rows, %i0 being the first
//            for %i0 + 1, %i5 + 1, … { … if … }    of some
//
// Where sums in conditions might wrap, all iterations test.

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

/// The test of a condition: a comparison, and, if present, an alternative condition that is the same for all
/// iterations.
struct IterationBound {
  ValueId compared, unless;
};
IterationBound iterationBound(const Function& fn, StmtId chain, ValueId condition);

/// The branches of a chain that has more than a few iterations and no effects but reads. If no branch is
/// taken, all carried values pass on unchanged. No branches if the chain does not qualify.
std::vector<StmtId> branchesOf(const Function& fn, StmtId chain);

/// The branch of a chain with no effects but reads. Its conjuncts all bound the iterations and are the same
/// for all columns; at least one of them is not the same for all rows.
std::optional<StmtId> narrowBranch(Function& fn, StmtId chain, const Variance& rows, const Variance& columns);

/// Splits the conjuncts that vary with rows into a branch around the rest, so that `narrowBranch` finds it.
/// Returns whether it did.
bool narrowChain(Function& fn, StmtId chain, const Variance& rows, const Variance& columns);

} // namespace melix::loops
