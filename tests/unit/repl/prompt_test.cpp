// The prompt in a terminal: keys are typed through a pseudo-terminal, and a model of a screen shows what they
// make.
#include "repl/screen_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace melix::repl {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// `melix repl` in a terminal of its own.
class PromptInTerminal : public testing::Test {
protected:
  PromptInTerminal() : screen(60, 16) {
    fs::create_directories(folder_);
    history = folder_ / "history";
  }
  ~PromptInTerminal() override {
    stop();
    fs::remove_all(folder_);
  }

  void start(const char* kind = "xterm") {
    stop();
    winsize size{16, 60, 0, 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      setenv("TERM", kind, 1);
      setenv("MELIX_HISTORY", history.c_str(), 1);
      unsetenv("NO_COLOR");
      if (chdir(folder_.c_str()) == 0) execl(MELIX_BINARY_DIR "/melix", "melix", "repl", nullptr);
      _exit(127);
    }
    ASSERT_TRUE(sees(">"));
  }

  void type(const std::string& keys) const {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  /// Waits until the screen has a text; false if it has none after that time.
  bool sees(const std::string& text, std::chrono::milliseconds patience = std::chrono::seconds(10)) {
    const Clock::time_point end = Clock::now() + patience;
    while (screen.text().find(text) == std::string::npos) {
      if (Clock::now() > end || !readSome()) return screen.text().find(text) != std::string::npos;
    }
    return true;
  }

  /// The exit status; -1 if the prompt does not end.
  int ends() {
    for (const Clock::time_point end = Clock::now() + std::chrono::seconds(10); Clock::now() < end;) {
      readSome();
      int status = 0;
      if (waitpid(child_, &status, WNOHANG) == child_) {
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      }
    }
    return -1;
  }

  /// Whether the terminal gives whole lines, as it does usually.
  bool readsLines() const {
    termios found{};
    return tcgetattr(terminal_, &found) == 0 && (found.c_lflag & ICANON) != 0;
  }

  /// Whether the prompt ends by a signal that is sent to it.
  bool endsBy(int signal) {
    kill(child_, signal);
    for (const Clock::time_point end = Clock::now() + std::chrono::seconds(10); Clock::now() < end;) {
      readSome();
      int status = 0;
      if (waitpid(child_, &status, WNOHANG) != child_) continue;
      child_ = -1;
      return WIFSIGNALED(status) && WTERMSIG(status) == signal;
    }
    return false;
  }

  void resize(unsigned short columns) {
    screen.resize(columns);
    winsize size{16, columns, 0, 0};
    ioctl(terminal_, TIOCSWINSZ, &size);
  }

  ScreenModel screen;
  std::string written; ///< all bytes
  fs::path history;

private:
  bool readSome() {
    pollfd wait{terminal_, POLLIN, 0};
    if (poll(&wait, 1, 50) <= 0) return true;
    char bytes[4096];
    const ssize_t got = read(terminal_, bytes, sizeof bytes);
    if (got <= 0) return false;
    written.append(bytes, static_cast<size_t>(got));
    screen.write(std::string_view(bytes, static_cast<size_t>(got)));
    return true;
  }
  void stop() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    if (terminal_ >= 0) close(terminal_);
    child_ = -1;
    terminal_ = -1;
    screen = ScreenModel(60, 16);
    written.clear();
  }

  const fs::path folder_ = fs::temp_directory_path() / ("melix_prompt_" + std::to_string(getpid()));
  pid_t child_ = -1;
  int terminal_ = -1;
};

const std::string up = "\x1b[A", left = "\x1b[D";

TEST_F(PromptInTerminal, EditsAndAnswers) {
  start();
  type("1 + 3" + left + "2\r");
  EXPECT_TRUE(sees("> 1 + 23\n24\n>")) << screen.text();
  type("let s = \"a(\" // b\r");
  EXPECT_TRUE(sees("// b\n>")) << screen.text();
  EXPECT_TRUE(screen.unknown().empty()) << screen.unknown()[0];
  EXPECT_NE(written.find("\x1b[1;34mlet"), std::string::npos) << "a keyword has a colour";
  type("\x04");
  EXPECT_EQ(ends(), 0);
}

TEST_F(PromptInTerminal, EntriesOfSeveralLinesComeBackInTheNextRun) {
  start();
  type("fn f(x: int) -> int {\rx + 1\r}\rf(2)\r");
  EXPECT_TRUE(sees("> f(2)\n3\n>")) << screen.text();
  type("\x04");
  EXPECT_EQ(ends(), 0);
  start();
  type(up + up);
  EXPECT_TRUE(sees("> fn f(x: int) -> int {\n… x + 1\n… }")) << screen.text();
  type("\r\x12"
       "(2\r");
  EXPECT_TRUE(sees("> f(2)\n3\n>")) << screen.text();
}

TEST_F(PromptInTerminal, CompletesNamesFieldsAndFiles) {
  start();
  std::ofstream(history.parent_path() / "numbers.csv") << "1,2\n";
  type("struct Person { age: int, height: f64 }\rlet ann = Person(3, 1.5)\r");
  ASSERT_TRUE(sees("1.5)\n>")) << screen.text();
  type("ann.h\t\r");
  EXPECT_TRUE(sees("> ann.height\n1.5\n>")) << screen.text();
  type("Per\t(1, 2).ag\x17Per\t");
  EXPECT_TRUE(sees("> Person")) << screen.text();
  type("\x03");
  type("use csv\rlet t = csv.read(\"num\t\")\r");
  EXPECT_TRUE(sees("\"numbers.csv\"")) << screen.text();
  type("eigen_nothing\t\x03");
  type("flatt\t");
  EXPECT_TRUE(sees("flatten")) << screen.text();
}

TEST_F(PromptInTerminal, CtrlCDropsAnEntryAndEndsWhatRuns) {
  start();
  type("1 +\x03");
  type("5\r");
  EXPECT_TRUE(sees("> 1 +\n> 5\n5\n>")) << screen.text();
  type("var n = 0\rloop { n += 1 }\r");
  ASSERT_TRUE(sees("loop { n += 1 }")) << screen.text();
  // On a busy machine it may not run yet.
  bool isInterrupted = false;
  for (int attempt = 0; attempt < 20 && !isInterrupted; ++attempt) {
    usleep(300'000);
    type("\x03");
    isInterrupted = sees("interrupted", std::chrono::seconds(1));
  }
  EXPECT_TRUE(isInterrupted) << screen.text();
  type("n\r");
  EXPECT_TRUE(sees("> n\n0\n>")) << screen.text();
}

TEST_F(PromptInTerminal, APasteWaitsForEnter) {
  start();
  type("\x1b[200~let a = 1\rlet b = 2\ra + b\x1b[201~");
  EXPECT_TRUE(sees("> let a = 1\n… let b = 2\n… a + b")) << screen.text();
  type("\r");
  EXPECT_TRUE(sees("… a + b\n3\n>")) << screen.text();
}

TEST_F(PromptInTerminal, AWindowIsResized) {
  start();
  type("let abcdefghijkl = 123456789 + 123456789");
  EXPECT_TRUE(sees("+ 123456789")) << screen.text();
  resize(80);
  type("0\r");
  EXPECT_TRUE(sees("> let abcdefghijkl = 123456789 + 1234567890\n>")) << screen.text();
}

TEST_F(PromptInTerminal, APasteWithoutAnEndIsNotWaitedFor) {
  start();
  type("\x1b[200~let a = 1");
  EXPECT_TRUE(sees("> let a = 1")) << screen.text();
  type("\ra\r");
  EXPECT_TRUE(sees("> a\n1\n>")) << screen.text();
}

TEST_F(PromptInTerminal, OutputThatDidNotEndItsLineStays) {
  start();
  type("write(\"abc\")\r");
  EXPECT_TRUE(sees("\nabc\n>")) << screen.text();
}

TEST_F(PromptInTerminal, LinesTypedAheadAreTheNextEntries) {
  start();
  type("let a = 4\ra + 1\ra + 2\r");
  EXPECT_TRUE(sees("> a + 1\n5\n> a + 2\n6\n>")) << screen.text();
}

TEST_F(PromptInTerminal, AnEndedPromptLeavesTheTerminalAsItWas) {
  for (int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
    start();
    EXPECT_FALSE(readsLines()) << "keys come one by one";
    EXPECT_TRUE(endsBy(signal)) << signal;
    EXPECT_TRUE(readsLines()) << signal;
    EXPECT_NE(written.find("\x1b[?2004l"), std::string::npos);
  }
}

TEST_F(PromptInTerminal, ADumbTerminalGetsNoEscapeCode) {
  start("dumb");
  type("1 + 2\n");
  EXPECT_TRUE(sees("1 + 2\n3\n>")) << screen.text();
  EXPECT_EQ(written.find('\x1b'), std::string::npos);
}

TEST_F(PromptInTerminal, AHistoryThatIsAFolderIsTold) {
  history = history.parent_path();
  start();
  EXPECT_TRUE(sees("cannot read the history")) << screen.text();
  type("1\r");
  EXPECT_TRUE(sees("> 1\n1\n>")) << screen.text();
}

TEST_F(PromptInTerminal, AskedForALineAProgramHasTheTerminal) {
  start();
  type("let a = read_line()\r");
  ASSERT_TRUE(sees("read_line()")) << screen.text();
  usleep(300'000);
  type("hello\n");
  EXPECT_TRUE(sees("hello\n>")) << screen.text();
  type("a\r");
  EXPECT_TRUE(sees("Some(\"hello\")")) << screen.text();
}

} // namespace
} // namespace melix::repl
