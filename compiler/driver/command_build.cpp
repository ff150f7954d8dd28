// melix build: compile a program into an executable.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/devices.h"
#include "driver/executable.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int commandBuild(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  return onBigStack([&]() -> int {
    const SessionPtr session = makeSession(invocation.code);
    if (!prepareProgram(invocation.program, *session)) return Failure;
    codegen::TargetKind target = targetOf(invocation.code, codegen::TargetKind::Portable);
    codegen::Options options = codegenOptions(*session, invocation.code, target);
    const std::optional<codegen::Assemble> assemble = findAssembler(invocation.code.gpuArchitectures);
    if (!assemble) return Failure;
    options.assemble = *assemble;
    std::optional<codegen::Compiled> compiled = compileCore(*session, options);
    if (!compiled) return Failure;
    codegen::addStart(*compiled, options);
    if (!compiled->error.empty()) {
      writeProblem("a bug of the code generator: " + compiled->error);
      return Failure;
    }
    std::vector<std::string_view> objects;
    for (const codegen::Object& object : compiled->objects) objects.push_back(object.bytes);
    return writeExecutable(objects, invocation) ? Success : Failure;
  });
}

} // namespace melix::driver
