// Runs one program in one mode and compares what it prints. See README.md beside this file.
#include "harness/process.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace melix::programs {
namespace {

using harness::takePrefix;

struct Program {
  std::string path;
  std::vector<std::string> arguments;
  std::vector<std::string> expected; ///< the lines of standard output
  std::vector<std::string> errors;   ///< in standard error, in this order
  int status = 0;
  std::vector<std::string> modes; ///< empty: all
};

Program readProgram(const std::string& path) {
  Program program;
  program.path = path;
  for (const std::string& line : harness::splitLines(harness::readText(path))) {
    std::string rest;
    if (takePrefix(line, "// expect:", rest)) program.expected.push_back(rest);
    if (takePrefix(line, "// expect-error:", rest)) program.errors.push_back(rest);
    if (takePrefix(line, "// expect-status:", rest)) program.status = std::atoi(rest.c_str());
    if (takePrefix(line, "// args:", rest)) program.arguments = harness::splitWords(rest);
    if (takePrefix(line, "// modes:", rest)) program.modes = harness::splitWords(rest);
  }
  return program;
}

bool runsIn(const Program& program, const std::string& mode) {
  if (program.modes.empty()) return true;
  for (const std::string& wanted : program.modes)
    if (wanted == mode) return true;
  return false;
}

/// Runs the program as an executable of its own.
harness::ProcessResult buildAndRun(const std::string& melix, const Program& program,
                                   const std::string& scratch, const harness::ProcessOptions& options) {
  std::string executable = scratch + "/program";
  harness::ProcessResult built =
      harness::runProcess({melix, "build", program.path, "-o", executable}, options);
  if (built.status != 0) return built;
  std::vector<std::string> command{executable};
  command.insert(command.end(), program.arguments.begin(), program.arguments.end());
  return harness::runProcess(command, options);
}

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Shows the program with its derivatives written out, and runs that in its place. A program cannot declare
/// what is called `Tangent[T]`, nor a case `zero`, so these have other names there.
harness::ProcessResult showAndRun(const std::string& melix, const Program& program,
                                  const std::string& scratch, const harness::ProcessOptions& options) {
  harness::ProcessResult shown =
      harness::runProcess({melix, "show", "--stage", "grad", program.path}, options);
  if (shown.status != 0) return shown;
  std::string file = scratch + "/shown.mlx";
  std::ofstream(file) << shown.output;
  harness::ProcessResult result = harness::runProcess({melix, "check", file}, options);
  if (result.status == 0) result = harness::runProcess({melix, "run", "--interpret", file}, options);
  for (size_t at = result.output.find("Tangent_"); at != std::string::npos;
       at = result.output.find("Tangent_", at)) {
    size_t end = result.output.find('(', at);
    result.output.replace(at, end - at, "Tangent[" + result.output.substr(at + 8, end - at - 8) + "]");
  }
  replaceAll(result.output, "Zero", "zero");
  return result;
}

/// `scratch` is the program's own folder for files, so that tests may run side by side.
harness::ProcessResult runIn(const std::string& melix, const std::string& mode, const Program& program,
                             const std::string& scratch) {
  harness::ProcessOptions options{
      .folder = MELIX_SOURCE_DIR,
      .environment = {{"MELIX_STATS", "1"}, {"MELIX_VERIFY", "1"}, {"TMPDIR", scratch}}};
  if (mode == "build") return buildAndRun(melix, program, scratch, options);
  if (mode == "shown") return showAndRun(melix, program, scratch, options);
  std::vector<std::string> command{melix, mode == "check" ? "check" : "run"};
  if (mode == "interpret") command.push_back("--interpret");
  if (mode == "unoptimised") command.push_back("-O0");
  command.push_back(program.path);
  command.insert(command.end(), program.arguments.begin(), program.arguments.end());
  return harness::runProcess(command, options);
}

bool report(const Program& program, const std::string& problem) {
  std::printf("%s: %s\n", program.path.c_str(), problem.c_str());
  return false;
}

bool checkOutput(const Program& program, const std::string& text) {
  std::vector<std::string> lines = harness::splitLines(text);
  bool passed = true;
  for (size_t i = 0; i < std::max(lines.size(), program.expected.size()); ++i) {
    std::string wanted = i < program.expected.size() ? program.expected[i] : "(nothing)";
    std::string got = i < lines.size() ? lines[i] : "(nothing)";
    if (wanted != got)
      passed = report(program, "line " + std::to_string(i + 1) + " of the output:\n  expected " + wanted +
                                   "\n  got      " + got);
  }
  return passed;
}

bool checkErrors(const Program& program, const std::string& text) {
  size_t from = 0;
  for (const std::string& wanted : program.errors) {
    size_t found = text.find(wanted, from);
    if (found == std::string::npos) return report(program, "standard error lacks `" + wanted + "`");
    from = found + wanted.size();
  }
  return true;
}

/// Compiled programs say with MELIX_STATS=1 how many blocks live at their end; it must be none.
bool checkLiveBlocks(const Program& program, const std::string& mode, const std::string& text) {
  if (mode == "interpret" || mode == "shown" || mode == "check" || program.status == 2) return true;
  if (text.find("melix: live blocks 0,") != std::string::npos) return true;
  return report(program, "blocks are left at the end of the program, or nothing tells");
}

} // namespace
} // namespace melix::programs

int main(int argc, char** argv) {
  using namespace melix::programs;
  if (argc != 4) {
    std::puts("Usage: program_runner MELIX run|unoptimised|interpret|build|check|shown FILE");
    return 2;
  }
  std::string melix = argv[1], mode = argv[2];
  Program program = readProgram(argv[3]);
  if (!runsIn(program, mode)) return 0;
  auto scratch = std::filesystem::temp_directory_path() / ("melix_program_" + std::to_string(getpid()));
  std::filesystem::create_directories(scratch);
  melix::harness::ProcessResult result = runIn(melix, mode, program, scratch);
  std::filesystem::remove_all(scratch);
  bool passed = mode == "check" || checkOutput(program, result.output);
  passed = checkErrors(program, result.errors) && passed;
  passed = checkLiveBlocks(program, mode, result.errors) && passed;
  if (result.status != program.status)
    passed = report(program, "exit status " + std::to_string(result.status) + " instead of " +
                                 std::to_string(program.status));
  if (!passed) std::printf("---- standard error\n%s", result.errors.c_str());
  return passed ? 0 : 1;
}
