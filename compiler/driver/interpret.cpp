#include "driver/interpret.h"

#include "core/ir/trace_name.h"
#include "driver/builtins.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "melix/abi.h"

#include <algorithm>

namespace melix::driver {

namespace {

struct PlacedFrame {
  std::string function;
  Span span;
};

/// The Melix frames of one frame of the interpreter, innermost first: functions inlined by a pass have one of
/// their own. Frames without a place are the compiler's and are left out.
std::vector<PlacedFrame> placedFrames(const core::Module& module, const interp::PanicFrame& frame) {
  std::vector<PlacedFrame> out;
  std::string function = frame.function;
  Span last;
  for (core::LocId loc = frame.loc; loc; loc = module.locs[loc].inner) {
    const core::Loc& link = module.locs[loc];
    if (link.kind == core::LocKind::InlinedAt) {
      out.push_back({function, link.span});
      function = link.function;
    }
    if (link.span.valid()) last = link.kind == core::LocKind::BlockCall ? Span() : link.span;
  }
  out.push_back({function, last});
  std::erase_if(out, [](const PlacedFrame& f) { return !f.span.valid(); });
  std::reverse(out.begin(), out.end());
  return out;
}

} // namespace

/// As the runtime writes it (runtime/src/trace.cpp): of a long trace the frames at both ends.
std::string panicText(session::Session& session, const interp::Panic& panic, const std::string& compiled) {
  constexpr size_t shownAtEachEnd = 20;
  std::string head, frames;
  bool headIsOfLibrary = false;
  size_t count = panic.trace.size();
  while (count > 0 && placedFrames(session.module(), panic.trace[count - 1]).empty()) --count; // the entry
  for (size_t k = 0; k < count; ++k) {
    if (k == shownAtEachEnd && count > 2 * shownAtEachEnd) {
      k = count - shownAtEachEnd;
      frames += "  … " + std::to_string(k - shownAtEachEnd) + " more frames\n";
    }
    for (const PlacedFrame& f : placedFrames(session.module(), panic.trace[k])) {
      LineColumn at = session.sources.lineColumn(f.span);
      std::string place = std::string(session.sources.path(f.span.file)) + ":" + std::to_string(at.line);
      const bool isOfLibrary = session.modules().isLibraryFile(f.span.file);
      if (head.empty() || (headIsOfLibrary && !isOfLibrary)) {
        headIsOfLibrary = isOfLibrary;
        head = place + ":" + std::to_string(at.column) + ": panic: " + panic.message + "\n" +
               std::string(session.sources.lineText(f.span.file, at.line)) + "\n";
      }
      frames += "  at " + core::traceName(f.function) + " (" + place + ")\n";
    }
  }
  if (!compiled.empty()) {
    const size_t at =
        compiled.starts_with(MELIX_LIBRARY_FOLDER) && !head.empty() ? compiled.find("\n  at ") : 0;
    return at == 0 ? compiled + frames
                   : head + (at < compiled.size() ? compiled.substr(at + 1) : "") + frames;
  }
  return (head.empty() ? "panic: " + panic.message + "\n" : head) + frames;
}

static int statusOf(session::Session& session, HostBuiltins& builtins, const interp::RunResult& result) {
  builtins.flush();
  if (builtins.exited()) return builtins.exitStatus();
  if (result.panicked && builtins.takeInterrupt()) return Interrupted;
  if (result.panicked) {
    writeError(panicText(session, result.panic));
    return Panicked;
  }
  // A test gives unit, a program its status.
  bool hasStatus = !result.values.empty() && result.values[0].kind() == types::TypeKind::I64;
  return hasStatus ? static_cast<int>(result.values[0].asInteger()) : int(Success);
}

int interpretProgram(session::Session& session, int argc, char** argv, bool* returned) {
  HostBuiltins builtins(session.types, argc, argv);
  melix_end_when_deaf();
  interp::Program program(session.module(), builtins.hooks());
  const interp::RunResult result = program.run(session.module().entry, {});
  if (returned) *returned = !builtins.exited() && !result.panicked;
  return melix_end_output(statusOf(session, builtins, result));
}

} // namespace melix::driver
