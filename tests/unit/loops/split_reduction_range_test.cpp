// Sums whose terms are under a mask by row and turn, from text.
#include "loops/index_sets/split_predicated.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel of rows %i and columns %j that sums over %l, from `begun`, under the condition %g that `mask`
/// makes; where it does not hold `other` is added.
std::string split(const std::string& mask, const std::string& begun = "0.0", const std::string& other = "0.0",
                  const std::string& turns = "%k") {
  return textAfter(
      "kernel @p(%a: i64, %b: i64, %n: i64, %k: i64, %x: data, %y: data, %r: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %ten = const 10 : i64\n  %begun = const " +
          begun +
          " : f32\n  for independent unroll_jam 6 %a, %b { (%i)\n    for independent vector 16 %zero, %n { "
          "(%j)\n"
          "      %s = for %zero, " +
          turns + ", %begun : f32 { (%l, %t)\n        %v = load %y[%l*%n + %j*%one] : f32\n" + mask +
          "        %q = if %g : f32 {\n          %u = load %x[%i*%k + %l*%one] : f32\n"
          "          %p = mul %u, %v : f32\n          yield %p\n        } {\n"
          "          %nothing = const " +
          other +
          " : f32\n          yield %nothing\n        }\n        %z = add %t, %q : f32\n        yield %z\n"
          "      }\n      store %r[%i*%n + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
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
/// The loop over the rows at which the mask holds for all turns, and that over the others: in these the sum
/// is cut.
bool isCut(const std::string& text) { return count(text, " = for ") == 3 && count(text, "= if %g") == 1; }
const char* const upto = "        %g = cmp le %l, %i : bool\n";
const char* const from = "        %g = cmp ge %l, %i : bool\n";

TEST(CutChains, WhereTheMaskBeginsOrEndsToHold) {
  EXPECT_TRUE(isCut(split(upto))) << split(upto);
  EXPECT_TRUE(isCut(split(from)));
  EXPECT_TRUE(isCut(split("        %d = sub %i, %ten : i64\n        %g = cmp gt %d, %l : bool\n")));
}

TEST(CutChains, TermsInTheirOrder) {
  const std::string up = split(upto), down = split(from);
  const size_t sums = up.find("const 48"), ends = down.find("const 48");
  EXPECT_LT(up.find(" = for ", sums), up.find("= if %g", sums));
  EXPECT_LT(up.find(" = for ", up.find(" = for ", sums) + 1), up.find("= if %g", sums))
      << "all, then some: " << up;
  EXPECT_GT(down.find(" = for ", down.find(" = for ", ends) + 1), down.find("= if %g", ends))
      << "some, then all: " << down;
}

TEST(CutChains, NothingIsLeftOutThatCounts) {
  auto ends = [](const std::string& text) { return count(text, " = max %") + count(text, " = min %"); };
  EXPECT_LT(ends(split(upto, "-0.0")), ends(split(upto))) << "-0 and +0 is +0";
  EXPECT_LT(ends(split(upto, "0.0", "1.0")), ends(split(upto))) << "something is added";
  EXPECT_TRUE(isCut(split(upto, "-0.0"))) << "but where it holds for all rows there is no branch";
}

TEST(CutChains, NotShortOnesNorUnderOtherConditions) {
  EXPECT_FALSE(isCut(split(upto, "0.0", "0.0", "%ten")));
  EXPECT_FALSE(isCut(split("        %g = cmp eq %l, %i : bool\n")));
  EXPECT_FALSE(isCut(split("        %g = cmp le %l, %n : bool\n"))) << "it does not tell rows apart";
}

} // namespace
} // namespace melix::loops
