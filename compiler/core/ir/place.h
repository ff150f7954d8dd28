#pragma once
// Composes and compares places in values.

#include "core/ir/build.h"

namespace melix::core {

/// A place within a value: a path and its index operands.
struct Place {
  Path path;
  std::vector<ValueId> indices;
};

/// The place that a `get`, `set` or `add_at` speaks of.
Place placeOf(const Op& op);

/// How many axes of an array of this type the path begins with; 0 for other types.
size_t leadingAxes(const types::TypeStore& types, TypeId root, const Path& path);

/// Composes two places: `inner` is a place in the place `outer` of a value of type `root`, and the result is
/// one place of that value. Indices of slices are computed where `b` appends. nullopt if `inner` goes into a
/// container that the place `outer` holds or goes through: one read of such a container serves many. Fields
/// of an element of a list are read in the list.
std::optional<Place> placeWithin(Builder& b, TypeId root, const Place& outer, const Place& inner);

/// How a place that is read lies to one that was updated.
struct Overlap {
  enum Kind {
    Unknown, ///< perhaps partly in it
    Disjoint,
    Within, ///< the place `rest` of the updated part, if all of these hold; else disjoint
  } kind = Unknown;
  /// An index of an axis of which a slice was updated.
  struct OfSlice {
    ValueId index, start;
    DimId length;
    int64_t step;
  };
  std::vector<std::pair<ValueId, ValueId>> equal; ///< indices that have to be the same
  std::vector<OfSlice> inSlices;                  ///< indices that have to be in a slice
  Place rest; ///< of each index that is in a slice, which has another number there, none
};
Overlap overlap(const Module& m, const Function& f, TypeId root, const Place& updated, const Place& read);

} // namespace melix::core
