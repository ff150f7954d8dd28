#pragma once
#include "interp/interp.h"
#include "session/session.h"

#include <string>

namespace melix::driver {

/// Runs the module's entry in the Core interpreter with the runtime's builtins; the exit status of the
/// program. `*returned` becomes true once the entry has come to its end, which neither a panic nor `exit`
/// does.
int interpretProgram(session::Session& session, int argc, char** argv, bool* returned = nullptr);

/// A panic of the interpreter as the runtime reports one: `file:line:column: panic: message`, the source
/// line, the calls. Of a panic of compiled code that the interpreter called, `compiled` is the report up to
/// there.
std::string panicText(session::Session& session, const interp::Panic& panic,
                      const std::string& compiled = "");

} // namespace melix::driver
