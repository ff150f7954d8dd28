// melix check: errors and warnings of a program, and nothing else.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"
#include "parse/parse.h"

namespace melix::driver {

int commandCheck(const Invocation& invocation) {
  SourceStore sources;
  std::optional<FileId> file = loadProgram(invocation.program, sources);
  if (!file) return Failure;
  Interner names;
  DiagnosticSink sink;
  parse::parseFile(*file, sources, names, sink);
  return writeDiagnostics(sink, sources) ? Success : Failure;
}

} // namespace melix::driver
