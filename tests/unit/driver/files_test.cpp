#include "driver/files.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::driver {
namespace {

class Files : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("melix_files_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "sub");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const char* name, const char* text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string read(const std::string& path) {
    std::string error;
    return readFile(path, error).value_or("error: " + error);
  }

  std::filesystem::path folder_;
};

TEST_F(Files, AMissingFileIsNamedWithTheReason) {
  std::string error;
  EXPECT_FALSE(readFile(folder_ / "nothing.mlx", error));
  EXPECT_NE(error.find("nothing.mlx"), std::string::npos);
  EXPECT_NE(error.find("No such file"), std::string::npos);
  EXPECT_FALSE(readFile(folder_, error));
  EXPECT_NE(error.find("directory"), std::string::npos) << error;
}

TEST_F(Files, ReplacingKeepsPermissionsAndLinks) {
  std::string path = write("a.mlx", "old");
  chmod(path.c_str(), 0640);
  std::filesystem::create_symlink(path, folder_ / "link.mlx");
  EXPECT_EQ(replaceFile(folder_ / "link.mlx", "new"), std::nullopt);
  EXPECT_EQ(read(path), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.mlx"));
  struct stat status = {};
  stat(path.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(Files, ReplacingInAMissingFolderSaysSo) {
  std::optional<std::string> error = replaceFile(folder_ / "no" / "a.mlx", "text");
  ASSERT_TRUE(error);
  EXPECT_NE(error->find("No such file"), std::string::npos);
}

TEST_F(Files, WhoMayReadAnExecutableMayRunIt) {
  auto modeOf = [](const std::string& path) {
    struct stat status = {};
    stat(path.c_str(), &status);
    return status.st_mode & 0777;
  };
  mode_t mask = umask(027);
  EXPECT_EQ(replaceFile(folder_ / "made", "bytes", FileKind::Executable), std::nullopt);
  EXPECT_EQ(replaceFile(folder_ / "text", "bytes"), std::nullopt);
  umask(mask);
  EXPECT_EQ(modeOf(folder_ / "made"), 0750u);
  EXPECT_EQ(modeOf(folder_ / "text"), 0640u);
  std::string old = write("old", "old");
  chmod(old.c_str(), 0604);
  EXPECT_EQ(replaceFile(old, "bytes", FileKind::Executable), std::nullopt);
  EXPECT_EQ(modeOf(old), 0705u);
  EXPECT_EQ(read(old), "bytes");
}

TEST_F(Files, ADeviceThatIsFullIsToldAndStays) {
  EXPECT_EQ(replaceFile("/dev/full", "text"), "cannot write `/dev/full`: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Files, NothingIsLeftWhereNotAllCanBeWritten) {
  std::string path = write("a.mlx", "old");
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {4096, before.rlim_max};
  auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::optional<std::string> again = replaceFile(path, std::string(10000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(again, "cannot write `" + path + "`: File too large");
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2); // with `sub`
}

TEST_F(Files, FoldersStandForTheirPrograms) {
  std::string b = write("sub/b.mlx", ""), a = write("sub/a.mlx", ""), other = write("other.txt", "");
  write("sub/notes.md", "");
  EXPECT_EQ(expandFolders({other, folder_ / "sub"}), (std::vector<std::string>{other, a, b}));
}

} // namespace
} // namespace melix::driver
