// Rules 3, 7 and 28 to 32: operators, brackets, builders.
#include "parse/parsed.h"

#include <gtest/gtest.h>

namespace melix::parse {
namespace {

/// Both have the same tree but for the brackets of the second.
void expectGrouped(const std::string& text, const std::string& grouped) {
  std::string tree = treeOf(grouped), flat;
  // Leaves out the `paren` lines, and what stands below them moves up: compare kinds and names only.
  auto squeeze = [](const std::string& lines) {
    std::string out;
    size_t start = 0;
    std::vector<std::pair<size_t, size_t>> parens; // depth of a paren, and how far its inside moves
    while (start < lines.size()) {
      size_t end = lines.find('\n', start);
      std::string line = lines.substr(start, end - start);
      size_t depth = line.find_first_not_of(' ') / 2;
      while (!parens.empty() && depth <= parens.back().first) parens.pop_back();
      if (line.substr(2 * depth) == "paren")
        parens.push_back({depth, 0});
      else
        out += std::string(depth - parens.size(), '>') + line.substr(2 * depth) + "\n";
      start = end + 1;
    }
    return out;
  };
  EXPECT_EQ(squeeze(treeOf(text)), squeeze(tree)) << text;
}

TEST(Precedence, GoesFromPostfixToOr) {
  expectGrouped("a or b and c", "a or (b and c)");
  expectGrouped("not a and b", "(not a) and b");
  expectGrouped("not a == b", "not (a == b)");
  expectGrouped("a..b == c", "(a..b) == c");
  expectGrouped("a | b..c", "(a | b)..c");
  expectGrouped("a | b & c << d + e * f", "a | (b & (c << (d + (e * f))))");
  expectGrouped("a - b - c", "(a - b) - c");
  expectGrouped("a / b * c @ d % e", "(((a / b) * c) @ d) % e");
  expectGrouped("a * b as f32", "a * (b as f32)");
  expectGrouped("-a as f32", "(-a) as f32");
  expectGrouped("-x^2", "-(x^2)");
  expectGrouped("a^b^c", "a^(b^c)");
  expectGrouped("2^-1", "2^(-1)");
  expectGrouped("-a.b(c)[d]?", "-(((a.b(c))[d])?)");
}

TEST(Precedence, ComparisonsDoNotChain) {
  EXPECT_EQ(Parsed("0 <= i < n").errors(), "1:8 chained-comparison");
}

TEST(Precedence, ThereIsNoUnaryPlus) { EXPECT_EQ(Parsed("let x = +1").errors(), "1:9 no-plus-sign"); }

TEST(Casts, TakeTheLongestType) {
  EXPECT_NE(treeOf("x as f32[2]"), treeOf("(x as f32)[2]"));
  expectGrouped("e as f32?", "(e as f32)?");
  EXPECT_EQ(Parsed("x as [batch, chan]").errors(), "");
}

TEST(Brackets, HoldWhateverTypesAndIndicesNeed) {
  EXPECT_EQ(Parsed("x[i, 2..5, 1.., 0..n step 2, :, .., ..S, time: 0, new, -1]").errors(), "");
  EXPECT_EQ(Parsed("let a: Dict[str, (f32[N], inout int) -> f32[?M, _]] = b").errors(), "");
  EXPECT_EQ(Parsed("let a: ((f32) -> f32)[N] = b").errors(), "");
  EXPECT_EQ(Parsed("init[64, H: 128](k)").errors(), "");
}

TEST(Brackets, RangesHaveAStart) {
  EXPECT_EQ(Parsed("x[..n + 1]").errors(), "1:3 range-without-start");
  EXPECT_NE(Parsed("x[0:5]").messages().find("ranges are written `a..b`"), std::string::npos);
}

TEST(Brackets, PostfixQuestionMarkBindsToTheCall) { EXPECT_EQ(Parsed("let a = f(x)?.g()?").errors(), ""); }

TEST(Lambdas, NeedTheArrowBehindTheMatchingBracket) {
  EXPECT_NE(treeOf("f((a, b) => a)"), treeOf("f((a, b))"));
  EXPECT_EQ(Parsed("let f = (p: f64[2], (a, b), inout q) => { p }").errors(), "");
  EXPECT_EQ(Parsed("match x { n if n > 0 => n, _ => 0 }").errors(), "") << "a guard holds no lambda";
  EXPECT_EQ(Parsed("let c = [for x in xs if x > 0: x]").errors(), "");
}

TEST(Builders, HeadersMayHaveRangesPatternsAndPacks) {
  EXPECT_EQ(Parsed("[for i, j in 0..n, (a, b) in zip(x, y), ..k if i < j: a[i, ..k]]").errors(), "");
  EXPECT_EQ(Parsed("sum(for k: a[i, k] * b[k, j], over: 0)").errors(), "");
  EXPECT_EQ(Parsed("[for: 1]").errors(), "") << "a macro may leave no header";
}

TEST(Literals, TrailingCommasAreAllowed) {
  EXPECT_EQ(treeOf("[1, 2,]"), treeOf("[1, 2]"));
  EXPECT_EQ(treeOf("f(1, 2,)"), treeOf("f(1, 2)"));
  EXPECT_NE(treeOf("(1,)"), treeOf("(1)"));
  EXPECT_EQ(Parsed("[\"a\": 1, \"b\": 2]").errors(), "");
}

TEST(Strings, ALoneLiteralInBracesIsAnError) {
  EXPECT_EQ(Parsed("\"{1}\"").errors(), "1:3 braced-literal");
  EXPECT_EQ(Parsed("\"{x}{x + 1:>8.2f}\"").errors(), "");
}

TEST(Words, KeywordsAreNamesAfterAPointAndAfterFn) {
  EXPECT_EQ(Parsed("x.type.match").errors(), "");
  EXPECT_EQ(Parsed("fn in(x) = x").errors(), "");
  EXPECT_EQ(Parsed("fn +(a: V, b: V) -> V = a").errors(), "");
}

TEST(Words, WordsOfOnePlaceAreNamesElsewhere) {
  EXPECT_EQ(Parsed("let step = test + bench + scope + on + pure + check").errors(), "");
  EXPECT_EQ(Parsed("scope s { s.spawn(() => 1) }\non gpu { x }\nlet y = on gpu { x }").errors(), "");
}

TEST(Macros, TakeAStatementABlockOrAnItem) {
  EXPECT_EQ(Parsed("@unroll(4) for i in 0..N { f(i) }").count(), 1u);
  EXPECT_EQ(Parsed("@checkpoint { f() }").count(), 1u);
  EXPECT_EQ(Parsed("@model fn f(x) { x ~ Normal(0, 1); z: f64[J] ~ d }").count(), 1u);
  EXPECT_EQ(Parsed("@model\n@memo(2)\nfn f(x) = x").count(), 1u)
      << "before an item newlines may come between";
  EXPECT_EQ(Parsed("@a(1)\nlet x = 1").count(), 2u);
  EXPECT_EQ(Parsed("let c = @einsum(\"ij->i\", a) @ b").errors(), "");
  EXPECT_EQ(Parsed("if @m(x) { a }").errors(), "") << "in the head of `if` no block is taken";
}

} // namespace
} // namespace melix::parse
