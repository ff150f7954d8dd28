// Random contractions, however they are spelled, and batches of layers of them give the interpreter's bits in
// every way to run them: with one thread and with more, for this processor, for x86-64-v3, without
// optimising, and as a whole on the emulated device.
#include "fuzz/contractions.h"
#include "fuzz/programs/runs.h"

#include <cstdio>
#include <cstdlib>

using namespace melix;

namespace {

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  std::fprintf(stderr, "%s\n%s\n", text.c_str(), what.c_str());
  std::abort();
}

/// The first lines that differ.
std::string difference(const std::string& a, const std::string& b) {
  size_t start = 0, line = 1;
  for (size_t k = 0; k < a.size() && k < b.size() && a[k] == b[k]; ++k)
    if (a[k] == '\n') start = k + 1, ++line;
  auto from = [&](const std::string& s) {
    return s.substr(std::min(start, s.size()), s.find('\n', start) - start);
  };
  return "line " + std::to_string(line) + ": " + from(a) + ", " + from(b);
}

void step(fuzz::Random& random) {
  const std::string text = random() % 4 == 0 ? fuzz::randomBatch(random) : fuzz::randomContraction(random);
  if (std::getenv("MELIX_FUZZ_SHOW")) std::printf("%s", text.c_str()), std::fflush(stdout);
  fuzz::programs::RunOptions options;
  options.verify = random() % 8 == 0;
  options.shortStrips = random() % 2 == 0;
  options.onDevice = 1 + random() % 1000;
  const fuzz::programs::Runs runs = fuzz::programs::runEveryWay(text, options);
  if (!runs.problem.empty()) fail(text, runs.problem);
  const fuzz::programs::Outcome& expected = runs.outcomes.front();
  for (const fuzz::programs::Outcome& o : runs.outcomes) {
    if (o.slow) fail(text, o.way + ": takes too long");
    if (o.status != 0) fail(text, o.way + ": status " + std::to_string(o.status) + "\n" + o.errors);
    if (o.output != expected.output) fail(text, o.way + ": " + difference(expected.output, o.output));
    const bool hasStats = o.errors.find("live blocks ") != std::string::npos;
    if (hasStats && o.errors.find("live blocks 0,") == std::string::npos) fail(text, o.way + ": " + o.errors);
  }
  fuzz::stepGoesOn();
}

} // namespace

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
