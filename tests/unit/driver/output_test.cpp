// Standard output that goes into a pipe: a reader sees it while the program computes, and nothing is lost
// when a signal ends the program.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <poll.h>
#include <sys/wait.h>

namespace melix::driver {
namespace {

/// A program that is being run, and what it has written so far.
class Running {
public:
  explicit Running(const std::string& command) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) {
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
    if (child_ > 0) kill(child_, SIGKILL);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }

  /// Waits until so much is written.
  void readUntil(size_t length) {
    pollfd waiting{from_, POLLIN, 0};
    while (written.size() < length && poll(&waiting, 1, 20'000) == 1 && readSome()) {
    }
  }
  /// The status with which a signal ends it, after the rest is read.
  int endBy(int number) {
    kill(child_, number);
    while (readSome()) {
    }
    int status = 0;
    waitpid(std::exchange(child_, -1), &status, 0);
    return status;
  }

  std::string written;

private:
  bool readSome() {
    char buffer[4096];
    const ssize_t n = read(from_, buffer, sizeof buffer);
    if (n > 0) written.append(buffer, static_cast<size_t>(n));
    return n > 0;
  }

  int from_ = -1;
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

TEST_P(Output, ALineIsSeenWhileTheProgramComputes) {
  Running program(commandOf("print(\"first\")\nvar k = 0\nwhile k >= 0 { k = (k + 1) % 7 }"));
  program.readUntil(6);
  EXPECT_EQ(program.written, "first\n");
  const int status = program.endBy(SIGTERM);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST_P(Output, ASignalThatEndsTheProgramLosesNothing) {
  Running program(commandOf("var k = 0\nwhile k >= 0 { print(k); k += 1 }"));
  program.readUntil(100'000);
  const int status = program.endBy(SIGTERM);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_TRUE(program.written.ends_with('\n')) << program.written.substr(program.written.size() - 20);
  int expected = 0;
  for (const std::string& line : harness::splitLines(program.written)) {
    ASSERT_EQ(line, std::to_string(expected));
    ++expected;
  }
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
