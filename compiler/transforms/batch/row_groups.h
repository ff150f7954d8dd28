#pragma once
// Puts rows with equal keys together, and runs code for one group after another.
//
//   %before, %counts = …                            // by row: rows before it with its key; by key: its rows
//   %starts = …                                     // by key: rows with lesser keys
//   %ranks, %order = …                              // by row: where it stands in the order; rows in their
//   order %r = for E, … { (%key, …)
//     bind_dim (get %counts[%key]) defines [n]   %rows = get %order[get %starts[%key] +: n]
//     … }                                           // the code for the group
//
// The rows of a group are in their order.

#include "transforms/batch/rows.h"

namespace melix::transforms {

class RowGroups {
public:
  /// `keys`: by row a number below `kinds`.
  RowGroups(core::Builder& b, core::ValueId keys, core::DimId rows, core::DimId kinds);

  /// Whether there are enough rows for groups: a condition on two sizes.
  static core::ValueId areWorth(core::Builder& b, core::DimId rows, core::DimId kinds);

  /// By row: where it stands in the order.
  core::ValueId ranks() const { return ranks_; }

  struct Group {
    core::ValueId key;
    core::ValueId from;                 ///< where the group begins in the order
    RowSet rows;                        ///< none, if no row has the key
    std::vector<core::ValueId> carried; ///< the parameters of `begun`
  };
  /// Appends a loop over the groups. `emit` appends the code for a group and gives the
  /// values that go around.
  std::vector<core::ValueId>
  forEach(core::Builder& b, std::span<const core::ValueId> begun,
          FunctionRef<std::vector<core::ValueId>(core::Builder& in, const Group& group)> emit) const;

private:
  void count(core::Builder& b, core::ValueId keys, core::DimId rows);
  void start(core::Builder& b);
  void sort(core::Builder& b, core::ValueId keys, core::DimId rows);

  core::DimId kinds_;
  core::ValueId before_, counts_, starts_, ranks_, order_;
};

} // namespace melix::transforms
