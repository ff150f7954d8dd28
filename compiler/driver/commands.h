#pragma once
#include "driver/command_line.h"

/// One function a subcommand, each in a file of its own (`command_run.cpp`). It does the work of a command
/// line that was understood and returns the exit status.
namespace melix::session {
class Session;
}

namespace melix::driver {

int commandRun(const Invocation& invocation);
int commandBuild(const Invocation& invocation);
int commandCheck(const Invocation& invocation);
int commandShow(const Invocation& invocation);
/// The text of a stage from `core` on; takes the session's module that far. None: the reason is on standard
/// error.
std::optional<std::string> textOfStage(const Invocation& invocation, session::Session& session);
int commandExplainFusion(const Invocation& invocation);
int commandExplainBatching(const Invocation& invocation);
int commandTest(const Invocation& invocation);
int commandBench(const Invocation& invocation);
int commandFmt(const Invocation& invocation);
int commandRepl(const Invocation& invocation);
int commandKernel(const Invocation& invocation);
int commandDevices(const Invocation& invocation);
int commandExplainDevice(const Invocation& invocation);

} // namespace melix::driver
