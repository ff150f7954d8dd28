#pragma once
// Programs in their layout, for the tests.

#include "format/format.h"
#include "fuzz/mutate.h"
#include "parse/parse.h"

#include <string>
#include <vector>

namespace melix::format {

struct Formatted {
  std::string text, tree, errors;
  std::vector<fuzz::Gap> gaps;
};

inline Formatted formatted(const std::string& text) {
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  Formatted out;
  FileId file = sources.add("test.mlx", text);
  parse::ParseResult result = parse::parseFile(file, sources, names, sink);
  for (const Diagnostic& d : sink.all())
    if (diagSeverity(d.id) == SeverityKind::Error) out.errors += renderDiagnostic(d, sources, false);
  if (!out.errors.empty()) return out;
  out.text = formatFile(result.ast, sources).value_or("(not formatted)");
  out.tree = dump(result.ast, names);
  out.gaps = fuzz::layoutGaps(result.ast, sources);
  return out;
}

} // namespace melix::format
