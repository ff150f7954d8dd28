// Standard output that goes into a pipe: a reader sees it while the program computes, nothing is lost when a
// signal ends the program, and one that does not read keeps no program from its end.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <list>
#include <poll.h>
#include <sys/wait.h>

namespace melix::driver {
namespace {

/// How a program is started.
struct Start {
  decltype(SIG_DFL) interrupts = SIG_DFL;
  bool waits = true; ///< its output is a file that waits for the reader
};

/// A program that is being run, and what it has written so far.
class Running {
public:
  Running(const Running&) = delete;
  explicit Running(const std::string& command, Start start = {}) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4096); // soon full
    if (!start.waits) fcntl(ends[1], F_SETFL, O_NONBLOCK);
    into_ = fcntl(ends[1], F_DUPFD_CLOEXEC, 0);
    child_ = fork();
    if (child_ == 0) {
      signal(SIGINT, start.interrupts);
      dup2(ends[1], 1);
      close(ends[0]);
      close(ends[1]);
      execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ~Running() {
    close(from_);
    closeInto();
    if (child_ > 0) kill(child_, SIGKILL);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }

  /// Waits until so much is written.
  void readUntil(size_t length) {
    pollfd waiting{from_, POLLIN, 0};
    while (written.size() < length && poll(&waiting, 1, 20'000) == 1 && readSome()) {
    }
  }
  /// Waits until it can write no more.
  void waitUntilFull() {
    for (pollfd room{into_, POLLOUT, 0}; poll(&room, 1, 0) == 1;) poll(nullptr, 0, 1);
  }
  void send(int number) { kill(child_, number); }
  /// The status with which a signal (0: none) ends it, after the rest is read.
  int endBy(int number) {
    send(number);
    closeInto();
    pollfd waiting{from_, POLLIN, 0};
    while (poll(&waiting, 1, 20'000) == 1 && readSome()) {
    }
    return end();
  }
  void sendWhenFull(int number) {
    waitUntilFull();
    send(number);
  }

  /// Whether nobody can write to it any more.
  bool isAtEnd() {
    pollfd waiting{from_, POLLIN, 0};
    char byte;
    return poll(&waiting, 1, 0) == 1 && read(from_, &byte, 1) == 0;
  }

  /// Its status; -1 if it does not end.
  int end() {
    int status = 0;
    for (int waited = 0; waited < 20'000; ++waited) {
      if (waitpid(child_, &status, WNOHANG) == child_) {
        child_ = -1;
        return status;
      }
      poll(nullptr, 0, 1);
    }
    return -1;
  }

  std::string written;

private:
  bool readSome() {
    char buffer[4096];
    const ssize_t n = read(from_, buffer, sizeof buffer);
    if (n > 0) written.append(buffer, static_cast<size_t>(n));
    return n > 0;
  }
  void closeInto() {
    if (into_ >= 0) close(std::exchange(into_, -1));
  }
  int from_ = -1, into_ = -1;
  pid_t child_ = -1;
};

class Output : public testing::TestWithParam<const char*> {
protected:
  /// The command that runs a program in one of the ways there are; an executable is made by `build`.
  std::string commandOf(const std::string& code) const {
    const std::string melixCommand = MELIX_BINARY_DIR "/melix ", mode = GetParam();
    if (mode != "build") return melixCommand + mode + " -e '" + code + "'";
    EXPECT_EQ(melix("build -e '" + code + "' -o " + made_).status, 0);
    return made_;
  }
  void TearDown() override { unlink(made_.c_str()); }

  const std::string made_ = "/tmp/melix_output_" + std::to_string(getpid());
};

constexpr char counting[] = "var k = 0\nwhile k >= 0 { print(k); k += 1 }";

bool endedBy(int status, int number) {
  return status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == number;
}

TEST_P(Output, ALineIsSeenWhileTheProgramComputes) {
  Running program(commandOf("print(\"first\")\nvar k = 0\nwhile k >= 0 { k = (k + 1) % 7 }"));
  program.readUntil(6);
  EXPECT_EQ(program.written, "first\n");
  EXPECT_TRUE(endedBy(program.endBy(SIGTERM), SIGTERM));
}

TEST_P(Output, ASignalThatEndsTheProgramLosesNothing) {
  Running program(commandOf(counting));
  program.readUntil(100'000);
  EXPECT_TRUE(endedBy(program.endBy(SIGTERM), SIGTERM));
  EXPECT_TRUE(program.written.ends_with('\n')) << program.written.substr(program.written.size() - 20);
  int expected = 0;
  for (const std::string& line : harness::splitLines(program.written)) {
    ASSERT_EQ(line, std::to_string(expected));
    ++expected;
  }
}

// The program waits for the reader in the one, the thread that writes what has waited in the other.
constexpr char printsOnce[] = "let line = \"text\"\nvar all = \"\"\n"
                              "for i in 0..2000 { all = all + line }\nprint(all)\n"
                              "var k = 0\nwhile k >= 0 { k = (k + 1) % 7 }";

TEST_P(Output, ASignalEndsAProgramWhoseReaderDoesNotRead) {
  for (const char* code : {counting, printsOnce}) {
    const std::string command = commandOf(code);
    constexpr int numbers[] = {SIGTERM, SIGHUP, SIGXCPU, SIGINT};
    std::list<Running> programs; // each waits a while for its reader: all of them at once
    for (int number : numbers) programs.emplace_back(command).sendWhenFull(number);
    for (int number : numbers) {
      const int status = programs.front().end();
      programs.pop_front();
      const bool byInterrupt = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 130;
      EXPECT_TRUE(number == SIGINT ? byInterrupt : endedBy(status, number)) << number << status << code;
    }
  }
}

#ifndef MELIX_SANITIZE
TEST_P(Output, ASignalOfACrashEndsTheProgramAlsoFromOutside) {
  const std::string command = commandOf(counting);
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGABRT}) {
    Running program(command);
    program.readUntil(20'000);
    EXPECT_TRUE(endedBy(program.endBy(number), number)) << number;
  }
}
#endif

TEST_P(Output, AnInterruptThatIsIgnoredAtTheStartStaysSo) {
  Running program(commandOf(counting), {.interrupts = SIG_IGN});
  program.readUntil(20'000);
  program.send(SIGINT);
  const size_t more = program.written.size() + 1'000'000;
  program.readUntil(more);
  EXPECT_GE(program.written.size(), more);
  EXPECT_TRUE(endedBy(program.endBy(SIGTERM), SIGTERM));
}

TEST_P(Output, AFileThatDoesNotWaitForItsReaderIsWaitedFor) {
  Running program(commandOf("for i in 0..30000 { print(i) }"), {.waits = false});
  program.waitUntilFull();
  EXPECT_EQ(program.endBy(0), 0);
  EXPECT_TRUE(program.written.ends_with("\n29998\n29999\n"));
}

TEST(Orphans, AProcessThatIsKilledLeavesNoTestBehind) {
  const std::string name = "/tmp/melix_orphan_" + std::to_string(getpid()), file = name + ".mlx";
  std::ofstream(file) << "use files\ntest \"endless\" {\n  let _ = files.write(\"" << name
                      << "\", \"begun\")\n  var k = 0\n  while k >= 0 { k = (k + 1) % 7 }\n}\n";
  Running tests(MELIX_BINARY_DIR "/melix test " + file + " 9>&1"); // which whoever is left holds open
  for (int waited = 0; !std::filesystem::exists(name) && waited < 20'000; ++waited) poll(nullptr, 0, 1);
  EXPECT_TRUE(std::filesystem::exists(name));
  EXPECT_TRUE(endedBy(tests.endBy(SIGTERM), SIGTERM));
  EXPECT_TRUE(tests.isAtEnd());
  std::filesystem::remove(file);
  std::filesystem::remove(name);
}

INSTANTIATE_TEST_SUITE_P(Modes, Output, testing::Values("run", "run -O0", "run --interpret", "build"),
                         [](const auto& mode) {
                           const std::string name = mode.param;
                           return name == "run"       ? "run"
                                  : name == "run -O0" ? "unoptimised"
                                  : name == "build"   ? "build"
                                                      : "interpret";
                         });

} // namespace
} // namespace melix::driver
