// melix build: compile a program into an executable.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/executable.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int commandBuild(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  return onBigStack([&]() -> int {
    std::unique_ptr<session::Session> session = makeSession(invocation.code);
    std::optional<names::ModuleId> root = loadRoot(invocation.program, *session);
    if (!root) return Failure;
    bool ok = session->program(*root) && session->advance(session::CoreStage::Optimised);
    if (!reported(*session, ok)) return Failure;
    codegen::TargetKind target = targetOf(invocation.code, codegen::TargetKind::Portable);
    std::optional<codegen::Compiled> compiled = compileCore(*session, invocation.code, target);
    if (!compiled) return Failure;
    codegen::Options options;
    options.target = target;
    options.sources = &session->sources;
    codegen::Compiled start = codegen::programObject(*compiled, options);
    if (!start.error.empty()) {
      writeProblem("a bug of the code generator: " + start.error);
      return Failure;
    }
    std::string_view objects[] = {compiled->object, start.object};
    return writeExecutable(objects, invocation) ? Success : Failure;
  });
}

} // namespace melix::driver
