// melix test: run the tests in programs, each in a forked child.
#include "driver/child.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/interpret.h"
#include "driver/program_input.h"
#include "jit/jit.h"

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

/// Runs the module's entry, compiled or (without `compiled`) interpreted. `exit` does not come to its end.
int runTest(session::Session& session, const codegen::Compiled* compiled, std::optional<std::string>& told) {
  char name[] = "test";
  char* argv[] = {name, nullptr};
  bool returned = false;
  std::string error;
  auto once = [&](MelixEntryFn entry, MelixTask* task) {
    const int32_t status = entry(task);
    returned = true;
    return status;
  };
  const int status = compiled ? jit::runProgram(*compiled, 1, argv, error, once)
                              : interpretProgram(session, 1, argv, &returned);
  if (returned && status == Success) told = "";
  return error.empty() ? status : int(Failure);
}

/// Runs the tests of a file; false after errors. A file without tests is not looked at any further.
bool testFile(const std::string& file, const Invocation& invocation, Tally& tally) {
  std::unique_ptr<session::Session> session = makeSession(invocation.code);
  ProgramSource source;
  source.file = file;
  std::optional<names::ModuleId> root = loadRoot(source, *session);
  if (!root) return false;
  if (session->modules().tests(*root).empty()) return reported(*session, true);
  auto tests = session->tests(*root, invocation.filter);
  if (!reported(*session, session->advance(session::CoreStage::Optimised))) return false;
  for (auto& [name, function] : tests) {
    session->module().entry = function;
    std::optional<codegen::Compiled> compiled;
    if (!invocation.code.interpret) {
      compiled = compileCore(*session, invocation.code, targetOf(invocation.code, codegen::TargetKind::Host));
      if (!compiled) return false;
    }
    const ChildEnd end = runInChild(
        [&](std::optional<std::string>& told) {
          return runTest(*session, compiled ? &*compiled : nullptr, told);
        },
        invocation.timeout);
    writeOutput((end.returned ? "ok      " : "FAILED  ") + file + ": " + name + "\n");
    if (!end.returned) writeOutput(end.output);
    flushOutput();
    ++(end.returned ? tally.passed : tally.failed);
  }
  return true;
}

} // namespace

int commandTest(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  Tally tally;
  std::vector<std::string> files = expandFolders(invocation.files);
  onBigStack([&] {
    for (const std::string& file : files) tally.unread += !testFile(file, invocation, tally);
    return 0;
  });
  writeOutput(tally.text());
  return tally.unread == 0 && tally.failed == 0 ? Success : Failure;
}

} // namespace melix::driver
