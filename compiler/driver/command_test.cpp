// melix test: run the tests in programs, each in a forked child.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "driver/test_child.h"

namespace melix::driver {

namespace {

struct Tally {
  size_t passed = 0, failed = 0;
};

bool testFile(const std::string& file, const Invocation& invocation, Tally& tally) {
  std::unique_ptr<session::Session> session = makeSession(invocation.code);
  ProgramSource source;
  source.file = file;
  std::optional<names::ModuleId> root = loadRoot(source, *session);
  if (!root) return false;
  auto tests = session->tests(*root, invocation.filter);
  if (!reported(*session, session->advance(session::CoreStage::Optimised))) return false;
  for (auto& [name, function] : tests) {
    session->module().entry = function;
    std::optional<codegen::Compiled> compiled;
    if (!invocation.code.interpret) {
      compiled = compileCore(*session, invocation.code, targetOf(invocation.code, codegen::TargetKind::Host));
      if (!compiled) return false;
    }
    std::string output;
    bool fine = runTestInChild(*session, compiled ? &*compiled : nullptr, output);
    writeOutput((fine ? "ok      " : "FAILED  ") + file + ": " + name + "\n");
    if (!fine) writeOutput(output);
    ++(fine ? tally.passed : tally.failed);
  }
  return true;
}

} // namespace

int commandTest(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  Tally tally;
  bool readable = true;
  std::vector<std::string> files = expandFolders(invocation.files);
  onBigStack([&] {
    for (const std::string& file : files) readable &= testFile(file, invocation, tally);
    return 0;
  });
  writeOutput(std::to_string(tally.passed) + " passed, " + std::to_string(tally.failed) + " failed\n");
  return readable && tally.failed == 0 ? Success : Failure;
}

} // namespace melix::driver
