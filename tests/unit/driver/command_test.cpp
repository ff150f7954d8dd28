// Whole command lines and the files that they write.
#include "driver/driver.h"

#include "driver/files.h"
#include "harness/process.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace melix::driver {
namespace {

class Commands : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("melix_commands_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
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
  harness::ProcessResult build(const char* program) {
    return harness::runProcess({MELIX_BINARY_DIR "/melix", "build", program}, {folder_, {}});
  }

  std::filesystem::path folder_;
};

TEST_F(Commands, FmtMendsAFileThatFmtCheckNames) {
  std::string path = write("a.mlx", "let  x =1+2\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(runMelix({"fmt", "--check", path}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), path + "\n");
  EXPECT_EQ(read(path), "let  x =1+2\n");
  EXPECT_EQ(runMelix({"fmt", path}), 0);
  EXPECT_EQ(read(path), "let x = 1 + 2\n");
  EXPECT_EQ(runMelix({"fmt", "--check", folder_}), 0);
}

TEST_F(Commands, FmtLeavesAProgramWithErrorsAlone) {
  std::string bad = write("bad.mlx", "let  x = (1 +\n"), good = write("good.mlx", "let  y=1\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(runMelix({"fmt", bad, good}), 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("bad.mlx:"), std::string::npos);
  EXPECT_EQ(read(bad), "let  x = (1 +\n");
  EXPECT_EQ(read(good), "let y = 1\n");
}

TEST_F(Commands, ShowPrintsTheSyntaxTreeOfBrokenProgramsToo) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(runMelix({"show", "--stage", "ast", "-e", "let x = 1 +"}), 1);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("let"), std::string::npos);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("<code>:1:"), std::string::npos);
}

TEST_F(Commands, MissingFilesAreNamed) {
  for (const char* command : {"run", "check"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(runMelix({command, folder_ / "nothing.mlx"}), 1) << command;
    EXPECT_NE(testing::internal::GetCapturedStderr().find("nothing.mlx"), std::string::npos) << command;
  }
}

TEST_F(Commands, ExecutablesAreNamedAfterTheirProgramsUnlessTold) {
  write("sub.answer.mlx", "print(6 * 7)\n");
  for (int again = 0; again < 2; ++again) EXPECT_EQ(build("sub.answer.mlx").status, 0);
  EXPECT_EQ(harness::runProcess({folder_ / "sub.answer"}).output, "42\n");
}

TEST_F(Commands, ExecutablesReplaceNothingElseUnlessTold) {
  write("notes.mlx", "print(1)\n");
  const std::string notes = write("notes", "a text"), plain = write("plain", "print(2)\n");
  EXPECT_NE(build("notes.mlx").errors.find("`notes` is there and no executable: `-o OUT`"),
            std::string::npos);
  EXPECT_EQ(read(notes), "a text");
  EXPECT_NE(build("plain").errors.find("would replace its own source: `-o OUT`"), std::string::npos);
  EXPECT_EQ(read(plain), "print(2)\n");
}

} // namespace
} // namespace melix::driver
