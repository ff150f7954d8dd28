// melix show: what each stage makes of a program.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "parse/parse.h"

namespace melix::driver {
namespace {

int showSyntaxTree(const Invocation& invocation) {
  SourceStore sources;
  std::optional<FileId> file = loadProgram(invocation.program, sources);
  if (!file) return Failure;
  Interner names;
  DiagnosticSink sink;
  parse::ParseResult parsed = parse::parseFile(*file, sources, names, sink);
  if (invocation.count) {
    writeOutput(std::to_string(parsed.ast.size()) + " nodes\n");
  } else {
    writeOutput(syntax::dump(parsed.ast, names));
  }
  return writeDiagnostics(sink, sources) ? Success : Failure;
}

/// The stages from `core` on.
int showCompiled(const Invocation&) {
  writeProblem("`melix show` knows only `--stage ast` so far");
  return Failure;
}

} // namespace

int commandShow(const Invocation& invocation) {
  return invocation.stage == StageKind::Ast ? showSyntaxTree(invocation) : showCompiled(invocation);
}

} // namespace melix::driver
