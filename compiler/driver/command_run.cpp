// melix run: compile a program and run it.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int commandRun(const Invocation&) {
  writeProblem("`melix run` does not work yet");
  return Failure;
}

} // namespace melix::driver
