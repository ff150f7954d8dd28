#pragma once
#include "diagnostics/diagnostic.h"
#include "driver/command_line.h"

#include <optional>

namespace melix::driver {

/// Reads the program of a command line into the store, under the name that messages use: the file's path,
/// `<stdin>` or
/// `<code>`. If it cannot be read, says so on standard error and gives nothing.
std::optional<FileId> loadProgram(const ProgramSource& program, SourceStore& sources);

/// Writes all messages to standard error, in the order in which they were found. Returns whether there is no
/// error.
bool writeDiagnostics(const DiagnosticSink& sink, const SourceStore& sources);

/// `melix: error: message` on standard error: for errors outside every program.
void writeProblem(std::string_view message);

} // namespace melix::driver
