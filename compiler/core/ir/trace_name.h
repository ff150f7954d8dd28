#pragma once
// How traces and debuggers call a function.

#include <string>
#include <string_view>

namespace melix::core {

/// The name that the program knows: what was made of `f` for a derivative, `fwd(jvp(f))`, is `f
/// (derivative)`.
std::string traceName(std::string_view name);

} // namespace melix::core
