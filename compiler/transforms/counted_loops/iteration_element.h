#pragma once
// Computes one element of an array as an iteration of a loop makes it. The array ops of the iteration are
// computed for one place: nests, updates of parts, rows that are read, and calls of functions that only
// collect.
//
//   %row = get %b[%k]   %p = nest (%i: N, %j: M) -> collect[i, j] { … }   %s = add_at %c += %p
//   the element of %s at (%i, %j): add %e, (mul (get %a[%i, %k]), (get %b[%k, %j]))

#include "core/ir/walk.h"
#include "transforms/walks/loop_invariant_values.h"

#include <optional>
#include <set>

namespace melix::transforms {

/// The element that is asked for, in a nest that is being made.
struct IterationPoint {
  core::ValueId array;                 ///< carried by the loop, as it is at the start of the iteration
  core::ValueId sum;                   ///< its element there
  std::vector<core::ValueId> axes;     ///< of the nest
  std::vector<core::ValueId> position; ///< where that element lies
};

class IterationElement {
public:
  IterationElement(core::Module& m, core::FunctionId f, const core::Effects& effects, LoopValues& values,
                   IterationPoint point, core::Builder& front);

  /// The value of a parameter of the loop's body in the iteration.
  void stands(core::ValueId param, core::ValueId by) { copy_.values[param] = by; }
  /// The element after the iteration. Ops are appended at `iteration`; loop-invariant values are made before
  /// the nest. None in two cases: (1) the iteration needs another element of the array; (2) a value that
  /// costs more than an operation is not computed at each point alone. The appended ops are then of no use.
  std::optional<core::ValueId> element(core::ValueId array, const std::vector<core::ValueId>& at,
                                       core::Builder& iteration, int depth = 0);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

  /// A number of the loop as it is in the iteration.
  std::optional<core::ValueId> value(core::ValueId v, core::Builder& iteration, int depth);
  std::optional<core::ValueId> element(const core::Op& get, core::Builder& iteration, int depth);
  bool recompute(core::OpId id, const core::Op& op, core::Builder& iteration, int depth);
  bool operand(core::ValueId v, core::Builder& iteration, int depth);
  /// A branch or a loop of numbers; its reads of arrays of the loop are treated as anywhere else.
  bool withRegions(core::OpId id, const core::Op& op, core::Builder& iteration, int depth);
  /// Whether the op is computed at each point of the nest alone: its cost is then not limited.
  bool isAtPoint(core::OpId id) const;
  bool isPosition(const std::vector<core::ValueId>& at) const;
  std::optional<core::ValueId> ofPart(const core::Op& get, const std::vector<core::ValueId>& at,
                                      core::Builder& iteration, int depth);
  std::optional<core::ValueId> ofNest(const core::Op& op, uint32_t result,
                                      const std::vector<core::ValueId>& at, core::Builder& iteration,
                                      int depth);
  /// An element of the updated part of an array.
  std::optional<core::ValueId> ofUpdate(const core::Op& op, const std::vector<core::ValueId>& at,
                                        core::Builder& iteration, int depth);
  /// The body of a function that only collects, as it would stand in the loop.
  std::optional<core::ValueId> ofCall(const core::Op& call, uint32_t result,
                                      const std::vector<core::ValueId>& at, core::Builder& iteration,
                                      int depth);

  core::Module& m_;
  core::FunctionId f_;
  const core::Effects& effects_;
  LoopValues& values_;
  const IterationPoint point_;
  core::Builder& front_; ///< before the nest
  core::Cloner copy_;    ///< numbers of the loop, as they are in the iteration
  std::unordered_map<core::OpId, std::set<core::ValueId>> level_; ///< the axes of an op of an inner nest
  int steps_ = 0;
};

/// Whether it is an array of scalars.
bool isNumbers(const types::TypeStore& types, core::TypeId t);
/// The step of a place on an axis of an array: an axis that the place does not mention is whole.
core::PathStep stepOf(const core::Path& path, size_t axis);
/// The index of element `i` on an axis, in a part that begins at `first`.
core::ValueId along(const core::PathStep& step, core::ValueId first, core::ValueId i, core::Builder& b);
/// Whether a - b - step · axis is 0 in every iteration at all points, of these axes; `axis` may be none.
bool isZero(const core::Module& m, const core::Function& f, const LoopValues& values,
            const std::vector<core::ValueId>& axes, core::ValueId a, core::ValueId b, core::ValueId axis = {},
            int64_t step = 0);

} // namespace melix::transforms
