#pragma once
#include "driver/command_line.h"

#include <span>
#include <string_view>

namespace melix::driver {

/// Links a program's objects with the runtime into the executable that the command line asks for. Returns
/// whether that worked; if not, standard error says why.
bool writeExecutable(std::span<const std::string_view> objects, const Invocation& invocation);

} // namespace melix::driver
