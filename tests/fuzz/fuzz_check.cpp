// Programs changed at random are accepted or refused, in bounded time, with a bounded number of messages;
// what is accepted becomes Core and Loops that hold together after every pass.
#include "fuzz/compiled.h"
#include "fuzz/mutate.h"
#include "fuzz/run.h"

using namespace melix;

namespace {

/// More messages than this about a few changes are a cascade.
constexpr size_t mostMessages = 60;

std::string changedProgram(fuzz::Random& random) {
  static const fuzz::Corpus programs(MELIX_SOURCE_DIR);
  const std::string& program = programs[programs.draw(random)];
  const std::string& other = programs[programs.draw(random)];
  switch (random() % 8) {
  case 0: return fuzz::changeBytes(program, random);
  case 1:
  case 2:
  case 3: return fuzz::changeTokens(program, other, random);
  case 4: return fuzz::graftPieces(program, program, random);
  default: return fuzz::graftPieces(program, other, random);
  }
}

void step(fuzz::Random& random) { fuzz::requireCompiled(changedProgram(random), mostMessages); }

} // namespace

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
