#include "driver/interpret.h"

#include "driver/exit_status.h"
#include "driver/program_input.h"

namespace melix::driver {

int interpretProgram(session::Session&, int, char**) {
  writeProblem("`--interpret` is not available yet: the interpreter lacks the runtime's builtins");
  return Failure;
}

} // namespace melix::driver
