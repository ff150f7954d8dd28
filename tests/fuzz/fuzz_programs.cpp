// Random well-typed programs, run in every way there is: all must print the same, panic alike, and print what
// an evaluator of the fuzzer's own computes; derivatives must agree with one another and with differences.
#include "fuzz/programs/coverage.h"
#include "fuzz/programs/shrink.h"
#include "fuzz/programs/write.h"
#include "fuzz/run.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>

using namespace melix;
using namespace melix::fuzz::programs;

namespace {

constexpr double secondsOfShrinking = 40;
constexpr size_t subjects = 5;
/// One program of so many is also built, verified, run on the emulated device.
constexpr unsigned executableEach = 12, verifiedEach = 4, onDeviceEach = 4;

struct Settings {
  unsigned shares[subjects] = {45, 20, 12, 6, 17}; ///< of 100 programs
  unsigned findings = 1;                           ///< after which the run ends
  bool show = false;                               ///< programs are only printed
  bool shrinks = true;
  bool onlyOnDevice = false; ///< beside the interpreter
};
Settings settings;
Coverage coverage;
unsigned found = 0;

Subject subjectOf(fuzz::Random& random) {
  const auto& shares = settings.shares;
  auto roll = static_cast<unsigned>(random() % std::accumulate(std::begin(shares), std::end(shares), 0U));
  unsigned subject = 0;
  while (roll >= shares[subject]) roll -= shares[subject++];
  return static_cast<Subject>(subject);
}

/// Whole numbers never round.
RunOptions::Early earlyOfDomains(const Program& program) {
  bool needsPasses = false;
  walk(program,
       [&](const NodePtr& n) { needsPasses = needsPasses || n->form == Form::Lambda || n->name == "exp"; });
  return needsPasses ? RunOptions::Early::Derivatives : RunOptions::Early::Lowered;
}

/// One target or none for most programs about domains, which hold many functions.
void chooseTargets(RunOptions& options, fuzz::Random& random) {
  auto roll = random() % 100;
  if (roll >= 94) return;
  options.compiled = roll >= 24; // else the passes on Core alone
  options.native = roll < 66;
  options.portable = roll >= 66 && roll < 80;
  options.unoptimised = roll >= 80;
  options.executable = options.executable && roll >= 24 && roll < 40;
  options.shortStrips = random() % 2 == 0;
  options.foreign = random() % 2 == 0 ? static_cast<unsigned>(random() % 6) : 0;
}

RunOptions onDeviceOnly(RunOptions options, uint64_t order) {
  options.early = RunOptions::Early::No;
  options.compiled = true;
  options.native = options.portable = options.unoptimised = options.executable = false;
  options.onDevice = order;
  return options;
}

/// The earliest stage at which the interpreter runs the program and rounds alike, or so that it can be told.
RunOptions::Early earlyOf(const Program& program, Subject subject) {
  if (subject == Subject::Derivatives) return RunOptions::Early::Derivatives;
  if (subject == Subject::Domains) return earlyOfDomains(program);
  if (!program.strict) return RunOptions::Early::No;
  std::string text = write(program); // elementary functions have their bodies only once derivatives are there
  for (const char* name : {"sin(", "cos(", "tanh(", "exp(", "log("})
    if (text.find(name) != std::string::npos) return RunOptions::Early::Derivatives;
  bool needsPasses = false;
  walk(program, [&](const NodePtr& n) {
    needsPasses = needsPasses || n->form == Form::Lambda || n->form == Form::Text ||
                  (n->type && n->type->kind == Kind::Function);
  });
  return needsPasses ? RunOptions::Early::Derivatives : RunOptions::Early::Lowered;
}

void report(const Case& c, const Finding& finding) {
  std::printf("--- finding with --seed %llu: %s\n%s", static_cast<unsigned long long>(fuzz::currentSeed()),
              finding.kind.c_str(), finding.text.c_str());
  Case small = settings.shrinks ? shrink(c, finding, secondsOfShrinking) : c;
  Checked checked;
  std::optional<Finding> again = check(small, checked);
  if (again)
    std::printf("--- of the shrunk program%s\n%s", c.options.strict ? ", with --strict-fp" : "",
                again->text.c_str());
  std::printf("--- program\n%s---\n", write(small.program).c_str());
  std::fflush(stdout);
}

void step(fuzz::Random& random) {
  Case c;
  c.subject = subjectOf(random);
  c.program = generate(c.subject, random);
  c.options.strict = c.program.strict;
  c.options.early = earlyOf(c.program, c.subject);
  c.options.earlyRounds = c.subject == Subject::Derivatives;
  c.options.executable = random() % executableEach == 0;
  c.options.verify = random() % verifiedEach == 0;
  c.options.onDevice = random() % onDeviceEach == 0 ? 1 + random() % 1000 : 0;
  if (c.subject == Subject::Domains) chooseTargets(c.options, random);
  if (settings.onlyOnDevice) c.options = onDeviceOnly(c.options, 1 + random() % 1000);
  if (settings.show) {
    std::printf("%s\n", write(c.program).c_str());
    return;
  }
  Checked checked;
  std::optional<Finding> finding = check(c, checked);
  coverage.add(c, checked);
  if (!finding) return;
  report(c, *finding);
  if (++found < settings.findings) return;
  std::printf("%s", coverage.report().c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

/// Shares of the subjects as `values,derivatives,indices,sizes,domains`; those left out are 0.
void readShares(const char* text) {
  char* end = nullptr;
  for (unsigned& share : settings.shares) {
    share = static_cast<unsigned>(std::strtoul(text, &end, 10));
    text = *end == ',' ? end + 1 : end;
  }
  if (std::accumulate(std::begin(settings.shares), std::end(settings.shares), 0U) == 0)
    settings.shares[0] = 1;
}

} // namespace

int main(int argc, char** argv) {
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--shares") == 0) readShares(argv[k + 1]);
    if (std::strcmp(argv[k], "--findings") == 0)
      settings.findings = static_cast<unsigned>(std::atoi(argv[k + 1]));
    if (std::strcmp(argv[k], "--show") == 0) settings.show = std::atoi(argv[k + 1]) != 0;
    if (std::strcmp(argv[k], "--device") == 0) settings.onlyOnDevice = std::atoi(argv[k + 1]) != 0;
    if (std::strcmp(argv[k], "--shrink") == 0) settings.shrinks = std::atoi(argv[k + 1]) != 0;
  }
  int status = fuzz::runFuzzer(argc, argv, step);
  if (!settings.show) std::printf("%s", coverage.report().c_str());
  return status != 0 || found > 0 ? 1 : 0;
}
