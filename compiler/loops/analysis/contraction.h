#pragma once
// Contractions: sums in chain order of what two sides say, in loops as choose_lanes leaves them. Rows are
// done together, columns are in lanes, and what the columns read is the same for all rows.
//
//   for points … %y                                    around
//     for points rows 6 … %i                           rows
//       for points vector 16 unroll 4 … %j             columns
//         %s = for %l in … %c                          sums, the innermost last: the chain
//           %b = f(%w[%l, %j], %v[%l])                 shared by rows
//           yield fma %x[%y + %i, %l], %b, %c
//         store … g(%s)
//
// The rows may be turns of a sum too, which the same columns hold: `for points rows 6 … %i, %c` between the
// columns and the chain. Nothing is around then.
//
// It does not matter how the sum is spelled, or whether it is a product: the chain is all statements of the
// innermost loop, and a shared value any of them that differs between columns, not between rows.

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

struct Contraction {
  std::vector<StmtId> around; ///< outermost first; the last are the rows, unless a sum is
  StmtId columns;
  std::vector<StmtId> sums; ///< loops around each other, outermost first
  std::vector<ValueId> shared;

  std::optional<size_t> rowSum; ///< the sum whose turns are the rows

  StmtId rows() const { return rowSum ? sums[*rowSum] : around.back(); }
  StmtId chain() const { return sums.back(); }
  /// Around all others.
  StmtId outermost() const { return around.empty() ? columns : around.front(); }
};

/// Loops that carry something, each the only one in the body of another, outermost first.
std::vector<StmtId> sumsIn(const Function& fn, StmtId loop);

/// The one in a loop, which is the outermost around it; there is nothing beside it but plain numbers.
std::optional<Contraction> findContraction(const Function& fn, StmtId loop);

/// A statement that gives one number or place, and holds no others.
bool isNumber(const Stmt& s);

/// A statement without effect, which gives the same wherever it stands, as long as memory is not written.
bool isPlain(const Module& module, const Function& fn, const Stmt& s);

} // namespace melix::loops
