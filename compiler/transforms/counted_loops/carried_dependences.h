#pragma once
// Analyses the carries of counted loops, and whether they can be computed without the loop. Two kinds can: a
// carry that gathers terms by an exact operation, and an array of which each iteration reads and updates a
// cell of its own.

#include "core/analysis/affine.h"
#include "core/ir/uses.h"
#include "transforms/analysis/disjoint_accesses.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

/// The step of a place on one axis of a carried array: at an index of the loop's, at an invariant index, or
/// whole.
struct CellStep {
  core::PathStep step{core::StepKind::All, 0, {}, 1};
  std::optional<core::AffineForm> index; ///< of the loop's index and of values from outside
  core::ValueId written;                 ///< one of the values that it was written as
};

struct LoopCarry {
  enum class Kind : uint8_t {
    Other,
    Gathered, ///< next = carry ∘ term, by `monoid`, where the term does not need the carry
    Cells,    ///< an array, read and updated at a place that is another one in each iteration
  };
  Kind kind = Kind::Other;
  core::MonoidKind monoid = core::MonoidKind::Sum;
  std::unordered_set<core::ValueId> holders; ///< in the body: the carry, and values made of it

  std::vector<core::OpId> accesses; ///< of Cells: each get, set and add_at
  std::vector<core::OpId> outside;  ///< of Cells: gets of places that no iteration updates
  std::vector<CellStep> steps;      ///< of Cells: the place, a step for each axis
  size_t axis = 0;                  ///< of Cells: where it varies with the loop
  bool beginsAnew = false;          ///< of Cells: the carry is only read and replaced
  bool isRead = true;               ///< of Cells: the value before the iteration may be needed
};

/// `k`: of the carries of the `for`.
LoopCarry followCarry(const core::Module& m, const core::Function& f, const core::Uses& uses,
                      const DisjointAccesses& places, core::OpId loop, uint32_t k);

/// The path of an access within the cell.
core::Path withinCell(const core::Op& access, const std::vector<CellStep>& steps,
                      std::vector<core::ValueId>& indices);

} // namespace melix::transforms
