#pragma once
// The element of an array as a turn of a loop makes it: what the turn computes of arrays, by nests, updates
// of parts, rows that are read, and calls of functions that only collect, computed for one place.
//
//   %row = get %b[%k]   %p = nest (%i: N, %j: M) -> collect[i, j] { … }   %s = add_at %c += %p
//   the element of %s at (%i, %j): add %e, (mul (get %a[%i, %k]), (get %b[%k, %j]))

#include "core/ir/walk.h"
#include "transforms/walks/loop_invariant_values.h"

#include <optional>
#include <set>

namespace melix::transforms {

/// The element that is asked for, in a nest that is being made.
struct TurnPoint {
  core::ValueId array;                 ///< that the loop carries, as it is where the turn begins
  core::ValueId sum;                   ///< its element there
  std::vector<core::ValueId> axes;     ///< of the nest
  std::vector<core::ValueId> position; ///< where that element lies
};

class TurnElements {
public:
  TurnElements(core::Module& m, core::FunctionId f, const core::Effects& effects, LoopValues& values,
               TurnPoint point, core::Builder& front);

  /// A parameter of the loop's body in the turn.
  void stands(core::ValueId param, core::ValueId by) { copy_.values[param] = by; }
  /// What the turn makes of the element, computed where `turn` appends, and what does not vary in front of
  /// the nest. None if it needs another element of the array, or what costs more than an operation is not
  /// computed at each point alone; what was appended is of no use then.
  std::optional<core::ValueId> element(core::ValueId array, const std::vector<core::ValueId>& at,
                                       core::Builder& turn, int depth = 0);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

  /// A number of the loop as it is in the turn.
  std::optional<core::ValueId> value(core::ValueId v, core::Builder& turn, int depth);
  std::optional<core::ValueId> element(const core::Op& get, core::Builder& turn, int depth);
  bool again(core::OpId id, const core::Op& op, core::Builder& turn, int depth);
  bool operand(core::ValueId v, core::Builder& turn, int depth);
  /// A branch or a loop of numbers: what it reads of arrays of the loop is read as everywhere.
  bool withRegions(core::OpId id, const core::Op& op, core::Builder& turn, int depth);
  /// Whether the op is computed at each point of the nest alone: it may cost what it wants.
  bool isAtPoint(core::OpId id) const;
  bool isPosition(const std::vector<core::ValueId>& at) const;
  std::optional<core::ValueId> ofPart(const core::Op& get, const std::vector<core::ValueId>& at,
                                      core::Builder& turn, int depth);
  std::optional<core::ValueId> ofNest(const core::Op& op, uint32_t result,
                                      const std::vector<core::ValueId>& at, core::Builder& turn, int depth);
  /// Of an array of which a part was updated: an element of that part.
  std::optional<core::ValueId> ofUpdate(const core::Op& op, const std::vector<core::ValueId>& at,
                                        core::Builder& turn, int depth);
  /// The body of a function that only collects, as it would stand in the loop.
  std::optional<core::ValueId> ofCall(const core::Op& call, uint32_t result,
                                      const std::vector<core::ValueId>& at, core::Builder& turn, int depth);

  core::Module& m_;
  core::FunctionId f_;
  const core::Effects& effects_;
  LoopValues& values_;
  const TurnPoint point_;
  core::Builder& front_; ///< in front of the nest
  core::Cloner copy_;    ///< numbers of the loop, as they are in the turn
  std::unordered_map<core::OpId, std::set<core::ValueId>> level_; ///< axes that an op of a nest inside is of
  int steps_ = 0;
};

/// Whether it is an array of scalars.
bool isNumbers(const types::TypeStore& types, core::TypeId t);
/// Steps of a place on the axes of an array: those that it does not mention are whole.
core::PathStep stepOf(const core::Path& path, size_t axis);
/// Where a part that begins at `first` has its element `i` on an axis.
core::ValueId along(const core::PathStep& step, core::ValueId first, core::ValueId i, core::Builder& b);
/// Whether a - b - step · axis is 0 in every turn at all points, of these axes; `axis` may be none.
bool isZero(const core::Module& m, const core::Function& f, const LoopValues& values,
            const std::vector<core::ValueId>& axes, core::ValueId a, core::ValueId b, core::ValueId axis = {},
            int64_t step = 0);

} // namespace melix::transforms
