#include "driver/embedded.h"

#include "driver/files.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace melix::driver {
namespace {

TEST(Embedded, HoldsEveryLibraryFile) {
  std::filesystem::path library = std::filesystem::path(MELIX_SOURCE_DIR) / "stdlib";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(library)) {
    if (entry.path().extension() != ".mlx") continue;
    std::string error;
    std::optional<std::string> text = readFile(entry.path(), error);
    ASSERT_TRUE(text) << error;
    EXPECT_EQ(findLibraryFile(std::filesystem::relative(entry.path(), library).string()), *text)
        << entry.path();
  }
}

TEST(Embedded, HasNoOtherFile) {
  EXPECT_EQ(findLibraryFile("no_such_module.mlx").data(), nullptr);
  EXPECT_EQ(findLibraryFile("").data(), nullptr);
  EXPECT_EQ(findLibraryFile("zzz").data(), nullptr);
}

TEST(Embedded, HoldsTheRuntimeAsAnArchive) { EXPECT_TRUE(runtimeArchive().starts_with("!<arch>\n")); }

} // namespace
} // namespace melix::driver
