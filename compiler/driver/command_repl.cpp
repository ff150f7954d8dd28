// melix repl: a prompt for expressions and definitions.
#include "driver/builtins.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/interpret.h"
#include "driver/program_input.h"
#include "melix/input.h"
#include "repl/prompt.h"

#include <cerrno>
#include <unistd.h>

namespace melix::driver {
namespace {

enum class LineKind { Line, End, Interrupted };

/// Lines of standard input. Nothing behind a line is taken: that may be what the line asks for by
/// `read_line`.
class LineReader {
public:
  LineKind next(std::string& line) {
    for (;;) {
      if (pending_.ends_with('\n')) {
        line = std::move(pending_);
        pending_.clear();
        return LineKind::Line;
      }
      uint8_t buffer[4096];
      const int64_t got = melix_read_input(buffer, sizeof buffer); // which Ctrl-C ends
      if (got < 0 && errno == EINTR) {
        pending_.clear();
        return LineKind::Interrupted;
      }
      if (got <= 0) {
        line = std::move(pending_);
        pending_.clear();
        return line.empty() ? LineKind::End : LineKind::Line;
      }
      pending_.append(buffer, buffer + got);
    }
  }

private:
  std::string pending_;
};

repl::Host makeHost(session::Session& session, HostBuiltins& builtins) {
  repl::Host host;
  host.hooks = builtins.hooks();
  host.show = [&builtins](types::TypeId type, const interp::Value& value) {
    core::FormatAttr format;
    format.quoted = true;
    return builtins.show(type, value, format);
  };
  host.write = [](std::string_view text) { writeOutput(text); };
  host.writeError = [](std::string_view text) { writeError(text); };
  host.writeDiagnostics = [&session] { writeDiagnostics(session.sink, session.sources); };
  host.reportPanic = [&session, &builtins](const interp::Panic& panic) {
    builtins.flush();
    if (builtins.exited()) return;
    writeError(builtins.takeInterrupt() ? "interrupted\n" : panicText(session, panic));
  };
  return host;
}

void showPrompt(bool isTerminal, bool continued) {
  if (!isTerminal) return;
  writeOutput(continued ? "… " : "> ");
  flushOutput();
}

} // namespace

int commandRepl(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  const SessionPtr session = makeSession(invocation.code);
  char name[] = "melix";
  char* arguments[] = {name, nullptr};
  HostBuiltins builtins(session->types, 1, arguments);
  repl::Prompt prompt(*session, makeHost(*session, builtins));
  bool isTerminal = isatty(STDIN_FILENO) != 0;
  LineReader reader;
  std::string entry, line;
  for (;;) {
    showPrompt(isTerminal, !entry.empty());
    LineKind kind = reader.next(line);
    if (kind == LineKind::Interrupted) {
      builtins.takeInterrupt();
      entry.clear();
      writeOutput("\n");
      continue;
    }
    if (kind == LineKind::End && entry.empty()) break;
    if (kind == LineKind::Line) entry += line;
    if (entry.find_first_not_of(" \t\r\n") == std::string::npos) {
      entry.clear();
      continue;
    }
    // Only the end of the input ends an entry that is not complete, and Ctrl-C drops it: a blank line may
    // stand anywhere in it.
    if (kind == LineKind::Line && prompt.isIncomplete(entry)) continue;
    // On the main thread stays only the waiting: the phases need a large stack.
    onBigStack([&] {
      prompt.enter(entry);
      return 0;
    });
    builtins.flush();
    builtins.takeInterrupt();
    if (builtins.exited()) return melix_end_output(builtins.exitStatus());
    if (!flushOutput()) return Failure;
    entry.clear();
    if (kind == LineKind::End) break;
  }
  if (isTerminal) writeOutput("\n");
  return melix_end_output(Success);
}

} // namespace melix::driver
