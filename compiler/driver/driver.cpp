#include "driver/driver.h"

#include "driver/commands.h"
#include "driver/files.h"

#include "melix/abi.h"

#include <malloc.h>

namespace melix::driver {
namespace {

bool runsCodeHere(CommandKind command) {
  return command == CommandKind::Run || command == CommandKind::Test || command == CommandKind::Bench;
}

int runCommand(const Invocation& invocation) {
  switch (invocation.command) {
  case CommandKind::Run: return commandRun(invocation);
  case CommandKind::Build: return commandBuild(invocation);
  case CommandKind::Check: return commandCheck(invocation);
  case CommandKind::Show: return commandShow(invocation);
  case CommandKind::ExplainFusion: return commandExplainFusion(invocation);
  case CommandKind::ExplainBatching: return commandExplainBatching(invocation);
  case CommandKind::Test: return commandTest(invocation);
  case CommandKind::Bench: return commandBench(invocation);
  case CommandKind::Fmt: return commandFmt(invocation);
  case CommandKind::Repl: return commandRepl(invocation);
  case CommandKind::Kernel: return commandKernel(invocation);
  case CommandKind::Devices: return commandDevices(invocation);
  case CommandKind::ExplainDevice: return commandExplainDevice(invocation);
  }
  return 0;
}

} // namespace

int runMelix(std::vector<std::string> arguments) {
  melix_keep_heap();
  mallopt(M_TOP_PAD, 16 << 20); // else the heap of a thread grows by a system call for every few pages
  melix_hold_standard_files();
  auto parsed = parseCommandLine(std::move(arguments));
  if (auto* answer = std::get_if<Answer>(&parsed)) {
    (answer->status == 0 ? writeOutput : writeError)(answer->text);
    return endOutput(answer->status);
  }
  auto& invocation = std::get<Invocation>(parsed);
  invocation.code.runsHere = runsCodeHere(invocation.command);
  return endOutput(runCommand(invocation));
}

} // namespace melix::driver
