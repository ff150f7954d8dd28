// Whatever parses is formatted: to the same tree, to itself when formatted again, and to the same text
// however it was laid out before.
#include "fuzz/mutate.h"

#include "format/format.h"
#include "parse/parse.h"

#include <cstdio>
#include <cstdlib>

using namespace melix;

namespace {

struct Formatted {
  bool parses = false;
  std::string tree, text;
  std::vector<fuzz::Gap> gaps;
};

Formatted formatText(const std::string& text) {
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  FileId file = sources.add("fuzz.mlx", text);
  parse::ParseResult result = parse::parseFile(file, sources, names, sink);
  if (sink.errorCount() > 0) return {};
  auto out = format::formatFile(result.ast, sources);
  return {out.has_value(), dump(result.ast, names), out.value_or(""), fuzz::layoutGaps(result.ast, sources)};
}

void fail(const char* what, const std::string& before, const std::string& after) {
  std::fprintf(stderr, "%s\n--- before\n%s\n--- after\n%s\n", what, before.c_str(), after.c_str());
  std::abort();
}

void step(fuzz::Random& random) {
  static const fuzz::Corpus programs(MELIX_SOURCE_DIR);
  std::string text = programs[programs.draw(random)];
  if (random() % 2 == 0) text = fuzz::changeTokens(text, programs[programs.draw(random)], random);
  Formatted first = formatText(text);
  if (!first.parses) return;
  Formatted second = formatText(first.text);
  if (!second.parses || second.tree != first.tree) fail("formatting changed the tree", text, first.text);
  if (second.text != first.text) fail("formatting twice changed the text", first.text, second.text);
  std::string laidOut = fuzz::changeLayout(text, first.gaps, random, 1 + random() % 100);
  Formatted other = formatText(laidOut);
  if (!other.parses || other.tree != first.tree || other.text != first.text)
    fail("the layout before mattered", laidOut, other.text + "--- of the other layout\n" + first.text);
}

} // namespace

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
