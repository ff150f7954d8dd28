#pragma once
// Formats of interpolated strings (rule 5) and the types they fit.

#include "types/types.h"

#include <string_view>

namespace melix::check {

/// Whether every number, word and text that a value of `type` is printed with may have this format.
bool formatFits(const types::TypeStore& types, types::TypeId type, std::string_view format);
/// Whether a format shows the fraction of a number.
bool showsFraction(std::string_view format);

} // namespace melix::check
