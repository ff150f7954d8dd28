#pragma once
// Finds contractions: sequential reductions over an expression of two operands, in loops as choose_lanes
// leaves them. Several rows run together, columns run in vector lanes. The values that the columns read are
// the same for all rows.
//
//   for independent … %y                                    around
//     for independent unroll_jam 6 … %i                           rows
//       for independent vector 16 interleave 4 … %j             columns
//         %s = for %l in … %c                          sums, the innermost last: the chain
//           %b = f(%w[%l, %j], %v[%l])                 shared by rows
//           yield fma %x[%y + %i, %l], %b, %c
//         store … g(%s)
//
// The rows may also be iterations of a sum that contains the columns: `for independent unroll_jam 6 … %i, %c`
// between the columns and the chain. No loop is around then.
//
// The form of the sum does not matter, nor whether it is a product. The chain is all statements of the
// innermost loop. A shared value is any value of them that differs between columns, not between rows.

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

struct Contraction {
  std::vector<StmtId> around; ///< outermost first; the last are the rows, unless a sum is
  StmtId columns;
  std::vector<StmtId> sums; ///< nested loops, outermost first
  std::vector<ValueId> shared;

  std::optional<size_t> rowSum; ///< the sum whose iterations are the rows

  StmtId rows() const { return rowSum ? sums[*rowSum] : around.back(); }
  StmtId chain() const { return sums.back(); }
  /// The loop around all others.
  StmtId outermost() const { return around.empty() ? columns : around.front(); }
};

/// Loops that carry something, each the only one in the body of another, outermost first.
std::vector<StmtId> sumsIn(const Function& fn, StmtId loop);

/// The contraction in a loop, which is its outermost loop. Beside it the loop contains only pure scalars.
std::optional<Contraction> findContraction(const Function& fn, StmtId loop);

/// A statement that gives one number or place, and holds no others.
bool isNumber(const Stmt& s);

/// A statement without effect whose result does not depend on its position, as long as memory is not written.
bool isPlain(const Module& module, const Function& fn, const Stmt& s);

} // namespace melix::loops
