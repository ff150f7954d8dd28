#pragma once
// `melix` as a process that is fed and read through pipes.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace melix::repl {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience(20);

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// `melix` with a command line, which is fed and read through pipes.
class PipedMelix {
public:
  explicit PipedMelix(std::vector<std::string> arguments) {
    int requests[2], answers[2];
    if (pipe(requests) != 0 || pipe(answers) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      dup2(requests[0], STDIN_FILENO);
      dup2(answers[1], STDOUT_FILENO);
      for (int end : {requests[0], requests[1], answers[0], answers[1]}) close(end);
      setenv("MELIX_STATS", "1", 1);
      std::string name = "melix";
      std::vector<char*> command{name.data()};
      for (std::string& each : arguments) command.push_back(each.data());
      command.push_back(nullptr);
      execv(MELIX_BINARY_DIR "/melix", command.data());
      _exit(127);
    }
    close(requests[0]);
    close(answers[1]);
    requests_ = requests[1];
    answers_ = answers[0];
    signal(SIGPIPE, SIG_IGN);
  }
  ~PipedMelix() {
    endInput();
    endOutput();
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  void send(const std::string& lines) const {
    for (size_t at = 0; at < lines.size();) {
      const ssize_t sent = write(requests_, lines.data() + at, lines.size() - at);
      ASSERT_GT(sent, 0);
      at += static_cast<size_t>(sent);
    }
  }
  void interrupt(int signal = SIGINT) const { kill(child_, signal); }
  void endInput() {
    if (requests_ >= 0) close(requests_);
    requests_ = -1;
  }
  void endOutput() {
    if (answers_ >= 0) close(answers_);
    answers_ = -1;
  }

  /// Waits until the answers have a text.
  bool sees(const std::string& part, Clock::duration most = patience) {
    const Clock::time_point end = Clock::now() + most;
    while (!contains(all, part) && Clock::now() < end && readSome()) {
    }
    return contains(all, part);
  }
  /// The exit status, or 128 and the signal; -1 if the kernel does not end.
  int ends() {
    for (const Clock::time_point end = Clock::now() + patience; Clock::now() < end;) {
      if (answers_ >= 0) readSome();
      int status = 0;
      if (waitpid(child_, &status, WNOHANG) == child_) {
        while (answers_ >= 0 && readSome()) {
        }
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
    return -1;
  }

  std::string all; ///< answers so far

private:
  bool readSome() {
    pollfd wait{answers_, POLLIN, 0};
    if (poll(&wait, 1, 50) <= 0) return true;
    char bytes[4096];
    const ssize_t got = read(answers_, bytes, sizeof bytes);
    if (got > 0) all.append(bytes, static_cast<size_t>(got));
    return got > 0;
  }

  pid_t child_ = -1;
  int requests_ = -1, answers_ = -1;
};

} // namespace melix::repl
