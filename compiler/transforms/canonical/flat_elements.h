#pragma once
// Arrays of records that are made element by element while records are flattened: arrays that nests collect,
// and arrays from and to lists. A part of flatten_records.

#include "core/ir/nest_results.h"
#include "transforms/canonical/element_sizes.h"
#include "transforms/canonical/flat_values.h"

namespace melix::transforms {

class FlatElements : protected FlatValues {
protected:
  using FlatValues::FlatValues;

  /// A leaf of elements that a nest collects, whose sizes may be none where there is no element.
  struct Rows {
    core::ValueId records; ///< the array of records
    uint32_t leaf;         ///< of its leaves
    uint32_t result;       ///< of the nest, where the array of the leaf stands
    uint32_t yielded;      ///< where the body yields the leaf
    core::TypeId type;     ///< of the leaf, with sizes that are
  };
  /// The leaves of a result. `at` is where the first of them stands.
  void rowsOf(core::Builder& b, const core::NestView& view, const core::NestPart& part, Rows at,
              std::vector<Rows>& out);
  /// Gives the leaf its sizes where the body yields it, and the array the sizes that its type claims.
  void castRows(core::Builder& b, core::OpId nest, const Rows& rows);

  /// A list becomes an array by a nest, and an array a list by a loop: each element goes by its leaves.
  void toArray(core::Builder& b, const core::Op& op);
  void toList(core::Builder& b, const core::Op& op);

  CheckedSizes checked_; ///< before the op at hand
};

} // namespace melix::transforms
