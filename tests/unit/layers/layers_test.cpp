// The layer table of layers.txt against every #include.
#include "layers/layer_table.h"

#include <gtest/gtest.h>

namespace melix::layers {
namespace {

const std::filesystem::path sourceFolder = MELIX_SOURCE_DIR;

LayerTable readTable() { return LayerTable::read(sourceFolder / "tests/unit/layers/layers.txt"); }

std::string place(const Include& include) {
  return std::filesystem::relative(include.file, sourceFolder).string() + ":" + std::to_string(include.line) +
         ": #include \"" + include.header + "\"";
}

/// Headers that reach outside the compiler; each of these libraries is let in by the table alone.
bool isGuarded(const LayerTable& table, const std::string& folder) {
  return table.isFolder(folder) || folder == "llvm" || folder == "lld";
}

TEST(Layers, EveryFolderOfTheCompilerHasALine) {
  LayerTable table = readTable();
  for (const auto& entry : std::filesystem::directory_iterator(sourceFolder / "compiler"))
    if (entry.is_directory()) {
      const std::string folder = entry.path().filename();
      EXPECT_TRUE(table.isFolder(folder)) << entry.path();
      if (!table.hasRooms(folder)) continue;
      for (const auto& room : std::filesystem::directory_iterator(entry.path()))
        if (room.is_directory())
          EXPECT_TRUE(table.isFolder(folder + "/" + room.path().filename().string())) << room.path();
    }
}

TEST(Layers, FoldersStandAfterTheFoldersTheyUse) {
  LayerTable table = readTable();
  const std::vector<std::string>& folders = table.folders();
  for (size_t low = 0; low < folders.size(); ++low)
    for (size_t high = low + 1; high < folders.size(); ++high)
      EXPECT_FALSE(table.allows(folders[low], folders[high])) << folders[low] << " uses " << folders[high];
}

TEST(Layers, IncludesKeepToTheTable) {
  LayerTable table = readTable();
  const std::filesystem::path compiler = sourceFolder / "compiler";
  for (const Include& include : includesBelow(compiler))
    if (isGuarded(table, include.folder)) {
      const std::string folder =
          table.folderOf(std::filesystem::relative(include.file, compiler).generic_string());
      const std::string below =
          table.isFolder(include.folder) ? table.folderOf(include.header) : include.folder;
      EXPECT_TRUE(table.allows(folder, below)) << place(include) << " is not allowed in " << folder;
    }
}

TEST(Layers, TheRuntimeSeesNothingOfTheCompiler) {
  LayerTable table = readTable();
  for (const Include& include : includesBelow(sourceFolder / "runtime"))
    EXPECT_FALSE(isGuarded(table, include.folder)) << place(include);
}

TEST(Layers, OnlyOneFileIncludesEachHeavyLibrary) {
  std::map<std::string, std::set<std::filesystem::path>> users;
  for (const Include& include : includesBelow(sourceFolder / "compiler"))
    if (include.folder == "CLI" || include.folder == "fmt" || include.folder == "lld" ||
        include.folder == "nlohmann")
      users[include.folder].insert(include.file);
  for (const auto& [library, files] : users)
    EXPECT_EQ(files.size(), 1u) << library << " in " << *files.rbegin();
}

TEST(Layers, NoStreamsAndNoRegularExpressions) {
  for (const Include& include : includesBelow(sourceFolder / "compiler"))
    for (const char* header : {"iostream", "regex"}) EXPECT_NE(include.header, header) << place(include);
}

TEST(Layers, TableRefusesWhatItDoesNotName) {
  LayerTable table = readTable();
  EXPECT_TRUE(table.allows("parse", "support"));
  EXPECT_TRUE(table.allows("driver", "aot"));
  EXPECT_TRUE(table.allows("aot", "lld"));
  EXPECT_FALSE(table.allows("jit", "lld"));
  EXPECT_FALSE(table.allows("repl", "llvm"));
  EXPECT_FALSE(table.allows("core", "syntax"));
  EXPECT_FALSE(table.allows("core/ir", "core/text"));
}

} // namespace
} // namespace melix::layers
