// melix bench: measure the blocks `bench "name" { }` of programs, each in a forked child.
#include "driver/blocks.h"
#include "driver/child.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/measure.h"

#include <cstring>

namespace melix::driver {

namespace {

/// Measures a bench; what was measured is told as its bytes.
int runBench(Blocks& benches, core::FunctionId bench, double seconds, std::optional<std::string>& told) {
  Measurement found;
  const Blocks::End end = benches.run(bench, [&](MelixEntryFn entry, MelixTask* task) {
    found = measure(entry, task, seconds);
    return int32_t(Success);
  });
  if (end.returned && end.status == Success)
    told = std::string(reinterpret_cast<const char*>(&found), sizeof found);
  return end.status;
}

/// After so many seconds one that is measured for `seconds` is stopped; 0: never.
double limitOf(const Invocation& invocation) {
  return invocation.timeout > 0 ? invocation.timeout + 2 * invocation.seconds : 0;
}

/// Runs the benches of a file and counts them; false after errors and where one did not come to its end.
bool benchFile(const std::string& file, const Invocation& invocation, size_t& count) {
  Blocks benches(invocation.code);
  if (!benches.load(file, BlockKind::Bench, invocation.filter)) return false;
  count += benches.all().size();
  bool fine = true;
  for (const auto& [name, function] : benches.all()) {
    const auto work = [&, bench = function](std::optional<std::string>& told) {
      return runBench(benches, bench, invocation.seconds, told);
    };
    const ChildEnd end = runInChild(work, limitOf(invocation));
    Measurement found;
    fine &= end.returned;
    if (end.returned) std::memcpy(&found, end.told.data(), sizeof found);
    writeOutput(benchLine(file + ": " + name, end.returned ? &found : nullptr));
    if (!end.returned) writeOutput(end.output);
    flushOutput();
  }
  return fine;
}

} // namespace

int commandBench(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  bool fine = true;
  size_t count = 0;
  std::vector<std::string> files = expandFolders(invocation.files);
  onBigStack([&] {
    for (const std::string& file : files) fine &= benchFile(file, invocation, count);
    return 0;
  });
  if (fine && count == 0) return nothingToRun(BlockKind::Bench, invocation.filter);
  return fine ? Success : Failure;
}

} // namespace melix::driver
