// melix fmt: the layout of programs.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int commandFmt(const Invocation&) {
  writeProblem("`melix fmt` does not work yet");
  return Failure;
}

} // namespace melix::driver
