// melix fmt: the layout of programs. A program that does not parse is reported and left alone.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "format/format.h"
#include "parse/parse.h"

namespace melix::driver {
namespace {

struct Layout {
  std::string before, after;
};

/// A program's text as it is and as it should be, or nothing after reporting what is wrong with it.
std::optional<Layout> layOut(const std::string& path) {
  SourceStore sources;
  std::optional<FileId> file = loadProgram({.file = path, .code = std::nullopt}, sources);
  if (!file) return std::nullopt;
  Interner names;
  DiagnosticSink sink;
  parse::ParseResult parsed = parse::parseFile(*file, sources, names, sink);
  if (!writeDiagnostics(sink, sources)) return std::nullopt;
  std::optional<std::string> after = format::formatFile(parsed.ast, sources);
  if (!after) {
    writeProblem("`" + path + "` cannot be formatted; it is left as it is");
    return std::nullopt;
  }
  return Layout{std::string(sources.text(*file)), std::move(*after)};
}

/// Formats one file or, under --check, names it if it is not formatted. Returns whether all is well.
bool formatFile(const std::string& path, bool checkOnly) {
  std::optional<Layout> layout = layOut(path);
  if (!layout) return false;
  bool isFormatted = layout->before == layout->after;
  if (checkOnly) {
    if (!isFormatted) writeOutput(path + "\n");
    return isFormatted;
  }
  if (path == "-") {
    writeOutput(layout->after);
    return true;
  }
  if (isFormatted) return true; // an unchanged file keeps its time
  std::optional<std::string> problem = replaceFile(path, layout->after);
  if (problem) writeProblem(*problem);
  return !problem;
}

} // namespace

int commandFmt(const Invocation& invocation) {
  bool formatted = true;
  for (const std::string& path : expandFolders(invocation.files))
    formatted = formatFile(path, invocation.checkFormat) && formatted;
  return formatted ? Success : Failure;
}

} // namespace melix::driver
