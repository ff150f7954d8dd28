// Every hint that has code in it is followed by a case of tests/hints: those of the catalogues, and those
// that the code of the compiler gives a message.
#include "diagnostics/diagnostic.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace melix {
namespace {

namespace fs = std::filesystem;
const fs::path root = MELIX_SOURCE_DIR;

struct Row {
  std::string_view name, hint;
};
const Row rows[] = {
#define DIAG(Id, Text, Severity, Message, Hint) {#Id, Hint},
#include "diagnostics/diagnostics.def"
};

struct Habit {
  std::string_view spelling, hint;
};
const Habit habits[] = {
#define HABIT(Where, Spelling, Hint) {Spelling, Hint},
#include "diagnostics/habits.def"
};

/// Hints that no short program can follow, and why. The list may only shrink.
const std::map<std::string_view, std::string_view> exempt = {
    {"ChainTooLong", "more than a thousand operators"},
    {"InstanceCount", "more than ten thousand instances"},
    {"TooManyParts", "more than a hundred thousand parts"},
};

struct Followed {
  std::string hint, before; ///< as it is shown, and the program that gets it
};

/// The cases of tests/hints.
std::vector<Followed> followed() {
  std::vector<Followed> out;
  for (const auto& entry : fs::directory_iterator(root / "tests/hints")) {
    if (entry.path().extension() != ".hints") continue;
    std::ifstream file(entry.path());
    std::string removed; // the last line that a program does without
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("- ")) removed = line;
      if (line.starts_with("hint: "))
        out.push_back({line.substr(6), ""});
      else if (line.starts_with("? "))
        out.push_back({line.substr(2), removed});
      else if (!out.empty() && (line.starts_with("- ") || line.starts_with("! ") || line.starts_with("  ")))
        out.back().before += line + "\n";
    }
  }
  return out;
}

/// Whether a hint as shown is one of the catalogue: it has the text between the arguments, in order.
bool isHint(std::string_view shown, std::string_view pattern) {
  while (!pattern.empty()) {
    size_t end = pattern.find('{');
    while (end < pattern.size() && (end + 2 >= pattern.size() || !std::isdigit(pattern[end + 1])))
      end = pattern.find('{', end + 1);
    const size_t found = shown.find(pattern.substr(0, end));
    if (found == std::string_view::npos) return false;
    shown.remove_prefix(found);
    pattern.remove_prefix(end < pattern.size() ? pattern.find('}', end) + 1 : pattern.size());
  }
  return true;
}

bool isFollowed(const std::vector<Followed>& cases, std::string_view pattern) {
  return std::any_of(cases.begin(), cases.end(),
                     [&](const Followed& one) { return isHint(one.hint, pattern); });
}

TEST(HintCoverage, HintsOfTheCatalogueAreFollowed) {
  const std::vector<Followed> cases = followed();
  ASSERT_FALSE(cases.empty());
  for (const Row& row : rows) {
    if (row.hint.find('`') == std::string_view::npos) continue;
    EXPECT_NE(isFollowed(cases, row.hint), exempt.contains(row.name)) << row.name << ": " << row.hint;
  }
}

TEST(HintCoverage, SpellingsOfOtherLanguagesAreFollowed) {
  const std::vector<Followed> cases = followed();
  for (const Habit& habit : habits) {
    const bool found = std::any_of(cases.begin(), cases.end(), [&](const Followed& one) {
      return one.hint == habit.hint && one.before.find(habit.spelling) != std::string::npos;
    });
    EXPECT_TRUE(found) << habit.spelling << ": " << habit.hint;
  }
}

/// The string literals of a statement from `at` on; those that follow each other are one.
std::vector<std::string> literalsFrom(std::string_view text, size_t at) {
  std::vector<std::string> out;
  bool goesOn = false;
  for (; at < text.size() && text[at] != ';'; ++at) {
    if (text[at] != '"') {
      goesOn &= std::isspace(static_cast<unsigned char>(text[at])) != 0;
      continue;
    }
    if (!goesOn) out.emplace_back();
    goesOn = true;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      at += text[at] == '\\';
      out.back() += text[at];
    }
  }
  return out;
}

/// The texts with code in them that statements of a file give as a hint.
std::vector<std::string> hintsIn(const fs::path& path) {
  std::stringstream whole;
  whole << std::ifstream(path).rdbuf();
  const std::string text = whole.str();
  std::vector<std::string> out;
  for (const std::string_view giver : {"hint =", "hintLast("})
    for (size_t at = text.find(giver); at != std::string::npos; at = text.find(giver, at + 1))
      for (const std::string& literal : literalsFrom(text, at))
        if (literal.find('`') != std::string::npos && literal.size() > 3) out.push_back(literal);
  return out;
}

TEST(HintCoverage, HintsInTheCodeOfTheCompilerAreFollowed) {
  const std::vector<Followed> cases = followed();
  size_t count = 0;
  for (const char* folder : {"lex", "parse", "names", "check"})
    for (const auto& entry : fs::recursive_directory_iterator(root / "compiler" / folder)) {
      if (entry.path().extension() != ".cpp") continue;
      for (const std::string& piece : hintsIn(entry.path())) {
        ++count;
        const bool found = std::any_of(cases.begin(), cases.end(), [&](const Followed& one) {
          return one.hint.find(piece) != std::string::npos;
        });
        EXPECT_TRUE(found) << entry.path().filename() << ": " << piece;
      }
    }
  EXPECT_GT(count, 40u);
}

} // namespace
} // namespace melix
