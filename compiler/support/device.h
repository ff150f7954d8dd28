#pragma once

#include <cstdint>

namespace melix {

/// Where code runs: part of what makes an instance, since one function may be compiled for several.
enum class Device : uint8_t { Host };

} // namespace melix
