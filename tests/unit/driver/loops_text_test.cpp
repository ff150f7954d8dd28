// Loops of every program: what is printed reads back to the same Loops, and to the same text.
#include "driver/compile.h"
#include "driver/same_loops.h"
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

std::vector<std::string> programsIn(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MELIX_SOURCE_DIR "/" + folder))
    if (entry.path().extension() == ".mlx") out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

/// The text after every pass; how many texts there were.
size_t checkPasses(const std::string& path) {
  const SessionPtr session = makeSession({});
  ProgramSource program;
  program.file = path;
  if (!advanceProgram(program, *session, session::CoreStage::Optimised)) return 0;
  size_t texts = 0;
  std::string last;
  loops::Options options = codegen::loopOptions({});
  options.afterPass = [&](const loops::Module& module, const char* pass) {
    const std::string text = loops::print(module);
    if (text == last) return;
    EXPECT_EQ(firstDifference(text, readBack(text)), "") << path << " after " << pass;
    const loops::ParseResult read = loops::parse(session->module(), text);
    EXPECT_EQ(loops::SameLoops(module, read.module).difference(), "") << path << " after " << pass;
    last = text;
    ++texts;
  };
  loops::fromCore(session->module(), options);
  return texts;
}

class LoopsText : public testing::TestWithParam<const char*> {};

TEST_P(LoopsText, ReadsBackAfterEveryPass) {
  size_t texts = 0;
  testing::internal::CaptureStderr(); // of the programs that are wrong on purpose
  onBigStack([&] {
    for (const std::string& path : programsIn(GetParam())) texts += checkPasses(path);
    return 0;
  });
  testing::internal::GetCapturedStderr();
  EXPECT_GT(texts, 0u);
}

INSTANTIATE_TEST_SUITE_P(Programs, LoopsText,
                         testing::Values("tests/programs/arrays", "tests/programs/basics",
                                         "tests/programs/library", "tests/programs/panics", "examples",
                                         "tests/bench/subjects"));

} // namespace
} // namespace melix::driver
