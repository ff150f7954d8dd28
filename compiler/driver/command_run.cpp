// melix run: compile a program and run it.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/interpret.h"
#include "driver/program_input.h"
#include "jit/jit.h"

namespace melix::driver {

namespace {

/// The program's argv: its name, then what stood after the file.
std::vector<char*> argumentsOf(const Invocation& invocation, std::vector<std::string>& storage) {
  storage.push_back(invocation.program.code ? "<code>" : invocation.program.file);
  storage.insert(storage.end(), invocation.programArguments.begin(), invocation.programArguments.end());
  std::vector<char*> out;
  for (std::string& s : storage) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

} // namespace

int commandRun(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  const SessionPtr session = makeSession(invocation.code);
  std::optional<codegen::Compiled> compiled;
  int status = onBigStack([&] {
    if (!prepareProgram(invocation.program, *session)) return Failure;
    if (invocation.code.interpret) return Success;
    const auto target = targetOf(invocation.code, codegen::TargetKind::Host);
    compiled = compileCore(*session, codegenOptions(*session, invocation.code, target));
    return compiled ? Success : Failure;
  });
  if (status != Success) return status;
  std::vector<std::string> storage;
  std::vector<char*> argv = argumentsOf(invocation, storage);
  if (invocation.code.interpret)
    return interpretProgram(*session, static_cast<int>(argv.size()) - 1, argv.data());
  std::string error;
  int result = jit::runProgram(*compiled, static_cast<int>(argv.size()) - 1, argv.data(), error);
  if (error.empty()) return result;
  writeProblem("a bug of the code generator: " + error);
  return Failure;
}

} // namespace melix::driver
