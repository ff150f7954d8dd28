// Loops that tell how far they are, on a terminal: whatever is printed stands in lines of its own, as if no
// bar were there.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

namespace melix::driver {
namespace {

/// Runs a program with a terminal of 72 columns as its output and errors; all that it writes there.
std::string runOnTerminal(const std::string& arguments) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 72;
  std::string name = ptsname(terminal);
  int slave = open(name.c_str(), O_RDWR | O_NOCTTY);
  ioctl(slave, TIOCSWINSZ, &size);
  pid_t child = fork();
  if (child == 0) {
    dup2(slave, 1);
    dup2(slave, 2);
    setenv("TERM", "xterm", 1);
    std::string command = "exec " MELIX_BINARY_DIR "/melix " + arguments;
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(slave);
  std::string out;
  char buffer[1024];
  for (ssize_t n; (n = read(terminal, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(terminal);
  return out;
}

/// The lines that stand on the terminal in the end.
std::vector<std::string> screenOf(const std::string& written) {
  std::vector<std::string> lines(1);
  size_t column = 0;
  for (size_t at = 0; at < written.size(); ++at) {
    if (written[at] == '\n') {
      lines.emplace_back();
    } else if (written[at] == '\r') {
      column = 0;
    } else if (written.compare(at, 3, "\033[K") == 0) {
      lines.back().resize(column);
      at += 2;
    } else {
      lines.back().resize(std::max(lines.back().size(), column + 1), ' ');
      lines.back()[column++] = written[at];
    }
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::string run(const std::string& mode, const std::string& code) {
  return runOnTerminal("run " + mode +
                       " -e 'use progress\nfn wait() { let t = clock(); while clock() - t < 0.06 {} }\n" +
                       code + "'");
}

TEST(Progress, WhatTheLoopPrintsStaysWhole) {
  for (const char* mode : {"", "--interpret"}) {
    std::string written = run(
        mode, "for i in progress(0..3, \"work\") { print(\"line {i}\"); progress.note(\"at {i}\"); wait() }");
    EXPECT_NE(written.find("work   33 %  [===="), std::string::npos) << written;
    std::vector<std::string> screen = screenOf(written);
    ASSERT_EQ(screen.size(), 4u) << written;
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(screen[k], "line " + std::to_string(k));
    EXPECT_TRUE(screen[3].starts_with("work  100 %  [====")) << screen[3];
    EXPECT_TRUE(screen[3].ends_with("at 2")) << screen[3];
    EXPECT_LT(screen[3].size(), 72u);
  }
}

TEST(Progress, ABarDoesNotBreakALineThatIsNotEnded) {
  std::string written =
      run("", "for i in progress(0..3) { write(\"{i}\"); eprint(\"e\"); wait(); write(\"!\") }");
  std::vector<std::string> screen = screenOf(written);
  ASSERT_EQ(screen.size(), 5u) << written;
  EXPECT_EQ(screen[0], "0e");
  EXPECT_EQ(screen[1], "!1e");
  EXPECT_EQ(screen[2], "!2e");
  EXPECT_EQ(screen[3], "!");
  EXPECT_TRUE(screen[4].starts_with("100 %  [====")) << screen[4];
}

TEST(Progress, ALoopThatIsLeftMakesRoom) {
  std::string code = "for i in progress(0..9, \"x\") { wait(); if i == 1 { break } }\n";
  EXPECT_EQ(screenOf(run("", code + "print(\"found\")")), std::vector<std::string>{"found"});
  std::vector<std::string> screen = screenOf(run("", code));
  ASSERT_EQ(screen.size(), 1u);
  EXPECT_TRUE(screen[0].starts_with("x   11 %  [==")) << screen[0];
}

TEST(Progress, ARangeHasATotalWhereverItGoes) {
  const std::string code =
      " -e 'use progress\nfor i in progress(reverse(0..10 step 3), \"down\") { }\n"
      "for i in progress(reverse(0..7), \"back\") { }\n"
      "for i in progress(0..10 step 4, \"up\") { }\nfor i in progress(3..1, \"none\") { }'";
  for (const char* mode : {"run", "run --interpret"}) {
    const std::string told = melix(mode + code).errors;
    for (const char* line : {"down  100 %  4/4", "back  100 %  7/7", "up  100 %  3/3", "none  100 %  0/0"})
      EXPECT_NE(told.find(line), std::string::npos) << told;
  }
}

TEST(Progress, LoopsInsideOfLoopsLeaveALineEach) {
  std::vector<std::string> screen = screenOf(
      run("", "for i in progress(0..2, \"outer\") { for _ in progress(0..2, \"inner {i}\") { wait() } }"));
  ASSERT_EQ(screen.size(), 3u);
  EXPECT_TRUE(screen[0].starts_with("inner 0  100 %")) << screen[0];
  EXPECT_TRUE(screen[1].starts_with("inner 1  100 %")) << screen[1];
  EXPECT_TRUE(screen[2].starts_with("outer  100 %")) << screen[2];
}

} // namespace
} // namespace melix::driver
