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
  bool isProgram = false; ///< has any number of messages, each with its hint in `told`
  std::vector<std::pair<size_t, std::string>> told; ///< line of the first program, hint
  std::string before, after;                        ///< the programs
  std::set<size_t> removed, marked;                 ///< lines of the first program, from 1
  std::vector<std::string> expected;                ///< what the second one prints
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
  if (mark == '?') one.told.emplace_back(one.removed.empty() ? 0 : *one.removed.rbegin(), text);
  return isBefore || isAfter || mark == '=' || mark == '?';
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
    const bool isHint = harness::takePrefix(line, "hint:", rest);
    if (isHint || line == "program:") {
      cases.push_back({});
      cases.back().line = number;
      cases.back().hint = rest;
      cases.back().isProgram = !isHint;
    } else if (cases.empty()) {
      std::printf("%s:%zu: a line before the first case\n", path.c_str(), number);
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
  size_t line = 0, column = 0; ///< of the program
  std::string hint;
};

/// Reads `program.mlx:LINE:COLUMN: KIND: …`; false if it is no error or warning.
bool readPlace(const std::string& text, Message& message) {
  const bool isMessage =
      text.find(": error: ") != std::string::npos || text.find(": warning: ") != std::string::npos;
  if (!isMessage || !text.starts_with(programName + ":")) return false;
  char* end = nullptr;
  message.line = std::strtoul(text.c_str() + programName.size() + 1, &end, 10);
  message.column = *end == ':' ? std::strtoul(end + 1, nullptr, 10) : 0;
  return true;
}

std::vector<Message> messagesIn(const std::string& errors) {
  std::vector<Message> messages;
  for (const std::string& text : harness::splitLines(errors)) {
    Message message;
    if (readPlace(text, message)) messages.push_back(message);
    std::string rest;
    if (!messages.empty() && harness::takePrefix(text, "hint:", rest)) messages.back().hint = rest;
  }
  return messages;
}

bool report(const std::string& path, const Case& one, const std::string& problem,
            const harness::ProcessResult& result) {
  std::printf("%s:%zu: %s\n%s%s\n", path.c_str(), one.line, problem.c_str(), result.output.c_str(),
              result.errors.c_str());
  return false;
}

/// Why the messages of the first program are not those of the case; empty if they are.
std::string differenceOf(const Case& one, std::vector<Message> messages) {
  if (!one.isProgram) {
    if (messages.empty() || messages[0].hint != one.hint) return "the first message has another hint";
    const std::set<size_t>& places = one.marked.empty() ? one.removed : one.marked;
    return places.contains(messages[0].line) ? "" : "the message stands on another line";
  }
  std::ranges::sort(messages, {}, [](const Message& m) { return std::pair(m.line, m.column); });
  std::vector<std::pair<size_t, std::string>> told;
  for (const Message& m : messages) told.emplace_back(m.line, m.hint);
  const auto [is, should] = std::ranges::mismatch(told, one.told);
  if (is == told.end() && should == one.told.end()) return "";
  return "the messages are others, from `" + (is == told.end() ? "no message" : is->second) +
         "` on, where `" + (should == one.told.end() ? "no message" : should->second) + "` belongs";
}

bool runCase(const std::string& melix, const std::string& path, const Case& one) {
  const harness::ProcessResult wrong = run(melix, one, one.before);
  if (const std::string difference = differenceOf(one, messagesIn(wrong.errors)); !difference.empty())
    return report(path, one, difference, wrong);

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
