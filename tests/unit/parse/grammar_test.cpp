// grammar/melix.ebnf and the editors' word lists agree with the table of tokens.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace melix {
namespace {

using Words = std::set<std::string>;

const Words keywords = {
#define KEYWORD(Kind, Text) Text,
#include "lex/tokens.def"
};
const Words contextual = {
#define CONTEXTUAL(Text) Text,
#include "lex/tokens.def"
};
const Words symbols = {
#define SYMBOL(Kind, Text) Text,
#include "lex/tokens.def"
};
const Words attributes = {"derivative", "checkpoint", "unchecked", "inplace", "builtin"};

std::string readText(const std::string& path) {
  std::ifstream file(MELIX_SOURCE_DIR "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool isWord(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
}

/// The grammar without comments, descriptions in words, and the part on tokens.
std::string syntaxPart() {
  std::string text = readText("grammar/melix.ebnf"), out;
  text = text.substr(0, text.find("(* ---- Tokens"));
  for (size_t k = 0; k < text.size(); ++k) {
    bool quoted = text[k] == '"';
    size_t end = quoted                          ? text.find('"', k + 1)
                 : text.compare(k, 2, "(*") == 0 ? text.find("*)", k) + 1
                 : text[k] == '?'                ? text.find('?', k + 1)
                                                 : k;
    if (quoted || end == k) out += text.substr(k, end - k + 1);
    k = end;
  }
  return out;
}

Words terminals() {
  std::string text = syntaxPart();
  Words out;
  for (size_t k = text.find('"'); k != std::string::npos; k = text.find('"', k + 1)) {
    size_t end = text.find('"', k + 1);
    out.insert(text.substr(k + 1, end - k - 1));
    k = end;
  }
  return out;
}

TEST(Grammar, EveryTerminalIsAToken) {
  for (const std::string& text : terminals()) {
    bool known = isWord(text) ? keywords.count(text) || contextual.count(text) || attributes.count(text)
                              : symbols.count(text) > 0 || text == "_";
    EXPECT_TRUE(known) << "`" << text << "`";
  }
}

TEST(Grammar, EveryTokenIsATerminal) {
  Words used = terminals();
  for (const Words* words : {&keywords, &contextual, &symbols})
    for (const std::string& text : *words)
      EXPECT_TRUE(used.count(text)) << "`" << text << "` is nowhere in the grammar";
}

TEST(Grammar, EveryNameUsedIsDefined) {
  std::string text = readText("grammar/melix.ebnf");
  for (const char* rule : {"module", "statements", "block", "statement", "item", "expr", "type", "pattern",
                           "generator", "header", "arm", "quote", "splice", "macro use", "bracket item",
                           "function type", "case pattern", "tuple pattern"})
    EXPECT_NE(text.find("\n" + std::string(rule) + " "), std::string::npos) << rule;
}

/// The words of `word|word|…` between two marks of a file.
Words wordsBetween(const std::string& text, const std::string& begin, const std::string& end) {
  Words out;
  size_t from = text.find(begin);
  if (from == std::string::npos) return out;
  from += begin.size();
  std::string list = text.substr(from, text.find(end, from) - from), word;
  for (char c : list + "|") {
    if (c >= 'a' && c <= 'z') {
      word += c;
    } else if (!word.empty()) {
      out.insert(word);
      word.clear();
    }
  }
  return out;
}

TEST(Editors, VsCodeKnowsEveryKeywordAndNoOther) {
  std::string text = readText("editors/vscode/syntaxes/melix.tmLanguage.json");
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(
      wordsBetween(text, "\"keywords\": { \"name\": \"keyword.control.melix\", \"match\": \"\\\\b(", ")"),
      keywords);
  EXPECT_EQ(
      wordsBetween(text, "\"contextual\": { \"name\": \"keyword.other.melix\", \"match\": \"\\\\b(", ")"),
      contextual);
}

TEST(Editors, VimKnowsEveryKeywordAndNoOther) {
  std::string text = readText("editors/vim/syntax/melix.vim");
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(wordsBetween(text, "syntax keyword melixKeyword ", "\n"), keywords);
  EXPECT_EQ(wordsBetween(text, "syntax match melixContextual \"\\<\\(", "\\)\\>"), contextual);
}

} // namespace
} // namespace melix
