#pragma once
#include "codegen/codegen.h"
#include "session/session.h"

namespace melix::driver {

/// Runs the module's entry in a forked child, compiled or (without `compiled`) interpreted; what it wrote
/// goes to `output`. Whether it came to its end; `exit` does not count as that.
bool runTestInChild(session::Session& session, const codegen::Compiled* compiled, std::string& output);

} // namespace melix::driver
