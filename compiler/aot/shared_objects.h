#pragma once
#include <string>
#include <string_view>

namespace melix::aot {

/// The path from which this process has loaded the shared object with that file name (`libc.so.6`); if it has
/// not loaded it, the file of that name beside the C library. Empty if there is none.
std::string findSharedObject(std::string_view fileName);

} // namespace melix::aot
