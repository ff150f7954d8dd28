#pragma once
#include "driver/builtins.h"
#include "driver/command_line.h"
#include "repl/compiled/entry_runner.h"

namespace melix::driver {

/// The services by which entries of a prompt or a notebook run; they refer to both arguments.
repl::RunnerHost runnerHost(HostBuiltins& builtins, const CodeOptions& code);

/// The text of a stage of the compiler: repl::Host::stageText.
std::optional<std::string> stageText(session::Session& session, const CodeOptions& code,
                                     const std::string& stage, const std::string& function,
                                     std::string& error);

} // namespace melix::driver
