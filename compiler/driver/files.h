#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace melix::driver {

/// All bytes of a file, or of standard input for `-`. If it cannot be read, nothing, and `error` says why.
std::optional<std::string> readFile(const std::string& path, std::string& error);

/// Replaces a file's content in one step: other processes see the old or the new text, never a part, and the
/// file's permissions stay. Returns what went wrong, or nothing.
std::optional<std::string> replaceFile(const std::string& path, std::string_view content);

/// The files a command was given, with each folder replaced by the .mlx files below it, sorted.
std::vector<std::string> expandFolders(const std::vector<std::string>& paths);

void writeOutput(std::string_view text); ///< to standard output
/// Whether everything written so far could be written.
bool flushOutput();
/// The status with which a command ends: what could not be written to standard output is told, but for a
/// reader that is gone, and is a failure.
int endOutput(int status);
void writeError(std::string_view text); ///< to standard error, after what went to standard output

/// Whether messages on standard error may be coloured: it is a terminal and NO_COLOR is not set.
bool wantsColour();

} // namespace melix::driver
