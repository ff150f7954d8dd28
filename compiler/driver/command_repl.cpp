// melix repl: a prompt for expressions and definitions.
#include "driver/builtins.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/interpret.h"
#include "driver/program_input.h"
#include "driver/runner_host.h"
#include "melix/input.h"
#include "repl/colours.h"
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

repl::Host makeHost(session::Session& session, HostBuiltins& builtins, const CodeOptions& code) {
  repl::Host host;
  host.runner = runnerHost(builtins, code);
  host.show = [&builtins](types::TypeId type, const interp::Value& value) {
    core::FormatAttr format;
    format.quoted = true;
    return builtins.show(type, value, format);
  };
  host.columns = [] {
    return isatty(STDOUT_FILENO) != 0 ? repl::terminalSize().columns : repl::DisplayOptions().columns;
  };
  host.readFile = [](const std::string& file, std::string& error) { return readFile(file, error); };
  host.writeFile = [](const std::string& file, std::string_view content) {
    return replaceFile(file, content);
  };
  host.write = [](std::string_view text) { writeOutput(text); };
  host.writeError = [](std::string_view text) { writeError(text); };
  host.writeDiagnostics = [&session] { writeDiagnostics(session.sink, session.sources); };
  host.reportPanic = [&session, &builtins](const interp::Panic& panic, const std::string& compiled) {
    builtins.flush();
    if (builtins.exited()) return;
    writeError(builtins.takeInterrupt() ? "interrupted\n" : panicText(session, panic, compiled));
  };
  host.stageText = [&session, &code](const std::string& stage, const std::string& function,
                                     std::string& error) {
    return stageText(session, code, stage, function, error);
  };
  host.writePicture = [](std::string_view mime, std::string_view bytes) {
    const size_t at = mime.find('/') + 1;
    const std::string_view kind = mime.substr(at, mime.find('+') - at);
    writeOutput("(a picture: " + std::string(kind) + ", " + std::to_string(bytes.size()) + " bytes)\n");
  };
  host.noteExit = [&builtins] { builtins.noteExit(); };
  return host;
}

/// Entries of a prompt, one after another.
class EntryReader {
public:
  virtual ~EntryReader() = default;
  virtual repl::Entry next() = 0;
};

/// Entries as lines of standard input, which may be a file. A blank line may stand anywhere in one: only the
/// end of the input ends an entry that is not complete, and Ctrl-C drops it.
class EntriesOfLines : public EntryReader {
public:
  explicit EntriesOfLines(const repl::Prompt& prompt) : prompt_(prompt) {}

  repl::Entry next() override {
    std::string entry, line;
    for (;;) {
      showPrompt(!entry.empty());
      const LineKind kind = reader_.next(line);
      if (kind == LineKind::Interrupted) {
        writeOutput("\n");
        return {repl::EntryKind::Interrupted, ""};
      }
      if (kind == LineKind::End) {
        if (!isBlank(entry)) return {repl::EntryKind::Text, entry};
        if (isTerminal_) writeOutput("\n");
        return {repl::EntryKind::End, ""};
      }
      entry += line;
      if (isBlank(entry))
        entry.clear();
      else if (!prompt_.isIncomplete(entry))
        return {repl::EntryKind::Text, entry};
    }
  }

private:
  static bool isBlank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  }
  void showPrompt(bool continued) const {
    if (!isTerminal_) return;
    writeOutput(continued ? "… " : "> ");
    flushOutput();
  }

  const repl::Prompt& prompt_;
  const bool isTerminal_ = isatty(STDIN_FILENO) != 0;
  LineReader reader_;
};

/// The answer of phases of the compiler, which need a large stack.
template <class Ask>
auto asked(Ask ask) {
  decltype(ask()) answer{};
  onBigStack([&] {
    answer = ask();
    return 0;
  });
  return answer;
}

/// Entries that are edited at a terminal.
class EditedEntries : public EntryReader {
public:
  EditedEntries(const repl::Prompt& prompt, std::unique_ptr<repl::Terminal> terminal)
      : terminal_(std::move(terminal)), history_(repl::historyFile()),
        editor_(*terminal_, history_,
                {[&prompt](const std::string& text) {
                   return asked([&] { return prompt.isIncomplete(text + "\n"); });
                 },
                 [&prompt](const std::string& text, size_t cursor) {
                   return asked([&] { return prompt.complete(text, cursor); });
                 },
                 repl::coloursOf}) {}

  repl::Entry next() override {
    if (const std::optional<std::string> problem = history_.takeProblem())
      writeError("melix: " + *problem + "; entries are kept for this run only\n");
    flushOutput();
    return editor_.read("> ");
  }

private:
  const std::unique_ptr<repl::Terminal> terminal_;
  repl::History history_;
  repl::Editor editor_;
};

std::unique_ptr<EntryReader> makeReader(const repl::Prompt& prompt) {
  if (std::unique_ptr<repl::Terminal> terminal = repl::standardTerminal())
    return std::make_unique<EditedEntries>(prompt, std::move(terminal));
  return std::make_unique<EntriesOfLines>(prompt);
}

/// The exit status. The values of variables are gone afterwards.
int runEntries(session::Session& session, HostBuiltins& builtins, const CodeOptions& code) {
  repl::Prompt prompt(session, makeHost(session, builtins, code));
  const std::unique_ptr<EntryReader> reader = makeReader(prompt);
  for (;;) {
    const repl::Entry entry = reader->next();
    builtins.takeInterrupt();
    if (entry.kind == repl::EntryKind::End) break;
    if (entry.kind == repl::EntryKind::Interrupted) continue;
    // On the main thread stays only the waiting: the phases need a large stack.
    const bool goesOn = asked([&] {
      if (prompt.isCommand(entry.text)) return prompt.command(entry.text);
      prompt.enter(entry.text);
      return true;
    });
    builtins.flush();
    builtins.takeInterrupt();
    if (builtins.exited()) return builtins.exitStatus();
    if (!flushOutput()) return Failure;
    if (!goesOn) break;
  }
  return Success;
}

} // namespace

int commandRepl(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  const SessionPtr session = makeSession(invocation.code);
  char name[] = "melix";
  char* arguments[] = {name, nullptr};
  HostBuiltins builtins(session->types, 1, arguments);
  melix_leave_when_deaf();
  const int status = runEntries(*session, builtins, invocation.code);
  const char* stats = std::getenv("MELIX_STATS");
  if (stats && std::string_view(stats) == "1") melix_print_stats(builtins.task());
  return melix_end_output(status);
}

} // namespace melix::driver
