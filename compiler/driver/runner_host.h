#pragma once
#include "driver/builtins.h"
#include "driver/command_line.h"
#include "repl/compiled/entry_runner.h"

namespace melix::driver {

/// What runs the entries of a prompt or a notebook; refers to both.
repl::RunnerHost runnerHost(HostBuiltins& builtins, const CodeOptions& code);

/// The text of a stage of the compiler: repl::Host::stageText.
std::optional<std::string> stageText(session::Session& session, const CodeOptions& code,
                                     const std::string& stage, const std::string& function,
                                     std::string& error);

} // namespace melix::driver
