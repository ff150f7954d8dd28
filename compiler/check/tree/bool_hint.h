#pragma once
// Hints that name a function which makes one bool of a value of another type, for the message that wants a
// bool.

#include "types/types.h"

#include <string_view>

namespace melix::check {

/// Empty where nothing does.
inline std::string_view boolHint(const types::TypeStore& types, types::TypeId type) {
  switch (types.kind(type)) {
  case types::TypeKind::Array: return "`all(…)` and `any(…)` make one bool of an array";
  case types::TypeKind::List:
  case types::TypeKind::Str: return "whether something is in it is `len(x) > 0`";
  case types::TypeKind::Tuple: return "`assert c, \"message\"` stands without brackets";
  case types::TypeKind::Enum: return "cases are distinguished by `match`, values by `==`";
  default:
    return types.isNumber(type) || types.kind(type) == types::TypeKind::Var ? "compare it: `n != 0`" : "";
  }
}

} // namespace melix::check
