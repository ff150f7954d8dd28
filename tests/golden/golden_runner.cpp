// Runs one golden file, or rewrites its expectations. See README.md beside this file.
#include "harness/process.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace melix::golden {
namespace {

using harness::takePrefix;

enum class CheckKind { Anywhere, NextLine, Absent };

struct Check {
  CheckKind kind;
  std::string pattern;
  size_t line; ///< of the golden file, from 1
};

struct GoldenFile {
  std::filesystem::path path;
  std::vector<std::string> lines;
  std::string arguments;
  int status = 0;
  std::vector<Check> checks;
};

bool isCheckLine(const std::string& line) {
  std::string rest;
  return takePrefix(line, "// CHECK:", rest) || takePrefix(line, "// CHECK-NEXT:", rest) ||
         takePrefix(line, "// CHECK-NOT:", rest);
}

GoldenFile readGoldenFile(const std::filesystem::path& path) {
  GoldenFile golden;
  golden.path = path;
  golden.lines = harness::splitLines(harness::readText(path));
  golden.status = path.filename().string().starts_with("fail_") ? 1 : 0;
  for (size_t i = 0; i < golden.lines.size(); ++i) {
    std::string rest;
    const std::string& line = golden.lines[i];
    if (takePrefix(line, "// ARGS:", rest)) golden.arguments = rest;
    if (takePrefix(line, "// STATUS:", rest)) golden.status = std::atoi(rest.c_str());
    if (takePrefix(line, "// CHECK:", rest)) golden.checks.push_back({CheckKind::Anywhere, rest, i + 1});
    if (takePrefix(line, "// CHECK-NEXT:", rest)) golden.checks.push_back({CheckKind::NextLine, rest, i + 1});
    if (takePrefix(line, "// CHECK-NOT:", rest)) golden.checks.push_back({CheckKind::Absent, rest, i + 1});
  }
  return golden;
}

/// Runs melix in the file's folder, so that messages name the file alone. Output first, then messages.
harness::ProcessResult runMelix(const std::string& melix, const GoldenFile& golden) {
  std::vector<std::string> command{melix};
  for (std::string word : harness::splitWords(golden.arguments)) {
    if (word == "%s") word = golden.path.filename();
    command.push_back(word);
  }
  return harness::runProcess(command, {.folder = golden.path.parent_path(), .environment = {}});
}

/// Replaces `[[@LINE]]`, `[[@LINE+2]]`, `[[@LINE-1]]` by numbers.
std::string expandLineNumbers(std::string pattern, size_t line) {
  for (size_t at = pattern.find("[[@LINE"); at != std::string::npos; at = pattern.find("[[@LINE", at)) {
    size_t end = pattern.find("]]", at);
    if (end == std::string::npos) break;
    long offset = std::atol(pattern.substr(at + 7, end - at - 7).c_str());
    pattern.replace(at, end + 2 - at, std::to_string(static_cast<long>(line) + offset));
  }
  return pattern;
}

/// Whether a line holds the pieces of a pattern between `...`, in order.
bool matches(const std::string& line, const std::string& pattern) {
  size_t from = 0;
  for (size_t start = 0; start <= pattern.size();) {
    size_t end = std::min(pattern.find("...", start), pattern.size());
    std::string piece = pattern.substr(start, end - start);
    size_t found = line.find(piece, from);
    if (found == std::string::npos) return false;
    from = found + piece.size();
    start = end + 3;
  }
  return true;
}

/// The first line at or after `from` that matches, or nothing.
std::optional<size_t> findLine(const std::vector<std::string>& output, size_t from,
                               const std::string& pattern) {
  for (size_t i = from; i < output.size(); ++i)
    if (matches(output[i], pattern)) return i;
  return std::nullopt;
}

bool report(const GoldenFile& golden, size_t line, const std::string& problem) {
  std::printf("%s:%zu: %s\n", golden.path.c_str(), line, problem.c_str());
  return false;
}

bool checkOutput(const GoldenFile& golden, const std::vector<std::string>& output) {
  size_t next = 0; // the first line after the last match
  for (const Check& check : golden.checks) {
    std::string pattern = expandLineNumbers(check.pattern, check.line);
    if (check.kind == CheckKind::Absent) {
      if (auto found = findLine(output, 0, pattern))
        return report(golden, check.line,
                      "this should not be in the output, but line " + std::to_string(*found + 1) + " has it");
      continue;
    }
    bool mustFollow = check.kind == CheckKind::NextLine;
    auto found = findLine(output, next, pattern);
    if (!found) return report(golden, check.line, "no further line of the output matches `" + pattern + "`");
    if (mustFollow && *found != next)
      return report(golden, check.line, "the next line of the output does not match `" + pattern + "`");
    next = *found + 1;
  }
  return true;
}

std::vector<std::string> allLines(const harness::ProcessResult& result) {
  return harness::splitLines(result.output + result.errors);
}

bool runGoldenFile(const std::string& melix, const GoldenFile& golden) {
  if (golden.arguments.empty()) return report(golden, 1, "there is no `// ARGS:` line");
  if (golden.checks.empty()) return report(golden, 1, "there is no CHECK line");
  harness::ProcessResult result = runMelix(melix, golden);
  std::vector<std::string> output = allLines(result);
  bool passed = checkOutput(golden, output);
  if (result.status != golden.status)
    passed = report(golden, 1,
                    "exit status " + std::to_string(result.status) + " instead of " +
                        std::to_string(golden.status));
  if (!passed) {
    std::printf("---- output of melix %s\n", golden.arguments.c_str());
    for (size_t i = 0; i < output.size(); ++i) std::printf("%4zu  %s\n", i + 1, output[i].c_str());
  }
  return passed;
}

// ---- rewriting

/// The source line a message concerns: `name.mlx:12:3: …` gives 12 and cuts the line after the name.
size_t lineOfMessage(const GoldenFile& golden, const std::string& text) {
  std::string prefix = golden.path.filename().string() + ":";
  if (!text.starts_with(prefix)) return 0;
  size_t line = static_cast<size_t>(std::atol(text.c_str() + prefix.size()));
  return line <= golden.lines.size() ? line : 0;
}

std::string indentationOf(const std::string& line) {
  return line.substr(0, std::min(line.find_first_not_of(' '), line.size()));
}

/// A check below the line it concerns, with the line's number relative to its own place.
std::string messageCheck(const GoldenFile& golden, const std::string& text, size_t line, size_t linesBelow) {
  std::string name = golden.path.filename().string() + ":";
  std::string after = text.substr(text.find(':', name.size()));
  return indentationOf(golden.lines[line - 1]) + "// CHECK: " + name + "[[@LINE-" +
         std::to_string(linesBelow) + "]]" + after;
}

/// The file with its checks replaced by what the output says now. If messages about the file are in the
/// output they alone become checks, each below its line; else every line of the output does, at the end.
std::string rewrite(const GoldenFile& golden, const std::vector<std::string>& output) {
  std::vector<std::vector<std::string>> below(golden.lines.size() + 1);
  bool hasMessages = false;
  for (const std::string& text : output)
    if (size_t line = lineOfMessage(golden, text)) {
      below[line].push_back(text);
      hasMessages = true;
    }
  std::string text;
  for (size_t line = 1; line <= golden.lines.size(); ++line) {
    if (!isCheckLine(golden.lines[line - 1])) text += golden.lines[line - 1] + "\n";
    for (size_t i = 0; i < below[line].size(); ++i)
      text += messageCheck(golden, below[line][i], line, i + 1) + "\n";
  }
  if (hasMessages) return text;
  const char* keyword = "// CHECK: ";
  for (const std::string& line : output) {
    if (line.find_first_not_of(' ') == std::string::npos) {
      keyword = "// CHECK: ";
      continue;
    }
    text += keyword + line + "\n";
    keyword = "// CHECK-NEXT: ";
  }
  return text;
}

bool updateGoldenFile(const std::string& melix, const GoldenFile& golden) {
  harness::ProcessResult result = runMelix(melix, golden);
  if (result.status != golden.status)
    return report(golden, 1, "not rewritten: exit status " + std::to_string(result.status));
  std::ofstream(golden.path) << rewrite(golden, allLines(result));
  return true;
}

} // namespace
} // namespace melix::golden

int main(int argc, char** argv) {
  using namespace melix::golden;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  bool update = !arguments.empty() && arguments[0] == "--update";
  if (update) arguments.erase(arguments.begin());
  if (arguments.size() < 2) {
    std::puts("Usage: golden_runner [--update] MELIX FILE...");
    return 2;
  }
  bool passed = true;
  std::string melix = std::filesystem::absolute(arguments[0]);
  for (size_t i = 1; i < arguments.size(); ++i) {
    GoldenFile golden = readGoldenFile(std::filesystem::absolute(arguments[i]));
    passed = (update ? updateGoldenFile : runGoldenFile)(melix, golden) && passed;
  }
  return passed ? 0 : 1;
}
