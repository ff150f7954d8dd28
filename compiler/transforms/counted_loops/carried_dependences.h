#pragma once
// What counted loops carry, and how it can be had without going around: a carry that gathers terms by an
// exact operation, and an array of which each iteration reads and updates a cell of its own.

#include "core/analysis/affine.h"
#include "core/ir/uses.h"
#include "transforms/analysis/disjoint_accesses.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

/// What a place does on one axis of a carried array: at an index of the loop's, at one that does not vary,
/// or whole.
struct CellStep {
  core::PathStep step{core::StepKind::All, 0, {}, 1};
  std::optional<core::AffineIndex> index; ///< of the loop's index and of values from outside
  core::ValueId written;                  ///< one of the values that it was written as
};

struct LoopCarry {
  enum class Kind : uint8_t {
    Other,
    Gathered, ///< next = carry ∘ term, by `monoid`, where the term does not need the carry
    Cells,    ///< an array, read and updated at a place that is another one in each iteration
  };
  Kind kind = Kind::Other;
  core::MonoidKind monoid = core::MonoidKind::Sum;
  std::unordered_set<core::ValueId> holders; ///< in the body: the carry, and what becomes of it

  std::vector<core::OpId> accesses; ///< of Cells: each get, set and add_at
  std::vector<core::OpId> outside;  ///< of Cells: gets of what no iteration updates
  std::vector<CellStep> steps;      ///< of Cells: the place, a step for each axis
  size_t axis = 0;                  ///< of Cells: where it varies with the loop
  bool beginsAnew = false;          ///< of Cells: all that is done to the carry is to read and to replace
  bool isRead = true;               ///< of Cells: what is there before the iteration may be needed
};

/// `k`: of the carries of the `for`.
LoopCarry followCarry(const core::Module& m, const core::Function& f, const core::Uses& uses,
                      const ApartPlaces& places, core::OpId loop, uint32_t k);

/// What an access does on the cell.
core::Path withinCell(const core::Op& access, const std::vector<CellStep>& steps,
                      std::vector<core::ValueId>& indices);

} // namespace melix::transforms
