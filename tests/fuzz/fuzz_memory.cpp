// Programs that leave an array once panic there, in every way to run them, and programs that do not are not
// reported. Each form of access comes in its turn, so that as many steps as there are forms have all of them.
#include "fuzz/accesses.h"
#include "fuzz/programs/runs.h"

#include <cstdio>
#include <cstdlib>

using namespace melix;

namespace {

constexpr int panicked = 101;

[[noreturn]] void fail(const fuzz::AccessProgram& program, const std::string& what) {
  std::fprintf(
      stderr, "%s\n%s// %s\n// expected: %s\n", what.c_str(), program.text.c_str(), program.forms.c_str(),
      program.message.empty() ? "no panic"
                              : ("line " + std::to_string(program.line) + ", " + program.message).c_str());
  std::abort();
}

void requirePanic(const fuzz::AccessProgram& program, const fuzz::programs::Outcome& o) {
  if (o.status != panicked) fail(program, o.way + ": status " + std::to_string(o.status) + "\n" + o.errors);
  const std::string place = "fuzz.mlx:" + std::to_string(program.line) + ":",
                    message = ": panic: " + program.message + "\n";
  const size_t at = o.errors.find(": panic: ");
  const size_t line = at == std::string::npos ? 0 : o.errors.rfind('\n', at) + 1; // 0 behind npos
  if (at == std::string::npos || o.errors.compare(line, place.size(), place) != 0 ||
      o.errors.compare(at, message.size(), message) != 0)
    fail(program, o.way + ": another panic\n" + o.errors);
}

void step(fuzz::Random& random) {
  static const std::vector<fuzz::AccessForm> forms = fuzz::accessForms();
  const fuzz::AccessForm& form = forms[fuzz::currentSeed() % forms.size()];
  const bool leaves = random() % 3 != 0;
  const fuzz::AccessProgram program =
      fuzz::randomAccesses(random, forms, leaves, random() % 4 == 0 ? nullptr : &form);
  if (std::getenv("MELIX_FUZZ_SHOW")) {
    std::printf("%s// %s; %s\n", program.text.c_str(), program.forms.c_str(), program.message.c_str());
    std::fflush(stdout);
  }
  fuzz::programs::RunOptions options;
  options.executable = random() % 12 == 0;
  options.verify = random() % 8 == 0;
  const fuzz::programs::Runs runs = fuzz::programs::runEveryWay(program.text, options);
  if (!runs.problem.empty()) fail(program, runs.problem);
  for (const fuzz::programs::Outcome& o : runs.outcomes) {
    if (o.slow) fail(program, o.way + ": takes too long");
    if (leaves)
      requirePanic(program, o);
    else if (o.status != 0)
      fail(program, o.way + ": status " + std::to_string(o.status) + "\n" + o.errors);
    if (o.output != runs.outcomes.front().output)
      fail(program, o.way + ": " + o.output + "instead of " + runs.outcomes.front().output);
    const bool hasStats = o.errors.find("live blocks ") != std::string::npos;
    if (hasStats && o.errors.find("live blocks 0,") == std::string::npos)
      fail(program, o.way + ": " + o.errors);
  }
  fuzz::stepGoesOn();
}

} // namespace

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
