#include "lex/lexer.h"

#include <gtest/gtest.h>

namespace melix::lex {
namespace {

struct Lexed {
  SourceStore sources;
  DiagnosticSink sink;
  TokenStream stream;
  explicit Lexed(const std::string& text) { stream = lex(sources.add("test.mlx", text), sources, sink); }

  /// The tokens' texts, those at the start of a line after a `/`.
  std::string words() const {
    std::string out;
    for (const Token& t : stream.tokens) {
      if (t.kind == TokenKind::End) break;
      out += t.newlineBefore ? "/" : out.empty() ? "" : " ";
      out += sources.text(Span{stream.file, t.begin, t.end});
    }
    return out;
  }
  std::string ids() const {
    std::string out;
    for (const Diagnostic& d : sink.all()) out += (out.empty() ? "" : " ") + std::string(diagName(d.id));
    return out;
  }
};

TEST(Lexer, NumbersHaveADigitOnBothSidesOfThePoint) {
  EXPECT_EQ(Lexed("1_000 0xff 0b1 0o7 1.5 1e-3 2.5e+10").words(), "1_000 0xff 0b1 0o7 1.5 1e-3 2.5e+10");
  EXPECT_EQ(Lexed("1. ").ids(), "bad-number");
  EXPECT_EQ(Lexed("0x").ids(), "bad-number");
  EXPECT_EQ(Lexed("12ab").ids(), "bad-number");
  EXPECT_EQ(Lexed(".5").words(), ". 5");
}

TEST(Lexer, ARangeIsNeverPartOfANumber) {
  EXPECT_EQ(Lexed("0..9").words(), "0 .. 9");
  EXPECT_EQ(Lexed("1.5..2.5").words(), "1.5 .. 2.5");
  EXPECT_EQ(Lexed("a..b").words(), "a .. b");
}

TEST(Lexer, DigitsAfterAPointAreATuplePosition) {
  EXPECT_EQ(Lexed("t.0.1").words(), "t . 0 . 1");
  EXPECT_EQ(Lexed("1.abs()").words(), "1 . abs ( )");
}

TEST(Lexer, StringsHoldCode) {
  EXPECT_EQ(Lexed(R"("a{x + 1:.3}b")").words(), R"(" a x + 1 :.3} b ")");
  EXPECT_EQ(Lexed(R"("{f("q", [1: 2])}")").words(), R"(" f ( " q " , [ 1 : 2 ] ) } ")");
  EXPECT_EQ(Lexed(R"(r"\n{x}")").words(), R"(r" \n{x} ")");
}

TEST(Lexer, EscapesAreDecoded) {
  Lexed text(R"("\n\t\r\0\\\"\'\{\u{e9}{{}}")");
  EXPECT_EQ(text.ids(), "");
  EXPECT_EQ(text.stream.texts.at(0), std::string("\n\t\r\0\\\"'{\xc3\xa9{}", 12));
  EXPECT_EQ(Lexed(R"("\q")").ids(), "bad-escape");
  EXPECT_EQ(Lexed(R"("\u{d800}")").ids(), "bad-escape");
}

TEST(Lexer, FormatsAreChecked) {
  EXPECT_EQ(Lexed(R"("{x:*>+08.3f} {x:<5} {x:b} {x:%} {x:.10}")").ids(), "");
  EXPECT_EQ(Lexed(R"("{x:abc}")").ids(), "bad-format");
}

TEST(Lexer, AStringOfOneLineEndsWithTheLine) {
  EXPECT_EQ(Lexed("\"abc\nlet x").ids(), "unclosed-string");
  Lexed inCode("let s = \"{x\nlet y = 1");
  EXPECT_EQ(inCode.ids(), "unclosed-string");
  EXPECT_NE(inCode.words().find("/let y = 1"), std::string::npos) << "the next line is read as usual";
  EXPECT_EQ(Lexed("\"\"\"a\nb\"\"\"").ids(), "");
  EXPECT_EQ(Lexed("\"a } b\"").ids(), "lone-brace");
}

TEST(Lexer, CharactersHoldExactlyOne) {
  EXPECT_EQ(Lexed("'a' 'é' '\\n' '\\u{1F600}'").ids(), "");
  EXPECT_EQ(Lexed("'ab'").ids(), "bad-char-literal");
  EXPECT_EQ(Lexed("''").ids(), "bad-char-literal");
}

TEST(Lexer, CommentsNest) {
  EXPECT_EQ(Lexed("a /* b /* c */ d */ e // f\ng").words(), "a e/g");
  EXPECT_EQ(Lexed("a /* b").ids(), "unclosed-comment");
  EXPECT_EQ(Lexed("a /*\n*/ b").words(), "a/b") << "a comment of several lines counts as a newline";
}

TEST(Lexer, ACommentThatLooksLikeADivisionIsPointedOut) {
  EXPECT_EQ(Lexed("let n = 7\nlet k = n // 2").ids(), "comment-looks-like-division");
  EXPECT_EQ(Lexed("let n = 7\nlet k = 4 // (n)").ids(), "comment-looks-like-division");
  EXPECT_EQ(Lexed("let k = n // half of it").ids(), "");
  EXPECT_EQ(Lexed("let k = n // unknown").ids(), "");
  EXPECT_EQ(Lexed("f() {  // 2\n}").ids(), "");
}

TEST(Lexer, ByteOrderMarkAndInterpreterLineAreSkipped) {
  EXPECT_EQ(Lexed("\xef\xbb\xbf#!/usr/bin/env melix\nx").words(), "/x");
  EXPECT_EQ(Lexed("a\r\nb").words(), "a/b");
}

TEST(Lexer, TextThatIsNotUtf8IsRefusedWithThePlace) {
  Lexed text("let a = \"\xff\"");
  ASSERT_EQ(text.ids(), "not-utf8");
  EXPECT_EQ(diagMessage(text.sink.all()[0]), "this file is not UTF-8: byte 0xff at offset 9");
  EXPECT_EQ(text.words(), "");
}

TEST(Lexer, LongestSymbolWins) {
  EXPECT_EQ(Lexed("a<<=b>>=c@=d^=e==f=>g->h$..i").words(), "a <<= b >>= c @= d ^= e == f => g -> h $.. i");
}

TEST(Lexer, AGreatManyErrorsAreCutShort) { EXPECT_LE(Lexed(std::string(5000, '#')).sink.errorCount(), 30u); }

} // namespace
} // namespace melix::lex
