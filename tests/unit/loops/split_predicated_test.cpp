// Rows under masks, cut where these begin to hold, and sums that are left out as a whole, from text.
#include "loops/index_sets/split_predicated.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel of rows %x and columns %j that sums over %b and a few %c, from `begun`, under the condition %g
/// that `mask` makes. Of `totals` those over %c begin with 0 and are added up.
std::string split(const std::string& mask, const std::string& begun = "0.0", bool totals = false,
                  const std::string& rows = "%first, %last") {
  return textAfter(
      "kernel @p(%first: i64, %last: i64, %n: i64, %k: i64, %y: i64, %e: data, %w: data, %r: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %three = const 3 : i64\n  %nought = const 0.0 : "
      "f32\n  "
      "%six = const 6 : i64\n  %twelve = const 12 : i64\n  %thirteen = const 13 : i64\n  "
      "%begun = const " +
          begun + " : f32\n  for independent unroll_jam 6 " + rows +
          " { (%x)\n    for independent vector 16 %zero, %n { (%j)\n"
          "      %s = for %zero, %three, %begun : f32 { (%b, %t)\n"
          "        %s2 = for %zero, %three, " +
          (totals ? "%nought" : "%t") +
          " : f32 { (%c, %u)\n"
          "          %v = load %w[%b*%k + %c*%n + %j*%one] : f32\n          %d = sub %x, %b : i64\n" +
          mask +
          "          %q = if %g : f32 {\n            %a = load %e[%d*%k + %c*%one] : f32\n"
          "            %p = mul %a, %v : f32\n            yield %p\n          } {\n"
          "            %nothing = const 0.0 : f32\n            yield %nothing\n          }\n"
          "          %z = add %u, %q : f32\n          yield %z\n        }\n" +
          (totals ? "        %s3 = add %t, %s2 : f32\n        yield %s3\n" : "        yield %s2\n") +
          "      }\n"
          "      store %r[%x*%n + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
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
/// Rows as they were once, at the ends; in between without a branch.
bool isCut(const std::string& text) { return count(text, "unroll_jam 6") == 2 && count(text, "= if %") == 1; }

TEST(SplitMasked, RowsAreCutWhereDifferencesAreInRange) {
  EXPECT_TRUE(
      isCut(split("%g1 = cmp ge %d, %zero : bool\n%g2 = cmp lt %d, %n : bool\n%g = and %g1, %g2 : bool\n")));
  EXPECT_TRUE(isCut(split("%f = add %x, %b : i64\n%g = cmp le %f, %y : bool\n")));
  EXPECT_TRUE(isCut(split("%h = sub %three, %d : i64\n%g = cmp gt %n, %h : bool\n"))) << "on either side";
}

TEST(SplitMasked, WhatIsNoBoundOfRowsStays) {
  auto isWhole = [](const std::string& text) { return count(text, "unroll_jam 6") == 1; };
  EXPECT_TRUE(isWhole(split("%f = mul %x, %b : i64\n%g = cmp le %f, %y : bool\n"))) << "not by one a row";
  EXPECT_TRUE(isWhole(split("%f = add %x, %x : i64\n%g = cmp le %f, %y : bool\n"))) << "by two";
  EXPECT_TRUE(isWhole(split("%g = cmp eq %d, %y : bool\n"))) << "holds at one row only";
  EXPECT_TRUE(
      isWhole(split("%i = load %r[%b*%one] : i64\n%f = sub %x, %i : i64\n%g = cmp ge %f, %zero : bool\n")))
      << "nothing is known of the number";
}

/// Ends are single rows.
TEST(SplitMasked, RowsOfTwoBlocksAreNotCut) {
  const std::string mask = "%g = cmp ge %d, %zero : bool\n";
  EXPECT_EQ(count(split(mask, "0.0", false, "%zero, %six"), "unroll_jam 6"), 1U);
  EXPECT_EQ(count(split(mask, "0.0", false, "%zero, %twelve"), "unroll_jam 6"), 1U);
  EXPECT_TRUE(isCut(split(mask, "0.0", false, "%zero, %thirteen")));
  const std::string unknown = split(mask);
  EXPECT_NE(unknown.find("sub %last, %first"), std::string::npos) << unknown;
  EXPECT_GE(count(unknown, ", %last, "), 2U) << "the middle begins and ends where all rows end";
}

TEST(SplitMasked, SumsAreLeftOutAsAWhole) {
  const std::string alike = "%f = sub %y, %b : i64\n%g = cmp ge %f, %zero : bool\n";
  const std::string text = split(alike);
  EXPECT_EQ(count(text, "= if %"), 1U);
  EXPECT_LT(text.find("= if %"), text.find("load %w")) << "around the sum over %c";
  const std::string outermost = split("%g = cmp ge %y, %zero : bool\n");
  EXPECT_LT(outermost.find("= if %"), outermost.find("%three, ")) << "around both";
  EXPECT_GT(split("%f = idiv %y, %n : i64\n%g = cmp ge %f, %zero : bool\n").find("= if %"),
            text.find("load %w"))
      << "divides by what may be zero where there is no term";
  EXPECT_GT(split("%g = cmp ge %c, %y : bool\n").find("= if %"), text.find("load %w"))
      << "it differs in the sum";
}

TEST(SplitMasked, AChainThatBeginsWithNegativeZeroIsAddedTo) {
  const std::string text = split("%f = sub %y, %b : i64\n%g = cmp ge %f, %zero : bool\n", "-0.0");
  EXPECT_GT(text.find("= if %"), text.find("load %w"));
  const std::string alike = "%g = cmp ge %y, %zero : bool\n";
  const std::string none = split(alike, "0.0", true), negative = split(alike, "-0.0", true);
  EXPECT_LT(none.find("= if %"), none.find("%three, ")) << "nothing is added to a total of +0";
  EXPECT_GT(negative.find("= if %"), negative.find("%three, "));
  EXPECT_LT(negative.find("= if %"), negative.find("load %w"));
}

} // namespace
} // namespace melix::loops
