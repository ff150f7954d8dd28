// Any bytes become tokens that lie in order within the text.
#include "fuzz/mutate.h"

#include <cstdlib>

using namespace melix;

static void step(fuzz::Random& random) {
  static const fuzz::Corpus programs(MELIX_SOURCE_DIR);
  std::string text = fuzz::changeBytes(programs[programs.draw(random)], random);
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("fuzz.mlx", text);
  lex::TokenStream stream = lex::lex(file, sources, sink);
  uint32_t end = 0;
  for (const lex::Token& token : stream.tokens) {
    if (token.begin < end || token.end < token.begin || token.end > text.size()) std::abort();
    end = token.end;
  }
  for (const Diagnostic& d : sink.all()) renderDiagnostic(d, sources, true);
}

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
