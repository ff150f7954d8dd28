// Any tokens and any bytes become a tree; what is wrong is said in a bounded number of messages.
#include "fuzz/mutate.h"

#include "parse/parse.h"

#include <cstdlib>

using namespace melix;

static void step(fuzz::Random& random) {
  static const fuzz::Corpus programs(MELIX_SOURCE_DIR);
  const std::string& program = programs[programs.draw(random)];
  const std::string& other = programs[programs.draw(random)];
  std::string text =
      random() % 4 == 0 ? fuzz::changeBytes(program, random) : fuzz::changeTokens(program, other, random);
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  FileId file = sources.add("fuzz.mlx", text);
  parse::ParseResult result = parse::parseFile(file, sources, names, sink);
  if (!result.ast.root || sink.errorCount() > 100) std::abort();
  for (uint32_t k = 0; k < result.ast.size(); ++k)
    if (result.ast.span(syntax::NodeId(k)).end > text.size()) std::abort();
  dump(result.ast, names);
  for (const Diagnostic& d : sink.all()) renderDiagnostic(d, sources, false);
}

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
