#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace melix::driver {

/// All bytes of a file, or of standard input for `-`. If it cannot be read, nothing, and `error` says why.
std::optional<std::string> readFile(const std::string& path, std::string& error);

/// Who may read an executable, its owner at least, may run it.
enum class FileKind { Text, Executable };

/// Makes a file, or replaces its content, in one step: other processes see the old or the new bytes, never a
/// part. Permissions that it has stay. A path that is no regular file (a device, a pipe) is written to.
/// Returns the error, or nothing. After an error a file is as it was before.
std::optional<std::string> replaceFile(const std::string& path, std::string_view content,
                                       FileKind kind = FileKind::Text);

/// The files a command was given, with each folder replaced by the .mlx files below it, sorted.
std::vector<std::string> expandFolders(const std::vector<std::string>& paths);

void writeOutput(std::string_view text); ///< to standard output
/// Whether everything written so far could be written.
bool flushOutput();
/// The status with which a command ends. If standard output could not be written to, the command fails; the
/// error is reported, unless the reader has closed the pipe.
int endOutput(int status);
void writeError(std::string_view text); ///< to standard error, after the pending standard output

/// Whether messages on standard error may be coloured: it is a terminal and NO_COLOR is not set.
bool wantsColour();

} // namespace melix::driver
