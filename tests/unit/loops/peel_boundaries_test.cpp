// Rows whose indices are held within bounds, from text.
#include "loops/index_sets/peel_boundaries.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A row of points %j, each a sum over %l of what lies at the %p that `index` makes of %s = %j + %l.
std::string cut(const std::string& index, const std::string& place = "%i*%n + %p*%one") {
  return textAfter(
      "kernel @f(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %five = const 5 : i64\n"
      "  %end = sub %n, %one : i64\n  for independent %first, %last { (%i)\n    for independent %zero, %n { "
      "(%j)\n"
      "      %r = for %zero, %five, %z : f32 { (%l, %c)\n        %s = add %j, %l : i64\n        " +
          index + "        %a = load %x[" + place +
          "] : f32\n        %b = load %w[%l*%one] : f32\n        %t = fma %a, %b, %c : f32\n        yield "
          "%t\n      }\n"
          "      store %y[%i*%n + %j*%one] = %r\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        peelBoundaries(module, module.functions[FunctionId(0)]);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
const std::string clamped = "%q = max %s, %zero : i64\n        %p = min %q, %end : i64\n";

TEST(SplitClamped, WithinTheBoundsNothingIsBounded) {
  const std::string text = cut(clamped);
  ASSERT_EQ(count(text, "for independent"), 3u) << "the rows, both ends, and what is within: " << text;
  const std::string within = text.substr(text.rfind("for independent"));
  EXPECT_EQ(count(within, "load %x[%i*%n + %s"), 1u) << "the index itself: " << within;
  EXPECT_EQ(count(cut("%q = min %s, %end : i64\n        %p = max %q, %zero : i64\n"), "for independent"), 3u);
  EXPECT_EQ(count(cut("%p = max %zero, %s : i64\n"), "for independent"), 3u) << "of one bound";
}

TEST(SplitClamped, AnIndexThatWrapsIsASumWithin) {
  const std::string text = cut("%p = irem %s, %n : i64\n");
  ASSERT_EQ(count(text, "for independent"), 3u) << text;
  EXPECT_EQ(count(text, "irem"), 1u) << "at the ends: " << text;
  EXPECT_EQ(count(cut("%eight = const 8 : i64\n        %p = irem %s, %eight : i64\n"), "for independent"), 3u)
      << "by a number that stands inside";
  EXPECT_EQ(count(cut("%p = irem %n, %s : i64\n"), "for independent"), 2u) << "it is no divisor";
  EXPECT_EQ(count(cut("%e = add %n, %l : i64\n        %p = irem %s, %e : i64\n"), "for independent"), 2u)
      << "nor the same in all turns";
}

TEST(SplitClamped, WhereNothingIsGainedRowsStay) {
  EXPECT_EQ(count(cut("%p = max %l, %zero : i64\n"), "for independent"), 2u) << "the same at all points";
  EXPECT_EQ(count(cut("%q = mul %s, %s : i64\n        %p = max %q, %zero : i64\n"), "for independent"), 2u)
      << "neighbours would not lie side by side";
  EXPECT_EQ(count(cut("%p = max %s, %zero : i64\n", "%i*%n + %l*%one"), "for independent"), 2u)
      << "nothing is read there";
  EXPECT_EQ(count(cut(clamped, "%p*%one"), "for independent"), 2u)
      << "rows of %i share what is read: a panel is made of it";
}

/// A chunk of points %i, each of what a branch on `condition`, the value %c, reads.
std::string branches(const std::string& condition, const std::string& arm = "%a = load %x[%i*%one] : f32\n") {
  return textAfter("kernel @f(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %y: data) {\n"
                   "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %many = const 99 : i64\n"
                   "  for independent %first, %last { (%i)\n" +
                       condition + "    %r = if %c : f32 {\n" + arm +
                       "      yield %a\n    } {\n      yield %z\n    }\n    store %y[%i*%one] = %r\n    "
                       "yield\n  }\n  yield\n}\n",
                   [](Module& module) {
                     peelBoundaries(module, module.functions[FunctionId(0)]);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}
/// The condition between the edges: `true`, `false`, or as it was.
std::string within(const std::string& condition) {
  const std::string text = branches(condition);
  if (count(text, "for independent") != 2) return "";
  const std::string middle = text.substr(text.rfind("for independent"));
  EXPECT_EQ(count(middle, "cmp"), 0U) << middle;
  return count(middle, "const true") > 0 ? "true" : "false";
}

TEST(SplitClamped, BranchesOnTheEdgesOfAChunkAreNotTakenWithin) {
  EXPECT_EQ(within("    %c = cmp le %i, %zero : bool\n"), "false");
  EXPECT_EQ(within("    %c = cmp gt %i, %zero : bool\n"), "true");
  EXPECT_EQ(within("    %l = sub %n, %one : i64\n    %c = cmp ge %i, %l : bool\n"), "false");
  EXPECT_EQ(within("    %c = cmp gt %n, %i : bool\n"), "true");
  EXPECT_EQ(within("    %c = cmp lt %i, %many : bool\n"), "true") << "near the last point";
  EXPECT_EQ(
      within("    %d = cmp gt %i, %zero : bool\n    %e = cmp lt %i, %n : bool\n    %c = and %d, %e : bool\n"),
      "true");
}

TEST(SplitClamped, OtherBranchesStay) {
  const std::string inside = "    %m = load %x[%i*%one] : i64\n";
  EXPECT_EQ(count(branches(inside + "    %c = cmp lt %i, %m : bool\n"), "for independent"), 1U)
      << "no number of all";
  EXPECT_EQ(count(branches("    %c = cmp eq %i, %k : bool\n"), "for independent"), 1U) << "no order";
  EXPECT_EQ(count(branches("    %c = cmp lt %n, %k : bool\n"), "for independent"), 1U) << "not of the point";
  EXPECT_EQ(
      count(branches("    %c = cmp lt %i, %n : bool\n", "      %a = neg %z : f32\n"), "for independent"), 1U)
      << "nothing is read";
}

/// A row of points %j, each a sum over %l from %begin on of what lies at %j - %l, where that is in range.
std::string window(const std::string& begin, const std::string& bound = "%n") {
  const std::string text =
      textAfter("kernel @f(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %y: data) {\n"
                "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %many = const 8192 : i64\n"
                "  for independent %first, %last { (%i)\n    for independent %zero, %n { (%j)\n"
                "      %r = for %zero, %k, %z : f32 { (%b, %u)\n" +
                    begin +
                    "        %e = add %begin, %many : i64\n        %end = min %e, %k : i64\n"
                    "        %v = for %begin, %end, %u : f32 { (%l, %c)\n          %p = sub %j, %l : i64\n"
                    "          %q = cmp ge %p, %zero : bool\n          %w = cmp lt %p, " +
                    bound +
                    " : bool\n          %m = and %q, %w : bool\n"
                    "          %t = if %m : f32 {\n            %a = load %x[%i*%n + %p*%one] : f32\n         "
                    "   yield %a\n"
                    "          } {\n            yield %z\n          }\n          %s = add %c, %t : f32\n"
                    "          yield %s\n        }\n        yield %v\n      }\n"
                    "      store %y[%i*%n + %j*%one] = %r\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
                [](Module& module) {
                  peelBoundaries(module, module.functions[FunctionId(0)]);
                  EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                });
  return count(text, "for independent") == 3 ? text.substr(text.rfind("for independent")) : "";
}

TEST(SplitClamped, MasksOfWindowsHoldWithin) {
  const std::string within = window("        %begin = mul %b, %many : i64\n");
  ASSERT_NE(within, "");
  EXPECT_EQ(count(within, "cmp"), 0U) << within;
  EXPECT_EQ(count(within, "const true"), 2U) << "a block of the sum begins at 0 or behind: " << within;
}

TEST(SplitClamped, OnlyOneSideHoldsWhereASumBeginsAnywhere) {
  const std::string within = window("        %begin = sub %b, %many : i64\n");
  ASSERT_NE(within, "");
  EXPECT_EQ(count(within, "cmp"), 1U) << within;
}

} // namespace
} // namespace melix::loops
