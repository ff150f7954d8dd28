#pragma once
// Profitability of unroll-and-jam (unroll_and_jam.h). Jammed iterations load shared values once, their chains
// do not wait for their last terms, and their contiguous stores are done at once. Passes that interchange
// loops, or choose an unroll-and-jam factor, use it.

#include "loops/analysis/variance.h"
#include "loops/ir/ir.h"

#include <algorithm>
#include <optional>
#include <span>

namespace melix::loops {

/// Whether a statement of the region passes a test. Statements nested in these are not tested.
bool anyOf(const Function& fn, RegionId region, const auto& test) {
  return std::ranges::any_of(fn.regions[region].stmts, [&](StmtId id) { return test(fn.stmts[id]); });
}

/// Whether sums in two nested loops read both kinds of operands, as a product does: (1) values that do not
/// vary with the outer loop; (2) values that do not vary with the inner loop. `byRow` and `byColumn` say how
/// values vary with each.
bool haveTwoSides(const Function& fn, const Stmt& rows, const Variance& byRow, const Stmt& columns,
                  const Variance& byColumn);

/// Whether iterations of the loop can be jammed and some vectorised chain inside it profits. It does if the
/// chain reads values that are the same at all of them.
bool gainsByRows(const Module& module, const Function& fn, const Stmt& loop);

/// The same for one loop inside it, once that loop is vectorised.
bool gainsAround(const Module& module, const Function& fn, const Stmt& loop, const Stmt& lanes);

/// The same for partial sums in the frame whose strips are vectorised: the bytes of frame that an iteration
/// has.
std::optional<uint64_t> frameOfStrips(const Module& module, const Function& fn, const Stmt& loop);

/// Whether the values that a loop carries are used only after the last loop in it, by pure statements. Jammed
/// iterations then add one after another.
bool addsAfterLoops(const Function& fn, const Stmt& sum);

/// Of nested sums in a loop, the one whose iterations can be jammed with profit once the loop is vectorised.
/// Its chains read values that are the same in all of its iterations. The values that they read of each
/// iteration are uniform over the lanes.
std::optional<StmtId> sumForRows(const Function& fn, StmtId lanes, std::span<const StmtId> sums);

/// Whether iterations of a loop store to neighbours, which is done for all rows together.
bool storesAlong(const Function& fn, const Stmt& loop);

/// The same for a chain, an innermost loop with carries: its stores, if all of them are to neighbours, and
/// nothing in the chain reads the memory that they write.
std::vector<StmtId> storesOfChain(const Function& fn, const Stmt& loop);

/// Stores of rows to neighbours, among pure statements, that may be delayed to the end: no later statement
/// reads the memory that they write.
std::vector<StmtId> storedTogether(const Function& fn, const Variance& points, std::span<const StmtId> stmts,
                                   ValueId point);

} // namespace melix::loops
