#include "driver/child.h"

#include "driver/exit_status.h"
#include "support/write_all.h"

#include "melix/abi.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::driver {

namespace {

using Clock = std::chrono::steady_clock;

// Of a long output its begin and its end are kept.
constexpr size_t longestBegin = size_t(1) << 20;
constexpr size_t longestEnd = size_t(1) << 16;

/// How a child ended that did not come to the end of its work; nothing if it wrote of a panic.
std::string whyEnded(int status, const std::string& output) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status)) + " ended it\n";
  const int code = WEXITSTATUS(status);
  if (code == Success) return "it called `exit(0)` before its end\n";
  const bool isTold = code == Panicked && output.find("panic: ") != std::string::npos;
  return isTold ? "" : "it ended with status " + std::to_string(code) + "\n";
}

/// Does not outlive the parent, which alone can stop it.
[[noreturn]] void beChild(ChildWork work, pid_t parent, int outputEnd, int toldEnd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(Failure);
  melix_after_fork();
  dup2(outputEnd, 1);
  dup2(outputEnd, 2);
  std::optional<std::string> told;
  int status = work(told);
  std::fflush(nullptr);
  if (told && !writeAll(toldEnd, "+" + *told)) status = Failure;
  _exit(status);
}

/// Reads what a child writes, up to the end or a point in time; false: it has not ended by then.
class OutputReader {
public:
  explicit OutputReader(int descriptor) : descriptor_(descriptor) {}

  bool readUntil(Clock::time_point end) {
    for (;;) {
      const double left = std::chrono::duration<double, std::milli>(end - Clock::now()).count();
      if (left <= 0) return false;
      pollfd output{descriptor_, POLLIN, 0};
      const int ready = poll(&output, 1, static_cast<int>(std::min(std::ceil(left), 1e6)));
      if (ready < 0 && errno != EINTR) return true;
      if (ready > 0 && !readSome()) return true;
    }
  }

  std::string take() {
    shortenEnd(longestEnd);
    if (dropped_ > 0) begin_ += "\n… " + std::to_string(dropped_) + " bytes …\n";
    return begin_ + end_;
  }

private:
  bool readSome() {
    char buffer[65536];
    const ssize_t got = ::read(descriptor_, buffer, sizeof buffer);
    if (got <= 0) return got < 0 && errno == EINTR;
    const size_t first = std::min(static_cast<size_t>(got), longestBegin - begin_.size());
    begin_.append(buffer, first);
    end_.append(buffer + first, static_cast<size_t>(got) - first);
    if (end_.size() > 4 * longestEnd) shortenEnd(longestEnd);
    return true;
  }

  /// Leaves the last lines, as many as fit.
  void shortenEnd(size_t longest) {
    if (end_.size() <= longest) return;
    const size_t line = end_.find('\n', end_.size() - longest);
    const size_t at = line == std::string::npos ? end_.size() - longest : line + 1;
    dropped_ += at;
    end_.erase(0, at);
  }

  int descriptor_;
  std::string begin_, end_;
  size_t dropped_ = 0; ///< bytes between them
};

/// Reads to the end of a child. One that takes too long is asked to end, which it may use to write what it
/// has buffered, and then made to. Returns whether it took too long.
bool readOrStop(OutputReader& reader, pid_t child, double seconds) {
  auto after = [](double s) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  constexpr double forever = 1e9;
  if (reader.readUntil(after(seconds > 0 ? seconds : forever))) return false;
  kill(child, SIGTERM);
  if (reader.readUntil(after(1))) return true;
  kill(child, SIGKILL);
  reader.readUntil(after(forever));
  return true;
}

std::string readToEnd(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

} // namespace

ChildEnd runInChild(ChildWork work, double seconds) {
  ChildEnd end;
  int output[2], told[2];
  if (pipe(output) != 0 || pipe(told) != 0) {
    end.output = "cannot make a pipe\n";
    return end;
  }
  std::fflush(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(output[0]);
    close(told[0]);
    beChild(work, parent, output[1], told[1]);
  }
  close(output[1]);
  close(told[1]);
  OutputReader reader(output[0]);
  const bool isLate = child > 0 && readOrStop(reader, child, seconds);
  const std::string message = readToEnd(told[0]);
  close(output[0]);
  close(told[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) {
    end.output = "cannot make a process\n";
    return end;
  }
  end.output = reader.take();
  end.returned = !message.empty();
  if (end.returned)
    end.told = message.substr(1);
  else
    end.output +=
        isLate ? "it was stopped after " + secondsText(seconds) + "\n" : whyEnded(status, end.output);
  return end;
}

} // namespace melix::driver
