// Rows that a mask leaves no sum, from text.
#include "loops/index_sets/split_predicated.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel of rows %i and a panel of columns %j, whose sums are stored where `mask`, the value %g, says so.
std::string split(const std::string& mask, const std::string& chosen = "select %g, %s, %nought : f32",
                  const std::string& stored = "%t", const std::string& begin = "%first") {
  return textAfter(
      "kernel @p(%a: i64, %b: i64, %n: i64, %k: i64, %first: i64, %last: i64, %x: data, %y: data, %r: "
      "data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %nought = const 0.0 : f32\n"
      "  for independent unroll_jam 6 %a, %b { (%i)\n    for independent vector 16 " +
          begin +
          ", %last { (%j)\n      %s = for %zero, %k, %nought : f32 { (%l, %t0)\n"
          "        %u = load %x[%i*%k + %l*%one] : f32\n        %v = load %y[%l*%n + %j*%one] : f32\n"
          "        %w = fma %u, %v, %t0 : f32\n        yield %w\n      }\n" +
          mask + "      %t = " + chosen + "\n      store %r[%i*%n + %j*%one] = " + stored +
          "\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        for (Function& fn : module.functions) splitPredicated(module, fn);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
/// One loop over rows with a sum, and one without.
bool skips(const std::string& text) {
  return count(text, "store %r") == 2 && count(text, "fma ") == 1 && count(text, "unroll_jam 6") == 1;
}
const char* const before = "      %g = cmp le %j, %i : bool\n";

TEST(SkipRows, WhereNoColumnOfThePanelCounts) {
  EXPECT_TRUE(skips(split(before)));
  EXPECT_TRUE(skips(split("      %d = add %i, %n : i64\n      %g = cmp gt %d, %j : bool\n"))) << "shifted";
  EXPECT_TRUE(skips(split("      %g = cmp ge %j, %i : bool\n"))) << "rows behind the panel";
  EXPECT_TRUE(skips(split("      %g = cmp gt %j, %i : bool\n", "select %g, %nought, %s : f32")))
      << "taken where not";
  EXPECT_TRUE(skips(split("      %g = cmp lt %n, %i : bool\n"))) << "of rows alone";
}

TEST(SkipRows, AtBothEndsOfABand) {
  const std::string text = split("      %e = cmp le %j, %i : bool\n      %d = sub %i, %j : i64\n"
                                 "      %o = cmp lt %d, %n : bool\n      %g = and %e, %o : bool\n");
  EXPECT_EQ(count(text, "store %r"), 3u) << text;
  EXPECT_EQ(count(text, "fma "), 1u) << text;
  const std::string half = split("      %e = cmp le %j, %i : bool\n      %d = mul %i, %i : i64\n"
                                 "      %o = cmp lt %d, %j : bool\n      %g = and %e, %o : bool\n");
  EXPECT_TRUE(skips(half)) << "where one of two conditions is a bound: " << half;
}

TEST(SkipRows, NotWhereTheSumIsSeenAnyway) {
  EXPECT_FALSE(skips(split(before, "select %g, %s, %nought : f32", "%s")));
  EXPECT_FALSE(skips(split(before, "select %g, %s, %s : f32")));
}

TEST(SkipRows, NotWhereAllColumnsAreOnePanel) {
  EXPECT_FALSE(skips(split(before, "select %g, %s, %nought : f32", "%t", "%zero")));
}

TEST(SkipRows, NotUnderWhatIsNoBound) {
  EXPECT_FALSE(skips(split("      %g = cmp eq %j, %i : bool\n")));
  EXPECT_FALSE(skips(split("      %d = mul %i, %i : i64\n      %g = cmp le %j, %d : bool\n")));
}

} // namespace
} // namespace melix::loops
