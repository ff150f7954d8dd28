#pragma once
// Functions that the language itself calls by their names. A type that has them can be iterated, passed on as
// an error, or be a key although it has a `==` of its own.

#include <string_view>

namespace melix::check::protocols {

inline constexpr std::string_view iter = "iter", next = "next", message = "message", hash = "hash";
inline constexpr std::string_view all[] = {iter, next, message, hash};

} // namespace melix::check::protocols
