// Runs one program in one mode and compares what it prints. See README.md beside this file.
#include "harness/process.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace melix::programs {
namespace {

using harness::takePrefix;

/// A line of standard output. Of one that is near, each number may differ from the one written here by
/// `bound`, relative to that or, if it is less, to 1.
struct Line {
  std::string text;
  double bound = 0;
};

struct Program {
  std::string path;
  std::vector<std::string> options; ///< of melix, to run, build, check or show it
  std::vector<std::string> arguments;
  std::vector<Line> expected;
  std::vector<std::string> errors; ///< in standard error, in this order
  int status = 0;
  std::vector<std::string> modes; ///< empty: all

  bool hasBounds() const {
    return std::any_of(expected.begin(), expected.end(), [](const Line& l) { return l.bound > 0; });
  }
};

/// `BOUND: text`
Line nearLine(const std::string& rest) {
  const size_t colon = rest.find(": ");
  return {colon == std::string::npos ? "" : rest.substr(colon + 2), std::atof(rest.c_str())};
}

Program readProgram(const std::string& path) {
  Program program;
  program.path = path;
  for (const std::string& line : harness::splitLines(harness::readText(path))) {
    std::string rest;
    if (takePrefix(line, "// expect:", rest)) program.expected.push_back({rest});
    if (takePrefix(line, "// expect-near", rest)) program.expected.push_back(nearLine(rest));
    if (takePrefix(line, "// expect-error:", rest)) program.errors.push_back(rest);
    if (takePrefix(line, "// expect-status:", rest)) program.status = std::atoi(rest.c_str());
    if (takePrefix(line, "// args:", rest)) program.arguments = harness::splitWords(rest);
    if (takePrefix(line, "// options:", rest)) program.options = harness::splitWords(rest);
    if (takePrefix(line, "// modes:", rest)) program.modes = harness::splitWords(rest);
  }
  return program;
}

/// `melix COMMAND` with the program's options and `more`, then its file.
std::vector<std::string> commandFor(const std::string& melix, const Program& program,
                                    std::vector<std::string> more) {
  std::vector<std::string> command{melix};
  command.insert(command.end(), more.begin(), more.end());
  command.insert(command.end(), program.options.begin(), program.options.end());
  command.push_back(program.path);
  return command;
}

bool runsIn(const Program& program, const std::string& mode) {
  if (program.modes.empty()) return true;
  for (const std::string& wanted : program.modes)
    if (wanted == mode) return true;
  return false;
}

/// Runs the program as an executable of its own.
harness::ProcessResult buildAndRun(const std::string& melix, const Program& program,
                                   const std::string& scratch, const harness::ProcessOptions& options,
                                   std::vector<std::string> more = {}) {
  std::string executable = scratch + "/program";
  more.insert(more.begin(), {"build", "-o", executable});
  harness::ProcessResult built = harness::runProcess(commandFor(melix, program, more), options);
  if (built.status != 0) return built;
  std::vector<std::string> command{executable};
  command.insert(command.end(), program.arguments.begin(), program.arguments.end());
  return harness::runProcess(command, options);
}

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Writes what `melix show` says of a stage of the program to `file`, if it says it.
harness::ProcessResult show(const std::string& melix, const Program& program, const std::string& stage,
                            const std::string& file, const harness::ProcessOptions& options) {
  harness::ProcessResult shown =
      harness::runProcess(commandFor(melix, program, {"show", "--stage", stage}), options);
  if (shown.status == 0) std::ofstream(file) << shown.output;
  return shown;
}

/// Shows the program with its derivatives written out, and runs that in its place. A program cannot declare
/// what is called `Tangent[T]`, nor a case `zero`, so these have other names there.
harness::ProcessResult showAndRun(const std::string& melix, const Program& program,
                                  const std::string& scratch, const harness::ProcessOptions& options) {
  const std::string file = scratch + "/shown.mlx";
  harness::ProcessResult result = show(melix, program, "grad", file, options);
  if (result.status == 0) result = harness::runProcess({melix, "check", file}, options);
  if (result.status == 0) result = harness::runProcess({melix, "run", "--interpret", file}, options);
  for (size_t at = result.output.find("Tangent_"); at != std::string::npos;
       at = result.output.find("Tangent_", at)) {
    size_t end = result.output.find('(', at);
    result.output.replace(at, end - at, "Tangent[" + result.output.substr(at + 8, end - at - 8) + "]");
  }
  replaceAll(result.output, "Zero", "zero");
  return result;
}

/// Runs what the program is after its macros are expanded; how well it is compiled is not asked.
harness::ProcessResult expandAndRun(const std::string& melix, const Program& program,
                                    const std::string& scratch, const harness::ProcessOptions& options) {
  const std::string file = scratch + "/expanded.mlx";
  harness::ProcessResult result = show(melix, program, "expand", file, options);
  if (result.status == 0) result = harness::runProcess({melix, "run", "-O0", "--expanded", file}, options);
  return result;
}

/// `scratch` is the program's own folder for files, so that tests may run side by side.
harness::ProcessResult runIn(const std::string& melix, const std::string& mode, const Program& program,
                             const std::string& scratch) {
  harness::ProcessOptions options{
      .folder = MELIX_SOURCE_DIR,
      .environment = {{"MELIX_STATS", "1"}, {"MELIX_VERIFY", "1"}, {"TMPDIR", scratch}}};
  const bool isWhole = mode == "on_device" || mode == "on_gpu";
  if (mode == "emulated" || mode == "on_device") options.environment.push_back({"MELIX_DEVICE", "emulated"});
  if (mode == "tiled") options.environment.push_back({"MELIX_LANES", "3"});
  if (mode == "checked") options.environment.push_back({"MELIX_DEVICE", "check"});
  if (mode == "on_gpu") options.environment.push_back({"MELIX_DEVICE", "gpu"});
  if (mode == "fake_gpu") {
    options.environment.insert(options.environment.end(), {{"MELIX_DEVICE", "gpu"},
                                                           {"MELIX_DEVICE_CACHE", scratch + "/cache"},
                                                           {"LD_LIBRARY_PATH", FAKE_CUDA}});
    return buildAndRun(melix, program, scratch, options, {"--with-emulator"});
  }
  if (mode == "build") return buildAndRun(melix, program, scratch, options);
  if (mode == "shown") return showAndRun(melix, program, scratch, options);
  if (mode == "expanded") return expandAndRun(melix, program, scratch, options);
  std::vector<std::string> words{mode == "check" ? "check" : "run"};
  if (mode == "interpret") words.push_back("--interpret");
  if (mode == "unoptimised") words.push_back("-O0");
  if (isWhole) words.insert(words.end(), {"--device", "gpu"});
  std::vector<std::string> command = commandFor(melix, program, words);
  command.insert(command.end(), program.arguments.begin(), program.arguments.end());
  return harness::runProcess(command, options);
}

bool report(const Program& program, const std::string& problem) {
  std::printf("%s: %s\n", program.path.c_str(), problem.c_str());
  return false;
}

/// Where the number at `from` ends; `from` itself if there is none.
size_t endOfNumber(const std::string& text, size_t from) {
  const bool begins = std::isdigit(static_cast<unsigned char>(text[from])) || text[from] == '-';
  if (!begins || (from > 0 && std::isalnum(static_cast<unsigned char>(text[from - 1])))) return from;
  char* end = nullptr;
  std::strtod(text.c_str() + from, &end);
  return static_cast<size_t>(end - text.c_str());
}

bool isNear(const Line& wanted, const std::string& got) {
  size_t w = 0, g = 0;
  while (w < wanted.text.size() && g < got.size()) {
    const size_t wEnd = endOfNumber(wanted.text, w), gEnd = endOfNumber(got, g);
    if (wEnd > w && gEnd > g) {
      const double exact = std::atof(wanted.text.c_str() + w), value = std::atof(got.c_str() + g);
      const bool near = std::fabs(value - exact) <= wanted.bound * std::max(1.0, std::fabs(exact));
      if (!near && value != exact) return false;
      w = wEnd;
      g = gEnd;
    } else if (wanted.text[w++] != got[g++]) {
      return false;
    }
  }
  return w == wanted.text.size() && g == got.size();
}

bool checkOutput(const Program& program, const std::string& text) {
  std::vector<std::string> lines = harness::splitLines(text);
  bool passed = true;
  for (size_t i = 0; i < std::max(lines.size(), program.expected.size()); ++i) {
    const Line wanted = i < program.expected.size() ? program.expected[i] : Line{"(nothing)"};
    std::string got = i < lines.size() ? lines[i] : "(nothing)";
    if (wanted.bound > 0 ? !isNear(wanted, got) : wanted.text != got)
      passed = report(program, "line " + std::to_string(i + 1) + " of the output:\n  expected " +
                                   wanted.text + "\n  got      " + got);
  }
  return passed;
}

/// What another mode prints must be the same, also where the program itself only gives bounds. Derivatives
/// that are written out are another program.
bool checkModesAgree(const Program& program, const std::string& melix, const std::string& mode,
                     const std::string& scratch, const std::string& output) {
  if (!program.hasBounds() || mode == "run" || mode == "shown" || mode == "check") return true;
  if (runIn(melix, "run", program, scratch).output == output) return true;
  return report(program, "the output is not that of `melix run`, bit for bit");
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
    std::puts("Usage: program_runner MELIX "
              "run|unoptimised|interpret|build|emulated|on_device|fake_gpu|checked|on_gpu|check|shown|"
              "expanded FILE");
    return 2;
  }
  std::string melix = argv[1], mode = argv[2];
  Program program = readProgram(argv[3]);
  if (!runsIn(program, mode)) return 0;
  auto scratch = std::filesystem::temp_directory_path() / ("melix_program_" + std::to_string(getpid()));
  std::filesystem::create_directories(scratch);
  melix::harness::ProcessResult result = runIn(melix, mode, program, scratch);
  bool passed = mode == "check" || checkOutput(program, result.output);
  passed = checkModesAgree(program, melix, mode, scratch, result.output) && passed;
  std::filesystem::remove_all(scratch);
  passed = checkErrors(program, result.errors) && passed;
  passed = checkLiveBlocks(program, mode, result.errors) && passed;
  if (result.status != program.status)
    passed = report(program, "exit status " + std::to_string(result.status) + " instead of " +
                                 std::to_string(program.status));
  if (!passed) std::printf("---- standard error\n%s", result.errors.c_str());
  return passed ? 0 : 1;
}
