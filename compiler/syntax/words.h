#pragma once
// What the spelling of a name says of it (rule 34).

#include <string_view>

namespace melix::syntax {

/// Begins with a capital letter, as cases, types and dimension variables do.
inline bool isCapital(std::string_view name) { return !name.empty() && name[0] >= 'A' && name[0] <= 'Z'; }

} // namespace melix::syntax
