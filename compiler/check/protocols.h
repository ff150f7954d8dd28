#pragma once
// Functions that the language itself calls by their names: a type that has them can be iterated, or passed on
// as an error.

#include <string_view>

namespace melix::check::protocols {

inline constexpr std::string_view iter = "iter", next = "next", message = "message";
inline constexpr std::string_view all[] = {iter, next, message};

} // namespace melix::check::protocols
