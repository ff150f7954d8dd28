#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace melix::aot {

/// Writes all bytes; false, with the reason in errno, if that is not possible.
bool writeAll(int descriptor, std::string_view bytes);

/// Makes or replaces an executable file in one step: if that fails, the path is as it was before. What is no
/// regular file (a device, a pipe) is written to. Returns the message, or nothing.
std::optional<std::string> writeExecutable(const std::string& path, std::string_view bytes);

} // namespace melix::aot
