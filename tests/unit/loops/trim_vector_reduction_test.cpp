// Sums at points in lanes whose terms are under a mask by point and turn, from text.
#include "loops/index_sets/split_predicated.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel of points %i in lanes that sums over %l under the condition %g that `mask` makes; `other` goes on
/// where it does not hold.
std::string cut(const std::string& mask, const std::string& other = "%t", const std::string& turns = "%k") {
  return textAfter(
      "kernel @p(%a: i64, %b: i64, %k: i64, %m: i64, %x: data, %y: data, %r: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %ten = const 10 : i64\n  %begun = const 0.0 : f32\n"
      "  for independent vector 8 interleave 4 %a, %b { (%i)\n    %s = for %zero, " +
          turns + ", %begun : f32 { (%l, %t)\n" + mask +
          "      %q = if %g : f32 {\n        %d = sub %i, %l : i64\n        %u = load %x[%d*%one] : f32\n"
          "        %v = load %y[%l*%one] : f32\n        %p = mul %u, %v : f32\n"
          "        %z = add %t, %p : f32\n        yield %z\n      } {\n        yield " +
          other +
          "\n      }\n      yield %q\n    }\n    store %r[%i*%one] = %s\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        for (Function& fn : module.functions) splitPredicated(module, fn);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
/// From where to where the sum goes.
std::string constantTripCount(const std::string& text) {
  const size_t begin = text.find("%s = for ") + 9;
  return text.substr(begin, text.find(", %begun", begin) - begin);
}
bool ends(const std::string& text) { return !constantTripCount(text).ends_with("%k"); }
bool begins(const std::string& text) { return !constantTripCount(text).starts_with("%zero"); }

TEST(CutLaneChains, WhereTheMaskBeginsAndEndsToHold) {
  const std::string upto = cut("      %g = cmp le %l, %i : bool\n");
  EXPECT_TRUE(ends(upto) && !begins(upto)) << upto;
  EXPECT_NE(upto.find("const 31"), std::string::npos) << "32 points at a time: " << upto;
  const std::string from = cut("      %g = cmp gt %l, %i : bool\n");
  EXPECT_TRUE(begins(from) && !ends(from)) << from;
  const std::string both = cut("      %e = sub %i, %l : i64\n      %f = cmp ge %e, %zero : bool\n"
                               "      %h = cmp lt %e, %m : bool\n      %g = and %f, %h : bool\n");
  EXPECT_TRUE(begins(both) && ends(both)) << both;
}

TEST(CutLaneChains, TheBranchStays) {
  const std::string upto = cut("      %g = cmp le %l, %i : bool\n");
  EXPECT_NE(upto.find("= if %g"), std::string::npos) << "for some of the points: " << upto;
}

/// A range that ends with the point: each lane has turns of its own.
TEST(CutLaneChains, NotWhereTurnsDifferBetweenPoints) {
  const std::string own = cut("      %g = cmp le %l, %i : bool\n", "%t", "%i");
  EXPECT_EQ(own.find("const 31"), std::string::npos) << own;
}

TEST(CutLaneChains, NotWhereAnotherTurnCountsNorAllPointsAreAlike) {
  for (const std::string& text :
       {cut("      %g = cmp le %l, %i : bool\n", "%begun"), cut("      %g = cmp le %l, %m : bool\n"),
        cut("      %g = cmp eq %l, %i : bool\n"), cut("      %g = cmp le %l, %i : bool\n", "%t", "%ten")})
    EXPECT_EQ(text.find("const 31"), std::string::npos) << text;
}

} // namespace
} // namespace melix::loops
