#include "driver/interpret.h"

#include "driver/builtins.h"
#include "driver/exit_status.h"
#include "driver/files.h"

namespace melix::driver {

std::string panicText(session::Session& session, const interp::Panic& panic) {
  std::string out;
  for (size_t k = 0; k < panic.trace.size(); ++k) {
    core::LocId loc = panic.trace[k].loc;
    while (loc && session.module().locs[loc].inner)
      loc = session.module().locs[loc].inner;
    Span span = loc ? session.module().locs[loc].span : Span();
    std::string place;
    if (span.valid()) {
      LineColumn at = session.sources.lineColumn(span);
      std::string path(session.sources.path(span.file));
      if (k == 0)
        out = path + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": panic: " + panic.message + "\n" +
              std::string(session.sources.lineText(span.file, at.line)) + "\n";
      place = " (" + path + ":" + std::to_string(at.line) + ")";
    }
    out += "  at " + panic.trace[k].function + place + "\n";
  }
  return out.find("panic: ") == std::string::npos ? "panic: " + panic.message + "\n" + out : out;
}

int interpretProgram(session::Session& session, int argc, char** argv) {
  HostBuiltins builtins(session.types, argc, argv);
  interp::Program program(session.module(), builtins.hooks());
  interp::RunResult result = program.run(session.module().entry, {});
  builtins.flush();
  if (builtins.exited())
    return builtins.exitStatus();
  if (result.panicked && builtins.takeInterrupt())
    return Interrupted;
  if (result.panicked) {
    writeError(panicText(session, result.panic));
    return Panicked;
  }
  // A test gives unit, a program its status.
  bool hasStatus = !result.values.empty() && result.values[0].kind() == types::TypeKind::I64;
  return hasStatus ? static_cast<int>(result.values[0].asInteger()) : int(Success);
}

} // namespace melix::driver
