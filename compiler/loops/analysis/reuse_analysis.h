#pragma once
// What is gained where points of a loop are swept together (unroll_and_jam.h): what they share is read once,
// chains do not wait for their last terms, and what they store side by side is stored at once. Passes that
// choose which loop stands around which, and how many rows are taken, ask here.

#include "loops/analysis/variance.h"
#include "loops/ir/ir.h"

#include <algorithm>
#include <optional>
#include <span>

namespace melix::loops {

/// Whether one of the region's statements, not of those in them, passes a test.
bool anyOf(const Function& fn, RegionId region, const auto& test) {
  return std::ranges::any_of(fn.regions[region].stmts, [&](StmtId id) { return test(fn.stmts[id]); });
}

/// Whether sums in the points of one loop inside of those of another read what is the same for all of the
/// one, and what is the same for all of the other, as a product does. `byRow` and `byColumn`: how values
/// differ between the points of each.
bool haveTwoSides(const Function& fn, const Stmt& rows, const Variance& byRow, const Stmt& columns,
                  const Variance& byColumn);

/// Whether points of the loop can be swept together and some chain in lanes inside of it gains by that: it
/// reads what is the same at all of them.
bool gainsByRows(const Module& module, const Function& fn, const Stmt& loop);

/// The same of one loop inside of it, once that is in lanes.
bool gainsAround(const Module& module, const Function& fn, const Stmt& loop, const Stmt& lanes);

/// The same of partial sums in the frame, strips of which are in lanes: how many bytes of it a point has.
std::optional<uint64_t> frameOfStrips(const Module& module, const Function& fn, const Stmt& loop);

/// Whether what a loop carries is used behind the last loop in it only, by plain statements: turns that are
/// swept together then add one after another.
bool addsBehindLoops(const Function& fn, const Stmt& sum);

/// Of sums in a loop, each around the next, the one whose turns can be swept together once the loop is in
/// lanes, and that gains by that: chains in it read what is the same in all of its turns, and what they read
/// of each turn is the same in all lanes.
std::optional<StmtId> sumForRows(const Function& fn, StmtId lanes, std::span<const StmtId> sums);

/// Whether turns of a loop store neighbours, which is done for all rows together.
bool storesAlong(const Function& fn, const Stmt& loop);

/// The same of a chain, a loop that carries something and holds no other: its stores, if all of them are to
/// neighbours, and nothing in it reads what they write.
std::vector<StmtId> storesOfChain(const Function& fn, const Stmt& loop);

/// Stores of rows to neighbours, among plain statements, that may come last: nothing behind them reads what
/// they write.
std::vector<StmtId> storedTogether(const Function& fn, const Variance& points, std::span<const StmtId> stmts,
                                   ValueId point);

} // namespace melix::loops
