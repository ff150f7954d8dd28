#pragma once
// The built-in bounds of generic parameters (rule 12).

#include "types/types.h"

#include <optional>
#include <string>
#include <string_view>

namespace melix::check {

/// Whether a name is one of them.
bool isBound(std::string_view name);
/// All of them, for messages.
std::string boundNames();
/// The type parameter with this bound (or without one), for checking a body where it is declared. None if the
/// operations of the bound depend on the type.
std::optional<types::TypeParam> paramBoundBy(std::string_view bound);
/// The type parameters inside of a type, arguments of records included.
std::vector<types::TypeId> paramsInside(const types::TypeStore& types, types::TypeId type);
/// The least class that an open number has when it is given to a parameter of this bound.
std::optional<types::VarClass> boundNumber(std::string_view bound);
/// Whether a type that is no open number meets a bound; of an Iterator only that it may have a `next`.
bool meetsBound(types::TypeStore& types, types::TypeId type, std::string_view bound);

} // namespace melix::check
