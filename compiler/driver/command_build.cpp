// melix build: make an executable of a program.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int commandBuild(const Invocation&) {
  writeProblem("`melix build` does not work yet");
  return Failure;
}

} // namespace melix::driver
