#pragma once
// The names of functions in traces and debuggers.

#include <string>
#include <string_view>

namespace melix::core {

/// The name that the program knows: a function made of `f` for a derivative, `fwd(jvp(f))`, is `f
/// (derivative)`.
std::string traceName(std::string_view name);

} // namespace melix::core
