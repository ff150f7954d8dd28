#include "driver/program_input.h"

#include "driver/files.h"

namespace melix::driver {

std::optional<FileId> loadProgram(const ProgramSource& program, SourceStore& sources) {
  if (program.code) return sources.add("<code>", *program.code);
  std::string error;
  std::optional<std::string> text = readFile(program.file, error);
  if (!text) {
    writeProblem(error);
    return std::nullopt;
  }
  return sources.add(program.file == "-" ? "<stdin>" : program.file, std::move(*text));
}

bool writeDiagnostics(const DiagnosticSink& sink, const SourceStore& sources) {
  bool colour = wantsColour();
  for (const Diagnostic* each : sink.inOrder()) writeError(renderDiagnostic(*each, sources, colour));
  return sink.errorCount() == 0;
}

void writeProblem(std::string_view message) { writeError("melix: error: " + std::string(message) + "\n"); }

} // namespace melix::driver
