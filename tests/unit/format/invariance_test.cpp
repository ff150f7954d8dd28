// The layout is a function of tokens, comments and blank lines.
#include "format/formatted.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace melix::format {
namespace {

void checkProgram(const std::string& path) {
  std::string text = fuzz::readFile(path);
  Formatted first = formatted(text);
  ASSERT_EQ(first.errors, "") << path;
  Formatted second = formatted(first.text);
  EXPECT_EQ(second.text, first.text) << path << ": formatting twice changed the text";
  EXPECT_EQ(second.tree, first.tree) << path << ": formatting changed the tree";
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    fuzz::Random random(seed);
    std::string laidOut = fuzz::changeLayout(text, first.gaps, random, 5 + random() % 96);
    Formatted other = formatted(laidOut);
    ASSERT_EQ(other.errors, "") << path << " laid out by seed " << seed;
    ASSERT_EQ(other.tree, first.tree) << path << " laid out by seed " << seed << ":\n" << laidOut;
    ASSERT_EQ(other.text, first.text) << path << " laid out by seed " << seed << ":\n" << laidOut;
  }
}

TEST(Invariance, OwnPrograms) {
  std::vector<std::string> paths = fuzz::programsBelow(MELIX_SOURCE_DIR "/tests/unit/parse/programs");
  EXPECT_GE(paths.size(), 3u);
  for (const std::string& path : paths) checkProgram(path);
}

TEST(Invariance, TargetPrograms) {
  std::vector<std::string> paths = fuzz::programsBelow(MELIX_SOURCE_DIR "/../shared/programs");
  if (paths.empty()) GTEST_SKIP() << "../shared/programs is not here";
  for (const std::string& path : paths) checkProgram(path);
}

TEST(Invariance, LinesHoldUpTo100ColumnsInThePrograms) {
  for (const std::string& path : fuzz::programsBelow(MELIX_SOURCE_DIR "/tests/unit/parse/programs")) {
    std::string text = formatted(fuzz::readFile(path)).text;
    for (size_t start = 0; start < text.size();) {
      size_t end = text.find('\n', start);
      std::string line = text.substr(start, end - start);
      EXPECT_TRUE(characterCount(line) <= 100 || line.find("//") != std::string::npos) << line;
      start = end + 1;
    }
  }
}

} // namespace
} // namespace melix::format
