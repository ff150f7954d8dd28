// melix test: run the tests in programs, each in a forked child.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int commandTest(const Invocation&) {
  writeProblem("`melix test` does not work yet");
  return Failure;
}

} // namespace melix::driver
