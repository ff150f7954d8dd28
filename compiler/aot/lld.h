#pragma once
#include <string>
#include <vector>

namespace melix::aot {

/// Runs the ELF linker in this process. `arguments` are those of `ld.lld`, without the program's name.
/// Returns whether it succeeded; its messages are appended to `messages`. It may be called again after a
/// failure.
bool runLld(const std::vector<std::string>& arguments, std::string& messages);

} // namespace melix::aot
