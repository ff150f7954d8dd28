// What a newcomer meets first: the scripts parse, and the guided tour names every folder.
#include "layers/layer_table.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

namespace melix::layers {
namespace {

const std::filesystem::path sourceFolder = MELIX_SOURCE_DIR;

TEST(Project, ScriptsAreValidBash) {
  for (const char* script : {"dev", ".ci/run", "tests/bench/run", "tests/bench/check", "tests/bench/quiet.sh",
                             "tests/bench/limits.sh", "tests/bench/scale.sh", "tests/bench/subjects.sh",
                             "tests/bench/compare.sh", "tests/device/run", "docs/pictures/draw"}) {
    std::string command = "bash -n '" + (sourceFolder / script).string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << script;
  }
}

TEST(Project, GuidedTourHasALineForEachFolder) {
  std::vector<std::string> lines = readLines(sourceFolder / "compiler/README.md");
  ASSERT_FALSE(lines.empty());
  LayerTable table = LayerTable::read(sourceFolder / "tests/unit/layers/layers.txt");
  for (const std::string& folder : table.folders()) {
    std::string start = "| [`" + folder + "`](" + folder;
    bool found = std::any_of(lines.begin(), lines.end(),
                             [&](const std::string& line) { return line.starts_with(start); });
    EXPECT_TRUE(found) << "compiler/README.md has no row that starts with " << start;
  }
}

TEST(Project, GuidedTourLinksToFilesThatExist) {
  for (const std::string& line : readLines(sourceFolder / "compiler/README.md"))
    for (size_t open = line.find("]("); open != std::string::npos; open = line.find("](", open + 1)) {
      std::string target = line.substr(open + 2, line.find_first_of(")#", open) - open - 2);
      if (target.empty() || target.starts_with("http")) continue;
      EXPECT_TRUE(std::filesystem::exists(sourceFolder / "compiler" / target)) << target << " in: " << line;
    }
}

/// Who wants to know what a nest takes and gives asks core/ir/nest.h.
TEST(Project, NestAttrIsNamedOnlyWhereNestsAreDefinedReadAndPrinted) {
  const std::set<std::string> allowed{"core/ir/ir.h",     "core/ir/nest.h",      "core/ir/nest.cpp",
                                      "core/ir/flow.cpp", "core/text/parse.cpp", "core/text/print.cpp",
                                      "ops/ops.def"};
  const std::filesystem::path compiler = sourceFolder / "compiler";
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(compiler)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = std::filesystem::relative(entry.path(), compiler).generic_string();
    for (const std::string& line : readLines(entry.path()))
      if (line.find("NestAttr") != std::string::npos) found.insert(path);
  }
  EXPECT_EQ(found, allowed);
}

TEST(Project, ReadmeShowsTheFirstExample) {
  std::vector<std::string> readme = readLines(sourceFolder / "README.md");
  std::vector<std::string> example = readLines(sourceFolder / "examples/first.mlx");
  ASSERT_FALSE(example.empty());
  EXPECT_NE(std::search(readme.begin(), readme.end(), example.begin(), example.end()), readme.end());
}

} // namespace
} // namespace melix::layers
