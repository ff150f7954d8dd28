#include "driver/runner_host.h"

#include "driver/commands.h"
#include "driver/compile.h"

namespace melix::driver {

repl::RunnerHost runnerHost(HostBuiltins& builtins, const CodeOptions& code) {
  repl::RunnerHost host;
  host.hooks = builtins.hooks();
  host.task = builtins.task();
  host.compile = [&code](session::Session& session) {
    return compileCore(session, codegenOptions(session, code, targetOf(code, codegen::TargetKind::Host)));
  };
  if (code.interpret) host.way = repl::EntryWay::Interpreted;
  if (code.compileAll) host.way = repl::EntryWay::Compiled;
  return host;
}

std::optional<std::string> stageText(session::Session& session, const CodeOptions& code,
                                     const std::string& stage, const std::string& function,
                                     std::string& error) {
  const std::optional<StageKind> kind = stageNamed(stage, error);
  if (!kind) return std::nullopt;
  if (*kind < StageKind::Core) {
    error = "the stage `" + stage + "` is one of files: `melix show --stage " + stage + " FILE`";
    return std::nullopt;
  }
  Invocation invocation;
  invocation.code = code;
  invocation.show.stage = *kind;
  if (*kind <= StageKind::Plans && *kind != StageKind::Grad) invocation.show.only = function;
  const std::optional<std::string> text = textOfStage(invocation, session);
  if (!text) error = "there is no such text";
  return text;
}

} // namespace melix::driver
