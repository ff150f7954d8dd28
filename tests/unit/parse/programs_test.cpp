// Whole programs parse without a message.
#include "parse/parsed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace melix::parse {
namespace {

std::vector<std::filesystem::path> programsIn(const std::string& folder) {
  std::vector<std::filesystem::path> out;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".mlx")
      out.push_back(entry->path());
  std::sort(out.begin(), out.end());
  return out;
}

void expectParses(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  Parsed parsed(text);
  EXPECT_EQ(parsed.messages(), "") << path;
}

TEST(Programs, OwnProgramsParse) {
  auto paths = programsIn(MELIX_SOURCE_DIR "/tests/unit/parse/programs");
  EXPECT_GE(paths.size(), 3u);
  for (const auto& path : paths)
    expectParses(path);
}

TEST(Programs, LibraryAndExamplesParse) {
  for (const char* folder : {"/stdlib", "/examples"})
    for (const auto& path : programsIn(std::string(MELIX_SOURCE_DIR) + folder))
      expectParses(path);
}

TEST(Programs, TargetProgramsParse) {
  auto paths = programsIn(MELIX_SOURCE_DIR "/../shared/programs");
  if (paths.empty())
    GTEST_SKIP() << "../shared/programs is not here";
  EXPECT_EQ(paths.size(), 14u);
  for (const auto& path : paths)
    expectParses(path);
}

} // namespace
} // namespace melix::parse
