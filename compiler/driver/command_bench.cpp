// melix bench: measure the blocks `bench "name" { }` of programs, each in a forked child.
#include "driver/child.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/measure.h"
#include "driver/program_input.h"
#include "jit/jit.h"

#include <cstring>

namespace melix::driver {

namespace {

/// Measures the entry; what was measured is told as its bytes.
int runBench(const codegen::Compiled& compiled, double seconds, std::optional<std::string>& told) {
  char name[] = "bench";
  char* argv[] = {name, nullptr};
  Measurement found;
  bool returned = false;
  std::string error;
  auto measured = [&](MelixEntryFn entry, MelixTask* task) {
    found = measure(entry, task, seconds);
    returned = true;
    return int32_t(Success);
  };
  const int status = jit::runProgram(compiled, 1, argv, error, measured);
  if (returned && status == Success) told = std::string(reinterpret_cast<const char*>(&found), sizeof found);
  return error.empty() ? status : int(Failure);
}

/// Runs the benches of a file; false after errors and where one did not come to its end.
bool benchFile(const std::string& file, const Invocation& invocation) {
  std::unique_ptr<session::Session> session = makeSession(invocation.code);
  ProgramSource source;
  source.file = file;
  std::optional<names::ModuleId> root = loadRoot(source, *session);
  if (!root) return false;
  if (session->modules()[*root].benches.empty()) return reported(*session, true);
  auto benches = session->benches(*root, invocation.filter);
  if (!reported(*session, session->advance(session::CoreStage::Optimised))) return false;
  bool fine = true;
  for (auto& [name, function] : benches) {
    session->module().entry = function;
    auto target = targetOf(invocation.code, codegen::TargetKind::Host);
    std::optional<codegen::Compiled> compiled = compileCore(*session, invocation.code, target);
    if (!compiled) return false;
    const ChildEnd end = runInChild(
        [&](std::optional<std::string>& told) { return runBench(*compiled, invocation.seconds, told); }, 0);
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
  std::vector<std::string> files = expandFolders(invocation.files);
  onBigStack([&] {
    for (const std::string& file : files) fine &= benchFile(file, invocation);
    return 0;
  });
  return fine ? Success : Failure;
}

} // namespace melix::driver
