#pragma once
// The representation of Core values while they are lowered: leaves, or places in memory.

#include "loops/ir/build.h"
#include "loops/layout/layout.h"

#include <optional>

namespace melix::loops {

/// An axis of a place that is still a whole or a slice.
struct Axis {
  ValueId stride; ///< in elements of the base
  ValueId extent;
  bool whole = false; ///< every index of the array's own axis, in order
};

/// The target of a path: some leaves, or memory. In memory: base + offset + scale · Σ terms, over the
/// remaining axes.
struct Place {
  TypeId type;       ///< of one element when there are axes
  StoredType stored; ///< in memory: how that lies
  bool inLeaves = true;
  bool inAcc = false; ///< the leaves are addresses: of an array's elements, of another part's slot
  uint32_t firstLeaf = 0;
  ValueId base; ///< class Data, Word or Address
  std::vector<Term> terms;
  uint32_t scale = 0;
  int64_t offset = 0;
  std::vector<Axis> axes;
  bool indirect = false; ///< the base was loaded from memory that another value owns
};

/// A slice, or a payload in its node, that is only read: nothing is copied.
struct View {
  Place place;
};

/// The representation of a Core value: its leaves, or a view, or nothing if it was written
/// directly to its destination. For the result of a later `set` for which an element was taken out: leaves
/// and place.
struct Rep {
  std::vector<ValueId> leaves;
  std::optional<View> view;
  bool placed = false;
};

/// Memory that an array is to be written to: `rank` axes, dense, from there.
struct Destination {
  ValueId base;
  std::vector<Term> terms;
};

} // namespace melix::loops
