// Loops of every program: what is printed reads back to the same Loops, and to the same text.
#include "driver/compile.h"
#include "loops/parse.h"
#include "loops/print.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace melix::driver {
namespace {

/// What a reader of its own makes of the text, printed.
std::string readBack(const std::string& text) {
  Interner names;
  types::TypeStore types(names);
  core::Module core(types);
  loops::ParseResult read = loops::parse(core, text);
  return read.error.empty() ? loops::print(read.module) : read.error + "\n";
}

/// The first line that differs, for messages.
std::string firstDifference(std::string_view a, std::string_view b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  if (x == a.end() && y == b.end()) return {};
  auto line = [](std::string_view text, size_t at) {
    const size_t before = text.substr(0, at).rfind('\n');
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return std::string(text.substr(begin, text.find('\n', at) - begin));
  };
  return line(a, static_cast<size_t>(x - a.begin())) + "\n" + line(b, static_cast<size_t>(y - b.begin()));
}

std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const char* folder : {"tests/programs", "examples", "tests/bench/subjects"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(MELIX_SOURCE_DIR) + "/" + folder))
      if (entry.path().extension() == ".mlx") out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

TEST(LoopsText, OfEveryProgramReadsBackAfterEveryPass) {
  size_t texts = 0;
  testing::internal::CaptureStderr(); // of the programs that are wrong on purpose
  onBigStack([&] {
    for (const std::string& path : programs()) {
      std::unique_ptr<session::Session> session = makeSession({});
      ProgramSource program;
      program.file = path;
      if (!advanceProgram(program, *session, session::CoreStage::Optimised)) continue;
      std::string last;
      loops::Options options;
      options.afterPass = [&](const loops::Module& module, const char* pass) {
        const std::string text = loops::print(module);
        if (text == last) return;
        EXPECT_EQ(firstDifference(text, readBack(text)), "") << path << " after " << pass;
        last = text;
        ++texts;
      };
      loops::fromCore(session->module(), options);
    }
    return 0;
  });
  testing::internal::GetCapturedStderr();
  EXPECT_GT(texts, 500u);
}

} // namespace
} // namespace melix::driver
