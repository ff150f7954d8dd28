// melix test: run the tests in programs, each in a forked child.
#include "driver/blocks.h"
#include "driver/child.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"

namespace melix::driver {

namespace {

struct Tally {
  size_t passed = 0, failed = 0, unread = 0;

  std::string text() const {
    std::string out = std::to_string(passed) + " passed, " + std::to_string(failed) + " failed";
    if (unread > 0)
      out += ", " + std::to_string(unread) + (unread == 1 ? " file" : " files") + " with errors";
    return out + "\n";
  }
};

/// Runs the tests of a file. The exit status of what keeps them from being run.
int testFile(const std::string& file, const Invocation& invocation, Tally& tally) {
  Blocks tests(invocation.code);
  if (!tests.load(file, BlockKind::Test, invocation.filter)) {
    tally.unread += tests.status() == Failure;
    return tests.status();
  }
  for (const auto& [name, function] : tests.all()) {
    const auto work = [&tests, test = function](std::optional<std::string>& told) {
      const Blocks::End end = tests.run(test);
      if (end.returned && end.status == Success) told = "";
      return end.status;
    };
    const ChildEnd end = runInChild(work, invocation.timeout);
    writeOutput((end.returned ? "ok      " : "FAILED  ") + file + ": " + name + "\n");
    if (!end.returned) writeOutput(end.output);
    flushOutput();
    ++(end.returned ? tally.passed : tally.failed);
  }
  return Success;
}

} // namespace

int commandTest(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  Tally tally;
  std::vector<std::string> files = expandFolders(invocation.files);
  const int refused = onBigStack([&] {
    int worst = Success;
    for (const std::string& file : files) worst = std::max(worst, testFile(file, invocation, tally));
    return worst;
  });
  if (refused == WrongCommandLine) return refused;
  if (tally.passed + tally.failed + tally.unread == 0)
    return nothingToRun(BlockKind::Test, invocation.filter);
  writeOutput(tally.text());
  return tally.unread == 0 && tally.failed == 0 ? Success : Failure;
}

} // namespace melix::driver
