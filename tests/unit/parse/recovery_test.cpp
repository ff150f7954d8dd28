// One cause, one message; any nesting, any text.
#include "parse/parsed.h"

#include <gtest/gtest.h>

namespace melix::parse {
namespace {

TEST(Recovery, AStatementThatCannotBeReadDoesNotHideTheNext) {
  EXPECT_EQ(Parsed("let = 1\nlet b = 2\nlet c 3\nlet d = )\n").errors(),
            "1:5 expected, 3:7 expected, 4:9 expected");
  EXPECT_EQ(Parsed("fn f() {\n  let a = *\n  b\n}\nfn g() = 1").errors(), "2:11 expected");
}

TEST(Recovery, OneArmFieldOrCaseDoesNotHideTheOthers) {
  EXPECT_EQ(Parsed("match e {\n  A => 1\n  B 2\n  C => 3\n}\nlet x = 1").errors(), "3:5 expected");
  EXPECT_EQ(Parsed("struct P {\n  x f32\n  y: f32\n}\nlet x = 1").errors(), "2:5 expected");
  EXPECT_EQ(Parsed("enum E {\n  A(\n  B\n}\nlet x = 1").errors(), "4:1 expected");
  EXPECT_EQ(Parsed("enum E {\n  2\n  B\n}\nlet x = 1").errors(), "2:3 expected");
}

TEST(Recovery, AMissingClosingBracketShowsWhereItWasOpened) {
  std::string messages = Parsed("fn f() {\n  g(1\n").messages();
  EXPECT_NE(messages.find("test.mlx:2:4: note: this `(` is not closed"), std::string::npos) << messages;
  EXPECT_NE(Parsed("fn f() {\n  1\n").messages().find("1:8: note: this `{` is not closed"),
            std::string::npos);
}

TEST(Recovery, StrayBracketsAreOneMessage) { EXPECT_EQ(Parsed("}}}\nlet x = 1").errors(), "1:1 expected"); }

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int k = 0; k < count; ++k) out += text;
  return out;
}

TEST(Depth, Up256IsReadAndMoreIsADiagnostic) {
  EXPECT_EQ(Parsed(repeated("(", 256) + "1" + repeated(")", 256)).errors(), "");
  EXPECT_EQ(Parsed(repeated("(", 257) + "1" + repeated(")", 257)).errors(), "1:257 nested-too-deep");
  EXPECT_EQ(Parsed("fn f() {" + repeated("if a {", 255) + "1" + repeated("}", 256)).errors(), "");
  EXPECT_EQ(Parsed(repeated("[", 256) + "1" + repeated("]", 256)).errors(), "");
}

TEST(Depth, AHundredThousandLevelsAreAFewMessages) {
  for (const char* piece : {"(",
                            "[",
                            "{",
                            "f(",
                            "x[",
                            "-",
                            "not ",
                            "x => ",
                            "2^",
                            "if ",
                            "if a {",
                            "match x {",
                            "match x { (",
                            "return ",
                            "@a ",
                            "@a\n",
                            "@unchecked\n",
                            "quote {",
                            "\"{",
                            "\"{f(",
                            "$(",
                            "a+",
                            "a.b",
                            "a as ",
                            "let x: (",
                            "let x: (A) -> ",
                            "&",
                            "f32[",
                            "if a {} else ",
                            "fn f(x: (",
                            "struct A {",
                            "}",
                            ")",
                            "1.",
                            "'",
                            "\"",
                            "#",
                            "\\",
                            "[for i: ",
                            "while a {"}) {
    Parsed parsed(repeated(piece, 100000));
    EXPECT_LE(parsed.sink.errorCount(), 70u) << piece;
    EXPECT_TRUE(parsed.result.ast.root.valid()) << piece;
  }
}

TEST(Depth, ChainsAreNotNested) {
  EXPECT_EQ(Parsed("1" + repeated(" + 1", 1000)).errors(), "");
  EXPECT_EQ(Parsed("if a { 1 }" + repeated(" else if a { 1 }", 900) + " else { 1 }").errors(), "");
  EXPECT_EQ(Parsed("1" + repeated(" + 1", 1001)).errors(), "1:4003 chain-too-long");
  EXPECT_NE(Parsed("if a { 1 }" + repeated(" else if a { 1 }", 1001)).errors().find("chain-too-long"),
            std::string::npos);
}

TEST(Depth, LongChainsInDeepBracketsDoNotMakeATreeOfAnyHeight) {
  std::string text = "1";
  for (int k = 0; k < 200; ++k) text = "(" + text + ")" + repeated(" + 1", 100);
  Parsed parsed(text);
  EXPECT_EQ(parsed.sink.errorCount(), 1u);
  EXPECT_NE(parsed.errors().find("nested-too-deep"), std::string::npos);
}

TEST(Recovery, ATextThatIsNotUtf8IsRefused) { EXPECT_EQ(Parsed("let a = 1\n\xff").errors(), "2:1 not-utf8"); }

TEST(Items, ManyKinds) {
  for (const char* text :
       {"use a.b.{f, G}, c as d", "pub use a", "const n: int = 3", "type P[N] = f32[N]",
        "check Mlp: nn.Layer[f32[2]]", "extern \"C\" fn f(x: f32[N]) -> f32",
        "export fn f(x: int) -> int = x", "pub pure fn f() {}", "concept L[X] { fn apply(self, x: X) -> X }",
        "struct C[T, M]: Array[T, M] { v: T[M] }",
        "fn f[T: Float = f32, N, ..S](inout x: T[..S], k: int = 3) -> T[?M] { x }",
        "test \"a\" { assert x == 1, \"b\" }", "bench \"b\" { f() }",
        "macro m(n: int, ..xs: Expr, body: Block) -> Block { quote { $body; $..xs } }",
        "@derivative(of: f)\nfn g(x) = x", "fn f($..ps) = 1", "struct S { $..fields }"})
    EXPECT_EQ(Parsed(text).errors(), "") << text;
}

TEST(Items, ModifiersStandOnlyBeforeWhatTheyModify) {
  EXPECT_EQ(Parsed("pub test \"a\" {}").errors(), "1:5 expected");
  EXPECT_EQ(Parsed("@inplace const n = 1").errors(), "1:10 expected");
  EXPECT_EQ(Parsed("extern \"C\" struct S {}").errors(), "1:12 expected");
}

TEST(Items, AParameterMayBeCutOffAnywhere) {
  for (std::string text :
       {"fn f(", "fn f(inout", "fn f(..", "fn f($", "fn f($x", "quote param { inout", "(inout"})
    EXPECT_NE(Parsed(text).errors(), "") << text;
}

TEST(Depth, NothingIsReadTwice) {
  EXPECT_EQ(Parsed(repeated("@unchecked({ ", 100) + "1" + repeated(" })", 100)).errors(), "");
}

TEST(Items, DocumentationBelongsToTheItemBelow) {
  Parsed parsed("/// Adds.\n/// Twice.\nfn f() = 1\n\n// no documentation\nfn g() = 2");
  const auto& items = parsed.result.ast[parsed.result.ast.root].as<syntax::Many>().items;
  EXPECT_EQ(parsed.result.ast.docOf(items[0], parsed.sources), "Adds.\nTwice.");
  EXPECT_EQ(parsed.result.ast.docOf(items[1], parsed.sources), "");
}

} // namespace
} // namespace melix::parse
