#pragma once
#include "session/session.h"

namespace melix::driver {

/// Runs the module's entry in the Core interpreter with the runtime's builtins; the exit status of the program.
int interpretProgram(session::Session& session, int argc, char** argv);

} // namespace melix::driver
