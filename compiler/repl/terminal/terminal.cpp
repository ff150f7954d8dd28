#include "repl/terminal/terminal.h"

#include "support/write_all.h"

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

termios usual{};              ///< how the terminal was found
volatile bool isOurs = false; ///< whether it differs from that

void restore() {
  if (!isOurs) return;
  isOurs = false;
  writeAll(STDOUT_FILENO, pastesOff);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
}

void onResize(int) {} // it ends the wait

class StandardTerminal : public Terminal {
public:
  StandardTerminal() {
    struct sigaction action{};
    action.sa_handler = onResize;
    sigaction(SIGWINCH, &action, nullptr);
    std::atexit(restore);
  }
  ~StandardTerminal() override { restore(); }
  StandardTerminal(const StandardTerminal&) = delete;

  std::optional<std::string> read(int milliseconds) override {
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&wait, 1, milliseconds);
    if (ready <= 0) return ready == 0 || errno == EINTR ? std::optional(std::string()) : std::nullopt;
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::string();
    if (got <= 0) return std::nullopt;
    return std::string(bytes, static_cast<size_t>(got));
  }

  void write(std::string_view bytes) override { writeAll(STDOUT_FILENO, bytes); }

  TerminalSize size() override { return terminalSize(); }

  bool hasColours() override {
    const char* without = std::getenv("NO_COLOR");
    return !without || !*without;
  }

  void begin() override {
    if (isOurs || tcgetattr(STDIN_FILENO, &usual) != 0) return;
    termios raw = usual;
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
