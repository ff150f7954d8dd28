#pragma once
// The built-in bounds of generic parameters (rule 12).

#include "types/types.h"

#include <string_view>

namespace melix::check {

/// Whether a name is one of them.
bool isBound(std::string_view name);
/// Whether a type that is no open number meets a bound.
bool meetsBound(types::TypeStore& types, types::TypeId type, std::string_view bound);

} // namespace melix::check
