#pragma once
// Computes the types of places.

#include "core/ir/ir.h"

namespace melix::core {

/// How many index operands the path consumes.
unsigned pathOperands(const Path& path);

/// Type of the place `path` in a value of type `root`; nullopt and a reason in `problem` if the path does not
/// fit. A field of an array of records is the array of that part, and its sizes stand behind the array's
/// (types/leaves.h): `get x.0[i, k]` is `get x[i].0[k]`. Axes that Slice and All keep, and those that no step
/// mentions, stay.
std::optional<TypeId> pathType(types::TypeStore& types, TypeId root, const Path& path,
                               std::string* problem = nullptr);

/// The same place in the other order: fields of records in arrays before the indices of the arrays, as arrays
/// of records lie in memory; or each behind the indices of its own array, as values are made of records. The
/// indices keep their order.
Path fieldsFirst(types::TypeStore& types, TypeId root, const Path& path);
Path indicesFirst(types::TypeStore& types, TypeId root, const Path& path);

} // namespace melix::core
