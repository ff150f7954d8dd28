#pragma once
// Puts rows with equal keys together, and runs code for one such group after another.
//
//   %order = argsort %keys                          // stable: the rows of a group are in their order
//   %ends = nest (i: m) -> filter defines [G] { … whether the row after it has another key …   yield %c, %i + 1 }
//   %r, … = for G, 0, … { (%g, %from, …)
//     %to = get %ends[%g]   bind_dim %to - %from defines [n]   %rows = get %order[%from +: n]
//     …                                             // the code for the group
//     yield %to, … }
//
// There are no more groups than rows, and none is empty.

#include "transforms/batch/rows.h"

namespace melix::transforms {

class RowGroups {
public:
  /// `keys`: integers, one a row. Appends the order and the ends of the groups.
  RowGroups(core::Builder& b, core::ValueId keys, core::DimId rows);

  /// Row positions, group by group.
  core::ValueId order() const { return order_; }

  struct Group {
    RowSet rows;                        ///< their positions in `rows.at`, ascending
    core::ValueId first;                ///< the position of the first of them
    core::ValueId from;                 ///< where the group begins in the order
    std::vector<core::ValueId> carried; ///< the parameters of `begun`
  };
  /// Appends a loop over the groups. `emit` appends the code for a group and gives what goes around.
  std::vector<core::ValueId>
  forEach(core::Builder& b, std::span<const core::ValueId> begun,
          FunctionRef<std::vector<core::ValueId>(core::Builder& in, const Group& group)> emit) const;

private:
  core::ValueId order_, ends_;
};

} // namespace melix::transforms
