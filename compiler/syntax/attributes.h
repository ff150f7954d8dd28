#pragma once
// Names after `@` that are no macros: attributes of the item or statement after them.

#include <string_view>

namespace melix::syntax {

inline bool isAttributeName(std::string_view name) {
  return name == "derivative" || name == "checkpoint" || name == "unchecked" || name == "inplace" ||
         name == "builtin";
}

} // namespace melix::syntax
