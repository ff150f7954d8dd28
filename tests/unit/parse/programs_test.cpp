// Whole programs parse without a message.
#include "lex/lexer.h"
#include "parse/parsed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace melix::parse {
namespace {

std::vector<std::filesystem::path> programsIn(const std::string& folder) {
  std::vector<std::filesystem::path> out;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".mlx") out.push_back(entry->path());
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
  for (const auto& path : paths) expectParses(path);
}

TEST(Programs, OneTokenTooFewOrTooManyIsAFewMessages) {
  size_t changes = 0, messages = 0;
  for (const auto& path : programsIn(MELIX_SOURCE_DIR "/tests/unit/parse/programs")) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    Parsed whole(text);
    for (const lex::Token& token : lex::lex(whole.result.ast.file, whole.sources, whole.sink).tokens) {
      std::string word = text.substr(token.begin, token.end - token.begin);
      for (const std::string& changed : {std::string(), word + " " + word}) {
        std::string copy = text;
        Parsed parsed(copy.replace(token.begin, word.size(), changed));
        EXPECT_LE(parsed.sink.errorCount(), 8u) << path << ": `" << word << "` at " << token.begin << "\n"
                                                << parsed.messages();
        ++changes;
        messages += parsed.sink.errorCount();
      }
    }
  }
  EXPECT_LE(messages, changes * 5 / 4) << "about one message for one cause";
}

TEST(Programs, LibraryAndExamplesParse) {
  for (const char* folder : {"/stdlib", "/examples"})
    for (const auto& path : programsIn(std::string(MELIX_SOURCE_DIR) + folder)) expectParses(path);
}

TEST(Programs, TargetProgramsParse) {
  auto paths = programsIn(MELIX_SOURCE_DIR "/../shared/programs");
  if (paths.empty()) GTEST_SKIP() << "../shared/programs is not here";
  EXPECT_EQ(paths.size(), 14u);
  for (const auto& path : paths) expectParses(path);
}

} // namespace
} // namespace melix::parse
