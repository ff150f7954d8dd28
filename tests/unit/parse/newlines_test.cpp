// Rule 1: where a newline ends a statement.
#include "parse/parsed.h"

#include <gtest/gtest.h>

namespace melix::parse {
namespace {

TEST(Newlines, EndAStatement) {
  EXPECT_EQ(Parsed("a\nb").count(), 2u);
  EXPECT_EQ(Parsed("a; b").count(), 2u);
  EXPECT_EQ(Parsed("a\r\nb").count(), 2u);
}

TEST(Newlines, DoNotCountInBrackets) {
  EXPECT_EQ(treeOf("f(a,\n\n b)"), treeOf("f(a, b)"));
  EXPECT_EQ(treeOf("x[i\n,\n2 ..\n5]"), treeOf("x[i, 2..5]"));
  EXPECT_EQ(treeOf("(a\n-b)"), treeOf("(a - b)"));
}

TEST(Newlines, CountAgainInBracesInsideOfBrackets) {
  EXPECT_EQ(treeOf("f({ a\nb })"), treeOf("f({ a; b })"));
  EXPECT_NE(treeOf("f({ a\n-b })"), treeOf("f({ a - b })"));
}

TEST(Newlines, ALineThatPlainlyContinuesContinues) {
  EXPECT_EQ(treeOf("let x = a\n  + b"), treeOf("let x = a + b"));
  EXPECT_EQ(treeOf("let x = a +\n  b"), treeOf("let x = a + b"));
  EXPECT_EQ(treeOf("let x =\n  a"), treeOf("let x = a"));
  EXPECT_EQ(treeOf("a\n  .b()\n  .c()"), treeOf("a.b().c()"));
  EXPECT_EQ(treeOf("let x = a\n  and b\n  or c"), treeOf("let x = a and b or c"));
  EXPECT_EQ(treeOf("let x = a\n  as f32"), treeOf("let x = a as f32"));
  EXPECT_EQ(treeOf("if a { b }\nelse { c }"), treeOf("if a { b } else { c }"));
  EXPECT_EQ(treeOf("fn f() ->\n  int { 1 }"), treeOf("fn f() -> int { 1 }"));
  EXPECT_EQ(treeOf("let f = x =>\n  x"), treeOf("let f = x => x"));
}

TEST(Newlines, CommentsAndBlankLinesAreSkippedWhenLookingForAContinuation) {
  EXPECT_EQ(treeOf("let x = a // first\n\n  // second\n  + b"), treeOf("let x = a + b"));
  EXPECT_EQ(treeOf("if a { b }\n// otherwise\nelse { c }"), treeOf("if a { b } else { c }"));
}

TEST(Newlines, MinusAtAndAmpersandContinueOnlyBeforeASpace) {
  EXPECT_EQ(treeOf("a\n- b"), treeOf("a - b"));
  EXPECT_EQ(treeOf("a\n-b"), treeOf("a; -b"));
  EXPECT_EQ(treeOf("a\n@ b"), treeOf("a @ b"));
  EXPECT_EQ(treeOf("a\n@b()"), treeOf("a; @b()"));
  EXPECT_EQ(treeOf("a\n& b"), treeOf("a & b"));
  EXPECT_EQ(treeOf("a\n&b"), treeOf("a; &b"));
}

TEST(Newlines, BracketsNeverContinueTheLineAbove) {
  EXPECT_EQ(treeOf("a\n(b)"), treeOf("a; (b)"));
  EXPECT_EQ(treeOf("a\n[b]"), treeOf("a; [b]"));
  EXPECT_EQ(Parsed("let x = [[1, 2]\n  [3, 4]]").errors(), "2:3 bracket-next-line");
}

TEST(Newlines, EqualsAndStepDoNotContinue) {
  EXPECT_NE(Parsed("a\n= 1").errors(), "");
  EXPECT_EQ(Parsed("let r = 0..n\nstep").count(), 2u);
}

TEST(Newlines, AJumpTakesItsValueFromItsOwnLine) {
  EXPECT_EQ(treeOf("fn f() { return\na }"), treeOf("fn f() { return; a }"));
  EXPECT_EQ(treeOf("fn f() { return a }"), treeOf("fn f() {\nreturn a\n}"));
}

TEST(Newlines, SeparateFieldsCasesAndArmsLikeCommasAndSemicolons) {
  EXPECT_EQ(treeOf("struct P { x: f32\n y: f32 }"), treeOf("struct P { x: f32, y: f32; }"));
  EXPECT_EQ(treeOf("enum E { A\n B(int) }"), treeOf("enum E { A; B(int), }"));
  EXPECT_EQ(treeOf("match e { A => 1\n B => 2 }"), treeOf("match e { A => 1, B => 2; }"));
}

TEST(Prompt, IncompleteEntriesWantMore) {
  for (const char* text : {"let x =", "f(1,", "fn f() {", "a +", "\"\"\"abc", "/* a", "if a {",
                           "[for i:", "match e {", "x[", "a and"}) {
    Parsed parsed("");
    ParseResult result =
        parseReplEntry(parsed.sources.add("<prompt>", text), parsed.sources, parsed.names, parsed.sink);
    EXPECT_TRUE(result.incomplete) << text;
    EXPECT_TRUE(parsed.sink.all().empty()) << text << ": nothing is said of an entry that may go on";
  }
}

TEST(Prompt, CompleteAndWrongEntriesDoNot) {
  for (const char* text :
       {"", "let x = 1", "f(1)", "a ) b", "let = 1", "\"abc", "f(1 2", "} {", "0 <= i < n"}) {
    Parsed parsed("");
    ParseResult result =
        parseReplEntry(parsed.sources.add("<prompt>", text), parsed.sources, parsed.names, parsed.sink);
    EXPECT_FALSE(result.incomplete) << text;
  }
}

} // namespace
} // namespace melix::parse
