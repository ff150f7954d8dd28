#include "driver/test_child.h"

#include "driver/exit_status.h"
#include "driver/interpret.h"
#include "jit/jit.h"
#include "support/write_all.h"

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::driver {

namespace {

/// How a child ended that did not come to the end of its test; nothing if it wrote of a panic.
std::string whyEnded(int status, const std::string& output) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status)) + " ended it\n";
  const int code = WEXITSTATUS(status);
  if (code == Success) return "it called `exit(0)` before its end\n";
  const bool isTold = code == Panicked && output.find("panic: ") != std::string::npos;
  return isTold ? "" : "it ended with status " + std::to_string(code) + "\n";
}

} // namespace

bool runTestInChild(session::Session& session, const codegen::Compiled* compiled, std::string& output) {
  int ends[2], reached[2]; // what the test writes; one byte once it has come to its end
  if (pipe(ends) != 0 || pipe(reached) != 0) {
    output = "cannot make a pipe\n";
    return false;
  }
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    close(reached[0]);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    char name[] = "test";
    char* argv[] = {name, nullptr};
    std::string error;
    bool returned = false;
    int status = compiled ? jit::runProgram(*compiled, 1, argv, error, &returned)
                          : interpretProgram(session, 1, argv, &returned);
    std::fflush(nullptr);
    if (!error.empty() || (returned && status == Success && !writeAll(reached[1], "+"))) status = Failure;
    _exit(status);
  }
  close(ends[1]);
  close(reached[1]);
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(got));
  const bool ended = ::read(reached[0], buffer, 1) == 1;
  close(ends[0]);
  close(reached[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return false;
  if (!ended) output += whyEnded(status, output);
  return ended;
}

} // namespace melix::driver
