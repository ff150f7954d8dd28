#pragma once
// Internal: names of the axes of a pack. Axis k of the pack `S` is the dimension `S#k`, with the marks of the
// pack's name.

#include "support/interner.h"

#include <optional>

namespace melix::check {

/// One axis of a pack of axes, `..S`.
struct PackAxis {
  NameId pack;
  size_t axis;
};

NameId packDimName(Interner& names, NameId pack, size_t axis);
/// The axis that a dimension of such a name is; none if it is no axis of a pack.
std::optional<PackAxis> packAxisOf(Interner& names, NameId dim);

} // namespace melix::check
