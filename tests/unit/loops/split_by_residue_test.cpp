// Loops that run once for each remainder of their index, from text.
#include "loops/index_sets/split_by_residue.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel of rows %i and columns %j, whose sums read what `parts` make of the row.
std::string split(const std::string& parts, const std::string& rows = "independent %zero, %m",
                  bool hasSum = true) {
  const std::string sum = hasSum ? "      %s = for %zero, %k, %nought : f32 { (%l, %t)\n        " + parts +
                                       "        %u = load %x[%q*%k + %l*%one] : f32\n"
                                       "        %v = load %w[%r*%n + %j*%one] : f32\n"
                                       "        %f = fma %u, %v, %t : f32\n        yield %f\n      }\n"
                                 : parts + "      %s = load %x[%q*%n + %r*%one] : f32\n";
  return textAfter(
      "kernel @p(%a: i64, %b: i64, %m: i64, %n: i64, %k: i64, %x: data, %w: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %two = const 2 : i64\n"
      "  %nine = const 9 : i64\n  %nought = const 0.0 : f32\n  for " +
          rows + " { (%i)\n    for independent %zero, %n { (%j)\n" + sum +
          "      store %y[%i*%n + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        for (Function& fn : module.functions) splitByResidue(module, fn);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
const std::string halves = "%q = idiv %i, %two : i64\n        %r = irem %i, %two : i64\n";

TEST(SplitPhases, RowsThatAreHalved) {
  const std::string text = split(halves);
  EXPECT_EQ(count(text, "for independent"), 3u) << text;
  EXPECT_GT(text.find("(%j)"), text.find("irem")) << "the remainder is known in front of the rows: " << text;
  EXPECT_EQ(count(text.substr(text.find("(%j)")), "div"), 0u) << "no row divides: " << text;
  EXPECT_EQ(
      count(split("%d = sub %nine, %i : i64\n        %q = idiv %d, %two : i64\n        %e = add %i, %one : "
                  "i64\n        %r = irem %e, %two : i64\n"),
            "for independent"),
      3u)
      << "backwards, and shifted";
}

TEST(SplitPhases, OtherLoopsStayAsTheyAre) {
  EXPECT_EQ(count(split(halves, "independent %a, %b"), "for independent"), 2u) << "over a chunk";
  EXPECT_EQ(count(split("      " + halves, "independent %zero, %m", false), "for independent"), 2u)
      << "without a sum";
  EXPECT_EQ(count(split("%q = idiv %i, %k : i64\n        %r = irem %i, %k : i64\n"), "for independent"), 2u)
      << "by a number that is not known";
}

TEST(SplitPhases, ColumnsThatAreHalved) {
  const std::string text = split("%q = idiv %j, %two : i64\n        %r = irem %j, %two : i64\n");
  EXPECT_EQ(count(text, "for independent"), 3u) << text;
  EXPECT_LT(text.find("for independent"), text.find("(%i)"))
      << "remainders stand outside of the rows: " << text;
  EXPECT_EQ(count(text.substr(text.find(" = for %zero, %k")), "div"), 0u) << "no column divides: " << text;
  EXPECT_EQ(count(split("%q = idiv %j, %two : i64\n        %r = irem %j, %two : i64\n", "independent %a, %b"),
                  "for independent"),
            3u)
      << "in a chunk of rows";
}

} // namespace
} // namespace melix::loops
