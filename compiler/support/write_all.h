#pragma once
#include <string_view>

namespace melix {

/// Writes all bytes to an open file; false, with the reason in errno, if that is not possible.
bool writeAll(int descriptor, std::string_view bytes);

} // namespace melix
