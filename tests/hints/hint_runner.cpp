// Runs the cases of one .hints file: a program gets its hint, and does what is meant when it follows it. See
// README.md beside this file.
#include "harness/process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace melix::hints {
namespace {

struct Case {
  size_t line = 0; ///< of the file, from 1
  std::string hint;
  std::string before, after;         ///< the programs
  std::set<size_t> removed, marked;  ///< lines of the first program, from 1
  std::vector<std::string> expected; ///< what the second one prints
  std::vector<std::string> command{"run", "--interpret"}, options,
      arguments;                                          ///< of melix, then of the program
  std::vector<std::pair<std::string, std::string>> files; ///< names, and text of one line
};

/// Adds a line to the programs that it belongs to; false if no program has such a line.
bool addLine(Case& one, const std::string& line) {
  const char mark = line.empty() ? ' ' : line[0];
  const std::string text = line.size() > 2 ? line.substr(2) : "";
  const bool isBefore = mark == ' ' || mark == '-' || mark == '!';
  const bool isAfter = mark == ' ' || mark == '+' || mark == '!';
  if (isBefore) one.before += text + "\n";
  if (isAfter) one.after += text + "\n";
  const auto at = static_cast<size_t>(std::count(one.before.begin(), one.before.end(), '\n'));
  if (mark == '-') one.removed.insert(at);
  if (mark == '!') one.marked.insert(at);
  if (mark == '=') one.expected.push_back(text);
  return isBefore || isAfter || mark == '=';
}

/// Reads `file NAME: TEXT`.
bool addFile(Case& one, const std::string& line) {
  const size_t colon = line.find(": ");
  if (!line.starts_with("file ") || colon == std::string::npos) return false;
  one.files.emplace_back(line.substr(5, colon - 5), line.substr(colon + 2) + "\n");
  return true;
}

std::vector<Case> readCases(const std::string& path) {
  std::vector<Case> cases;
  size_t number = 0;
  for (const std::string& line : harness::splitLines(harness::readText(path))) {
    ++number;
    std::string rest;
    if (line.empty() || line[0] == '#') continue;
    if (harness::takePrefix(line, "hint:", rest)) {
      cases.push_back({});
      cases.back().line = number;
      cases.back().hint = rest;
    } else if (cases.empty()) {
      std::printf("%s:%zu: a line before the first `hint:`\n", path.c_str(), number);
      std::exit(1);
    } else if (harness::takePrefix(line, "command:", rest)) {
      cases.back().command = harness::splitWords(rest);
    } else if (harness::takePrefix(line, "options:", rest)) {
      cases.back().options = harness::splitWords(rest);
    } else if (harness::takePrefix(line, "arguments:", rest)) {
      cases.back().arguments = harness::splitWords(rest);
    } else if (!addFile(cases.back(), line) && !addLine(cases.back(), line)) {
      std::printf("%s:%zu: begins like no line of a case\n", path.c_str(), number);
      std::exit(1);
    }
  }
  return cases;
}

const std::string programName = "program.mlx";

/// Runs one of the programs in a folder of its own.
harness::ProcessResult run(const std::string& melix, const Case& one, const std::string& text) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("melix_hints_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / programName) << text;
  for (const auto& [name, content] : one.files) std::ofstream(folder / name) << content;
  std::vector<std::string> command{melix};
  command.insert(command.end(), one.command.begin(), one.command.end());
  command.insert(command.end(), one.options.begin(), one.options.end());
  command.push_back(programName);
  command.insert(command.end(), one.arguments.begin(), one.arguments.end());
  harness::ProcessResult result =
      harness::runProcess(command, {.folder = folder.string(), .environment = {}});
  std::filesystem::remove_all(folder);
  return result;
}

struct Message {
  size_t line = 0; ///< of the program; 0: there is no message
  std::string hint;
};

/// The line of the program in `program.mlx:LINE:COLUMN: KIND: …`; 0 if it is no error or warning.
size_t lineOfMessage(const std::string& text) {
  const bool isMessage =
      text.find(": error: ") != std::string::npos || text.find(": warning: ") != std::string::npos;
  if (!isMessage || !text.starts_with(programName + ":")) return 0;
  return static_cast<size_t>(std::atol(text.c_str() + programName.size() + 1));
}

Message firstMessage(const std::string& errors) {
  Message message;
  for (const std::string& text : harness::splitLines(errors)) {
    const size_t line = lineOfMessage(text);
    if (line != 0 && message.line != 0) break;
    if (line != 0) message.line = line;
    std::string rest;
    if (message.line != 0 && harness::takePrefix(text, "hint:", rest)) message.hint = rest;
  }
  return message;
}

bool report(const std::string& path, const Case& one, const std::string& problem,
            const harness::ProcessResult& result) {
  std::printf("%s:%zu: %s\n%s%s\n", path.c_str(), one.line, problem.c_str(), result.output.c_str(),
              result.errors.c_str());
  return false;
}

bool runCase(const std::string& melix, const std::string& path, const Case& one) {
  const harness::ProcessResult wrong = run(melix, one, one.before);
  const Message message = firstMessage(wrong.errors);
  if (message.hint != one.hint) return report(path, one, "the first message has another hint", wrong);
  const std::set<size_t>& places = one.marked.empty() ? one.removed : one.marked;
  if (!places.contains(message.line)) return report(path, one, "the message stands on another line", wrong);

  const harness::ProcessResult right = run(melix, one, one.after);
  if (right.status != 0 || !right.errors.empty())
    return report(path, one, "the program that follows the hint is not accepted", right);
  if (one.expected.empty() || harness::splitLines(right.output) != one.expected)
    return report(path, one, "the program that follows the hint prints something else", right);
  return true;
}

} // namespace
} // namespace melix::hints

int main(int argc, char** argv) {
  if (argc != 3) {
    std::printf("usage: %s MELIX FILE\n", argv[0]);
    return 2;
  }
  const std::string melix = std::filesystem::absolute(argv[1]);
  const std::vector<melix::hints::Case> cases = melix::hints::readCases(argv[2]);
  bool passed = !cases.empty();
  for (const melix::hints::Case& one : cases) passed &= melix::hints::runCase(melix, argv[2], one);
  return passed ? 0 : 1;
}
