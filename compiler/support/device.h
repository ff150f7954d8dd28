#pragma once

#include <cstdint>

namespace melix {

/// Where code runs: part of the key of an instance, since one function may be compiled for several devices.
enum class Device : uint8_t { Host };

} // namespace melix
