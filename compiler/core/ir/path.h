#pragma once
// Computes the types of places.

#include "core/ir/ir.h"

namespace melix::core {

/// Of steps that speak of axes.
inline bool isIndexLike(StepKind kind) {
  return kind == StepKind::Index || kind == StepKind::Slice || kind == StepKind::All;
}
/// Whether a step takes an index operand.
inline bool takesIndex(StepKind kind) {
  return kind == StepKind::Index || kind == StepKind::Slice || kind == StepKind::Element;
}

/// How many index operands the path consumes.
unsigned pathOperands(const Path& path);

/// Type of the place `path` in a value of type `root`; nullopt and a reason in `problem` if the path does not
/// fit. A field of an array of records is the array of that part, with the sizes of the part after the
/// array's (types/leaves.h): `get x.0[i, k]` is `get x[i].0[k]`. Axes that Slice and All keep stay, and so do
/// axes that no step mentions.
std::optional<TypeId> pathType(types::TypeStore& types, TypeId root, const Path& path,
                               std::string* problem = nullptr);

/// The same place in another order. `fieldsFirst`: the fields of records in arrays come before the indices,
/// as arrays of records lie in memory. `indicesFirst`: each field follows the indices of its own array, as an
/// element is a record. The indices keep their order.
Path fieldsFirst(types::TypeStore& types, TypeId root, const Path& path);
Path indicesFirst(types::TypeStore& types, TypeId root, const Path& path);

} // namespace melix::core
