// The interpreter is the oracle of `flatten_records`: programs print the same, to the last bit, run as they
// come to the pass and as they leave it.
#include "driver/compile.h"
#include "driver/interpret.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace melix::driver {
namespace {

const std::string root = MELIX_SOURCE_DIR "/";

class FlattenedPrograms : public testing::TestWithParam<const char*> {
protected:
  /// One is left out: its derivatives keep an array of 0 rows of -1 elements that nobody reads. The
  /// interpreter refuses that size, and the pass removes the array.
  static std::vector<std::string> programs() {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + GetParam()))
      if (entry.path().extension() == ".mlx" && entry.path().stem() != "sizes_without_points")
        out.push_back(entry.path().string());
    std::ranges::sort(out);
    return out;
  }
  /// What the program prints by the Core that the session has now, and its exit status.
  static std::string printed(session::Session& session, const std::string& program) {
    std::string name = program;
    char* arguments[] = {name.data(), nullptr};
    testing::internal::CaptureStdout();
    const int status = interpretProgram(session, 1, arguments);
    return testing::internal::GetCapturedStdout() + std::to_string(status);
  }
  void check(const std::string& program) {
    SessionPtr session;
    std::string before;
    Onlooker onlooker;
    onlooker.afterPass = [&](const core::Module&, std::string_view pass) {
      if (pass == "inline_calls") before = printed(*session, program);
      if (pass != "flatten_records" || before.empty()) return;
      EXPECT_EQ(before, printed(*session, program)) << program;
      ++count_;
    };
    session = makeSession({}, std::move(onlooker));
    ProgramSource text;
    text.file = program;
    advanceProgram(text, *session, session::CoreStage::Optimised);
  }

  size_t count_ = 0;
};

TEST_P(FlattenedPrograms, PrintTheSame) {
  testing::internal::CaptureStderr(); // of the programs that panic, and of those that are wrong on purpose
  onBigStack([&] {
    for (const std::string& program : programs()) check(program);
    return 0;
  });
  testing::internal::GetCapturedStderr();
  EXPECT_GT(count_, 0u);
}

INSTANTIATE_TEST_SUITE_P(Folders, FlattenedPrograms,
                         testing::Values("tests/programs/basics", "tests/programs/panics",
                                         "tests/programs/arrays", "tests/programs/dictionaries",
                                         "tests/programs/library", "tests/grad"),
                         [](const auto& folder) {
                           std::string name = folder.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

} // namespace
} // namespace melix::driver
