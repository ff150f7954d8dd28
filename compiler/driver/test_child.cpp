#include "driver/test_child.h"

#include "driver/interpret.h"
#include "jit/jit.h"

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::driver {

bool runTestInChild(session::Session& session, const codegen::Compiled* compiled, std::string& output) {
  int ends[2];
  if (pipe(ends) != 0) {
    output = "cannot make a pipe\n";
    return false;
  }
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    char name[] = "test";
    char* argv[] = {name, nullptr};
    std::string error;
    int status = compiled ? jit::runProgram(*compiled, 1, argv, error) : interpretProgram(session, 1, argv);
    std::fflush(nullptr);
    _exit(error.empty() ? status : 1);
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace melix::driver
