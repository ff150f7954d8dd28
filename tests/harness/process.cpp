#include "harness/process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::harness {
namespace {

/// Reads two pipes to their ends; a program may fill either while we wait for the other.
void collect(int outputEnd, int errorEnd, ProcessResult& result) {
  pollfd ends[] = {{outputEnd, POLLIN, 0}, {errorEnd, POLLIN, 0}};
  std::string* texts[] = {&result.output, &result.errors};
  for (int open = 2; open > 0;) {
    if (poll(ends, 2, -1) < 0 && errno != EINTR) return;
    for (int i = 0; i < 2; ++i) {
      if (ends[i].fd < 0 || !ends[i].revents) continue;
      char buffer[65536];
      ssize_t got = read(ends[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, static_cast<size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        ends[i].fd = -1;
        --open;
      }
    }
  }
}

[[noreturn]] void becomeProgram(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  if (options.folder.empty() || chdir(options.folder.c_str()) == 0) execv(argv[0], argv.data());
  _exit(127);
}

} // namespace

ProcessResult runProcess(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  ProcessResult result;
  int output[2], errors[2];
  if (pipe(output) != 0 || pipe(errors) != 0) return result;
  pid_t child = fork();
  if (child == 0) {
    dup2(output[1], STDOUT_FILENO);
    dup2(errors[1], STDERR_FILENO);
    for (int end : {output[0], output[1], errors[0], errors[1]}) close(end);
    becomeProgram(arguments, options);
  }
  close(output[1]);
  close(errors[1]);
  collect(output[0], errors[0], result);
  close(output[0]);
  close(errors[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child)
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::vector<std::string> splitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> splitWords(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string readText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool takePrefix(const std::string& line, const std::string& prefix, std::string& rest) {
  size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos || line.compare(start, prefix.size(), prefix) != 0) return false;
  rest = line.substr(start + prefix.size());
  if (!rest.empty() && rest[0] == ' ') rest.erase(0, 1);
  return true;
}

} // namespace melix::harness
