// Every row of the catalogue is shown by a test: a CHECK line of a golden file, or an `expect-error` line of
// a program, has its message and its id.
#include "diagnostics/diagnostic.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace melix {
namespace {

struct Row {
  std::string_view name, id, message;
};
const Row rows[] = {
#define DIAG(Id, Text, Severity, Message, Hint) {#Id, Text, Message},
#include "diagnostics/diagnostics.def"
};

/// Refusals that no program is known to reach: the parser, or another message, comes first; and what only the
/// prompt refuses, whose tests show it. The list may only shrink.
const std::set<std::string_view> exempt = {"NoKnownDerivative", "NoPromptFunction"};

std::vector<std::string> checkLines() {
  std::vector<std::string> out;
  for (const char* folder : {"tests/golden", "tests/programs"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(MELIX_SOURCE_DIR) / folder)) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        if (line.find("// CHECK") != std::string::npos || line.find("// expect-error:") != std::string::npos)
          out.push_back(line);
    }
  return out;
}

/// The message's text between its arguments, in order, then its id.
bool shows(std::string_view line, const Row& row) {
  std::string_view rest = row.message;
  while (!rest.empty()) {
    size_t end = 0;
    auto isArgument = [&] {
      return rest[end] == '{' && end + 2 < rest.size() && std::isdigit(rest[end + 1]);
    };
    while (end < rest.size() && !isArgument()) ++end;
    size_t found = line.find(rest.substr(0, end));
    if (found == std::string_view::npos) return false;
    line.remove_prefix(found + end);
    rest.remove_prefix(std::min(rest.size(), rest.find('}', end)));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return line.find("[" + std::string(row.id) + "]") != std::string_view::npos;
}

TEST(GoldenCoverage, EveryMessageIsShown) {
  const std::vector<std::string> lines = checkLines();
  ASSERT_FALSE(lines.empty());
  for (const Row& row : rows) {
    bool shown =
        std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return shows(line, row); });
    EXPECT_NE(shown, exempt.contains(row.name)) << row.name << ": " << row.message << " [" << row.id << "]";
  }
}

} // namespace
} // namespace melix
