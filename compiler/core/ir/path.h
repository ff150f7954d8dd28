#pragma once
// Computes the types of places.

#include "core/ir/ir.h"

namespace melix::core {

/// How many index operands the path consumes.
unsigned pathOperands(const Path& path);

/// Type of the place `path` in a value of type `root`; nullopt and a reason in `problem` if the path does not
/// fit. Axes kept by Slice, All and unmentioned axes before a Field are the leading axes of the type reached.
std::optional<TypeId> pathType(types::TypeStore& types, TypeId root, const Path& path,
                               std::string* problem = nullptr);

} // namespace melix::core
