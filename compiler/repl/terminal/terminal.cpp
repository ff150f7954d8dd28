#include "repl/terminal/terminal.h"

#include "support/write_all.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace melix::repl {
namespace {

constexpr std::string_view pastesOn = "\x1b[?2004h", pastesOff = "\x1b[?2004l";

termios usual{}, raw{};       ///< how the terminal was found, and how the editor wants it
volatile bool isOurs = false; ///< whether it is as the editor wants it

// These may run in a signal handler.

void restore() {
  if (!isOurs) return;
  isOurs = false;
  writeAll(STDOUT_FILENO, pastesOff);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
}

void onResize(int) {} // it ends the wait

/// Another process may have changed the terminal while this one was stopped.
void onContinue(int) {
  if (!isOurs) return;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  writeAll(STDOUT_FILENO, pastesOn);
}

void onEnd(int signal) {
  restore();
  raise(signal); // as without a handler, which is gone by now
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action{}, before{};
  if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

class StandardTerminal : public Terminal {
public:
  StandardTerminal() {
    handle(SIGWINCH, onResize, 0);
    handle(SIGCONT, onContinue, 0);
    for (int signal : {SIGTERM, SIGHUP, SIGQUIT}) handle(signal, onEnd, static_cast<int>(SA_RESETHAND));
    std::atexit(restore);
  }
  ~StandardTerminal() override { restore(); }
  StandardTerminal(const StandardTerminal&) = delete;

  std::optional<std::string> read(int milliseconds, size_t most) override {
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&wait, 1, milliseconds);
    if (ready <= 0) return ready == 0 || errno == EINTR ? std::optional(std::string()) : std::nullopt;
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, std::min(most, sizeof bytes));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::string();
    if (got <= 0) return std::nullopt;
    return std::string(bytes, static_cast<size_t>(got));
  }

  bool hasInput() override {
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    return poll(&wait, 1, 0) > 0;
  }

  void write(std::string_view bytes) override { writeAll(STDOUT_FILENO, bytes); }

  TerminalSize size() override { return terminalSize(); }

  bool hasColours() override {
    const char* without = std::getenv("NO_COLOR");
    return !without || !*without;
  }

  void begin() override {
    if (isOurs || tcgetattr(STDIN_FILENO, &usual) != 0) return;
    raw = usual;
    raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IXON | BRKINT | ISTRIP);
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    isOurs = true;
    write(pastesOn);
  }
  void end() override { restore(); }

  void suspend() override {
    restore();
    std::raise(SIGTSTP);
    begin();
  }
};

} // namespace

TerminalSize terminalSize() {
  winsize found{};
  TerminalSize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 && found.ws_row > 0)
    size = {found.ws_col, found.ws_row};
  return size;
}

std::unique_ptr<Terminal> standardTerminal() {
  const char* kind = std::getenv("TERM");
  const bool moves = kind && *kind && std::string_view(kind) != "dumb";
  if (!moves || isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return nullptr;
  return std::make_unique<StandardTerminal>();
}

} // namespace melix::repl
