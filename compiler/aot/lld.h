#pragma once
#include <optional>
#include <string>
#include <vector>

namespace melix::aot {

/// Runs the ELF linker in this process. `arguments` are the arguments of `ld.lld`, without the program's name
/// and without an output. Returns the bytes of the linked file, or nothing if it failed. Its messages are
/// appended to `messages`. It may be called again after a failure. While it runs, no other code may write to
/// standard output.
std::optional<std::string> runLld(const std::vector<std::string>& arguments, std::string& messages);

} // namespace melix::aot
