#include "fuzz/programs/child.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::fuzz::programs {

namespace {

#ifdef MELIX_SANITIZE
constexpr unsigned secondsOfRun = 120; // of processor time
#else
constexpr unsigned secondsOfRun = 15;
#endif
constexpr unsigned waitsForEach = 8; ///< seconds that pass for one of processor time, on a busy machine

/// A file without a name, for what a process writes.
class Collected {
public:
  explicit Collected(const char* name) : file_(memfd_create(name, 0)) {}
  ~Collected() { close(file_); }
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;
  void takePlaceOf(int file) const { dup2(file_, file); }
  std::string text() const {
    std::string out(static_cast<size_t>(lseek(file_, 0, SEEK_END)), '\0');
    lseek(file_, 0, SEEK_SET);
    size_t done = 0;
    while (done < out.size()) {
      ssize_t got = read(file_, out.data() + done, out.size() - done);
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    return out;
  }

private:
  int file_;
};

[[noreturn]] void childWork(const std::function<int()>& work, const Collected& output,
                            const Collected& errors, bool startsOthers) {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF}) std::signal(signal, SIG_DFL);
  rlimit none{0, 0}, time{secondsOfRun, secondsOfRun};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &time);
  if (!startsOthers) alarm(secondsOfRun * waitsForEach);
  output.takePlaceOf(STDOUT_FILENO);
  errors.takePlaceOf(STDERR_FILENO);
  int status = work();
  std::fflush(nullptr);
  _exit(status);
}

} // namespace

Outcome inChild(const std::string& way, const std::function<int()>& work, bool startsOthers) {
  Outcome out;
  out.way = way;
  Collected output("output"), errors("errors");
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) childWork(work, output, errors, startsOthers);
  int status = 0;
  waitpid(child, &status, 0);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  for (int signal : {SIGXCPU, SIGKILL, SIGALRM})
    if (WIFSIGNALED(status) && WTERMSIG(status) == signal) out.slow = true;
  out.output = output.text();
  out.errors = errors.text();
  return out;
}

} // namespace melix::fuzz::programs
