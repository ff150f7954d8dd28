// What the layout looks like.
#include "format/formatted.h"

#include <gtest/gtest.h>

namespace melix::format {
namespace {

/// The text is as it should be: formatting changes nothing.
void expectStays(const std::string& text) {
  Formatted result = formatted(text);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.text, text);
}

void expectBecomes(const std::string& before, const std::string& after) {
  Formatted result = formatted(before);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.text, after);
  EXPECT_EQ(formatted(after).text, after);
}

TEST(Layout, BlanksAroundOperators) {
  expectBecomes("let x=a+b*-c^2 .. d\n", "let x = a+b*-c^2..d\n");
  expectBecomes("let x=a+b*-c ^ 2\n", "let x = a + b * -c^2\n");
  expectBecomes("x[ i ,2 .. n-1,time :0 ]=f ( a , b:1 , &c )?\n",
                "x[i, 2..n-1, time: 0] = f(a, b: 1, &c)?\n");
  expectBecomes("let s=\"{ x+1 :>8} {{}}\"\n", "let s = \"{x + 1:>8} {{}}\"\n");
}

TEST(Layout, ABlockOfOneSimpleStatementFitsItsLine) {
  expectStays("fn f(a) {\n  if a < 0 { return (nan, 0) }\n  a\n}\n");
  expectBecomes("fn f(a) { if a < 0 { return (nan, 0) }; a }\n",
                "fn f(a) {\n  if a < 0 { return (nan, 0) }\n  a\n}\n");
  expectBecomes("for i in 0..n {\n s += i\n}\n", "for i in 0..n { s += i }\n");
  expectBecomes("for i in 0..n { for j in 0..n { s += i } }\n",
                "for i in 0..n {\n  for j in 0..n { s += i }\n}\n");
  expectBecomes("if a { b } else { c; d }\n", "if a {\n  b\n} else {\n  c\n  d\n}\n");
}

TEST(Layout, LoopsOverSeveralSourcesAndPatternsOfLists) {
  expectBecomes("for i in 0..3,j in i..3 {print(i,j)}\n", "for i in 0..3, j in i..3 { print(i, j) }\n");
  expectBecomes("for  &row in rows,& x in row  if x  > 1 { x*=2 }\n",
                "for &row in rows, &x in row if x > 1 { x *= 2 }\n");
  expectBecomes("while let   Some(x)=next(&it){ f(x) }\n", "while let Some(x) = next(&it) { f(x) }\n");
  expectBecomes("let [ a,b ,]=xs else{return}\n", "let [a, b] = xs else { return }\n");
  expectBecomes("match xs { []=>0; [ x,_ ]|[_,x] if x>1=>2, _=>3 }\n",
                "match xs {\n  [] => 0\n  [x, _] | [_, x] if x > 1 => 2\n  _ => 3\n}\n");
  expectBecomes("sum(for i in 0..n,j in 0..i if i>j:x[i])\n",
                "sum(for i in 0..n, j in 0..i if i > j: x[i])\n");
}

TEST(Layout, AnItemStandsBelowTheUsesOfMacrosOnIt) {
  expectBecomes("@a(1) @b fn f() = 1\n@c\n\nstruct S { x: int }\n",
                "@a(1)\n@b\nfn f() = 1\n@c\nstruct S { x: int }\n");
  expectBecomes("macro m() -> Item { quote { @a fn f() = 1 } }\n",
                "macro m() -> Item {\n  quote {\n    @a\n    fn f() = 1\n  }\n}\n");
  expectStays("@a(2) for i in xs { f(i) }\n@b @c { f() }\nlet x = @d(1)\n");
}

TEST(Layout, OnlyAUseThatTakesAnItemKeepsItsSemicolon) {
  expectStays("@a;\nfn f() = 1\n");
  expectStays("let x = @a\nfn f() = 1\n");
  expectBecomes("let x = @a; fn f() = 1\nlet x = 1 as @a; fn f() = 1\ntype T = @a; fn g() = 1\n",
                "let x = @a\nfn f() = 1\nlet x = 1 as @a\nfn f() = 1\ntype T = @a\nfn g() = 1\n");
}

TEST(Layout, AProductBehindAUseIsNoUseOfTheItemBelow) {
  expectBecomes("@a(5)\n@\nb(6);\n\nfn f() = 1\n", "@a(5) @ b(6)\n\nfn f() = 1\n");
  expectStays("@a(5) @ b(6)\nfn f() = 1\n");
  expectBecomes("@a(5) @b(6) fn f() = 1\n", "@a(5)\n@b(6)\nfn f() = 1\n");
}

TEST(Layout, FormatsWithValuesAndRawTexts) {
  expectBecomes("f(\"{x:{ w }.{d+1}e}{y:*^{ w}}\")\n", "f(\"{x:{w}.{d + 1}e}{y:*^{w}}\")\n");
  expectStays("f(r#\"a \"b\" {c}\"#, r##\"\"#\"##)\n");
}

TEST(Layout, SeparatorsAreWrittenAnew) {
  expectBecomes("struct P { x: f32; y: f32\n z: f32, }\n", "struct P { x: f32, y: f32, z: f32 }\n");
  expectBecomes("enum E { A, B; C }\n", "enum E { A, B, C }\n");
  expectBecomes("enum E { A(int), B }\n", "enum E {\n  A(int)\n  B\n}\n");
  expectBecomes("match e { A => 1, B if x => { 2 }; _ => f(3) }\n",
                "match e {\n  A => 1\n  B if x => { 2 }\n  _ => f(3)\n}\n");
  expectBecomes("a; b;\n", "a\nb\n");
}

TEST(Layout, LongListsHaveALineForEachElement) {
  std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
  expectBecomes("f(" + a + "," + b + "," + c + ")\n", "f(\n  " + a + ",\n  " + b + ",\n  " + c + "\n)\n");
  expectBecomes("let x = " + a + "+" + b + "+" + c + "\n",
                "let x = " + a + "\n  + " + b + "\n  + " + c + "\n");
  expectBecomes("fn f(" + a + ": int," + b + ": int," + c + ": int) -> int { 1 }\n",
                "fn f(\n  " + a + ": int,\n  " + b + ": int,\n  " + c + ": int\n) -> int {\n  1\n}\n");
  expectBecomes("fn f(x) = mean(" + a + ", " + b + ", g(x))\n",
                "fn f(x) =\n  mean(" + a + ", " + b + ", g(x))\n");
}

TEST(Layout, NumbersFillTheirLines) {
  std::string numbers;
  for (int k = 0; k < 40; ++k) numbers += std::to_string(1000 + k) + (k < 39 ? ", " : "");
  std::string text = formatted("let x = [" + numbers + "]\n").text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
}

TEST(Layout, TheLastArgumentMayBringItsLines) {
  expectStays("let y = map(xs, x => {\n  let z = x + 1\n  z * z\n})\n");
  std::string sum = "sum(for j, k: table[i, j, k] * table[i, k, j] + table[k, j, i] * weight[i, j, k])";
  expectStays("let total_of_all = mean([for i:\n  " + sum + "])\n");
}

TEST(Layout, CommentsStay) {
  expectStays("// at the start\n\n/// Doc.\nfn f() { // behind\n  // inside\n  a // behind a\n\n  // at the "
              "end\n}\n\n// last\n");
  expectStays("struct P {\n  x: f32 // first\n  // second\n  y: f32\n}\n");
  expectBecomes("f(a, // one\n  // two\n  b)\n", "f(\n  a, // one\n  // two\n  b\n)\n");
  expectStays("let x = a // why\n  + b\n");
  expectStays("let x = f(a /* inline */, b /* last */)\n");
}

TEST(Layout, OneBlankLineIsKept) {
  expectBecomes("\n\na\n\n\n\nb\nc\n\n", "a\n\nb\nc\n");
  expectBecomes("fn f() {\n\n  a\n\n\n  b\n\n}\n", "fn f() {\n  a\n\n  b\n}\n");
}

TEST(Layout, CarriageReturnsByteOrderMarkAndTrailingBlanksGo) {
  expectBecomes("\xef\xbb\xbf#!/usr/bin/env melix  \r\na  \r\n// c  \r\nb",
                "#!/usr/bin/env melix\na\n// c\nb\n");
  expectBecomes("let s = \"\"\"a\r\n b\"\"\"\r\n", "let s = \"\"\"a\n b\"\"\"\n");
}

TEST(Layout, ABlockAtTheStartOfAnInterpolationIsNoEscapedBrace) {
  Formatted result = formatted("let s = \"{ {a} }\"\n");
  EXPECT_EQ(formatted(result.text).tree, result.tree) << result.text;
}

TEST(Layout, ATreeWithErrorsIsRefused) {
  for (const char* text : {"let x =", "if a {", "quote {", "fn f(", "match x { A =>", "struct S {"}) {
    SourceStore sources;
    Interner names;
    DiagnosticSink sink;
    parse::ParseResult result = parse::parseFile(sources.add("test.mlx", text), sources, names, sink);
    std::optional<std::string> out = formatFile(result.ast, sources);
    EXPECT_FALSE(out.has_value()) << text;
  }
}

TEST(Layout, EmptyFilesStayEmpty) {
  EXPECT_EQ(formatted("").text, "");
  EXPECT_EQ(formatted("\n \n").text, "");
  EXPECT_EQ(formatted("// only a comment").text, "// only a comment\n");
}

/// Formatting keeps what the text means, and doing it again changes nothing.
void expectMeansTheSame(const std::string& text) {
  const Formatted first = formatted(text), second = formatted(first.text);
  EXPECT_EQ(first.errors, "") << text;
  EXPECT_EQ(second.errors, "") << first.text;
  EXPECT_EQ(second.text, first.text) << text;
  EXPECT_EQ(second.tree, first.tree) << first.text;
}

TEST(Layout, OperatorsOfRangesBehindComments) {
  for (const std::string op : {"-", "+", "*", "/", "%", "&", "|", "<<"})
    for (const std::string comment : {" // c\n  ", " /* c */ ", "\n  // c\n  ", " /* c\n */ "}) {
      expectMeansTheSame("for i in most" + comment + op + " 2..most { f(i) }\n");
      expectMeansTheSame("for i in 0..most" + comment + op + " 2 { f(i) }\n");
      expectMeansTheSame("let r = most " + op + comment + " 2..most\n");
    }
  expectMeansTheSame("let r = x[a // c\n  - 1..b // d\n  - 2]\n");
}

TEST(Layout, CommentsOnBothSidesOfACommaBetweenFields) {
  for (const std::string before : {"", " /* a */ ", " // a\n", "\n// a\n"})
    for (const std::string after : {"", " /* b */ ", " // b\n", "\n// b\n"}) {
      expectMeansTheSame("enum T { Leaf(v: int), Node(left: T" + before + "," + after + "right: T) }\n");
      expectMeansTheSame("enum T { Leaf(v: int), Node(left: T, right: T" + before + "," + after + ") }\n");
      expectMeansTheSame("struct S { a: int" + before + "," + after + "b: int }\n");
      expectMeansTheSame("f(a" + before + "," + after + "b)\n");
    }
}

TEST(Layout, BlocksOnADevice) {
  EXPECT_EQ(formatted("let y = on   gpu{ x }\nlet z = on gpu( 1 ){x}\n").text,
            "let y = on gpu { x }\nlet z = on gpu(1) { x }\n");
  expectMeansTheSame("on gpu { // why\n  y = x\n}\nlet z = 1 + on cpu { 2 }\n");
}

} // namespace
} // namespace melix::format
