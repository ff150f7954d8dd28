// melix repl: a prompt for expressions and definitions.
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int commandRepl(const Invocation&) {
  writeProblem("`melix repl` does not work yet");
  return Failure;
}

} // namespace melix::driver
