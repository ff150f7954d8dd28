// Masks that are the same for all terms of a sum.
#include "transforms/predication/unswitch_sums.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// Products of the rows of two arrays of 3 by 2, under a condition %m of the axes i, j and k.
PassText lifted(const std::string& condition, const std::string& other = "0.0") {
  PassText m("fn f (%a: f32[3, 2], %b: f32[3, 2]) -> (f32[3, 3]) {\n"
             "  %r = nest (%i: 3, %j: 3, %k: 2) -> keep[i, j] sum {\n" +
             condition +
             "    %t = if %m {\n      %u = get %a[%i, %k] : f32\n      %v = get %b[%j, %k] : f32\n" +
             "      %p = mul %u, %v : f32\n      yield %p\n    } {\n      %z = const " + other +
             " : f32\n      yield %z\n    } : f32\n    yield %t\n  } : f32[3, 3]\n  yield %r\n}\n");
  const Value array = Value::floats(std::vector<float>{1, 2, -3, 4, 5, 6}, std::vector<int64_t>{3, 2});
  m.apply(unswitchSums, {array, array});
  return m;
}
bool isLifted(const std::string& condition, const std::string& other = "0.0") {
  return lifted(condition, other).count("-> collect[") == 1;
}

TEST(LiftMasks, OfKeptAxes) {
  const PassText m = lifted("    %m = cmp le %j, %i : bool\n");
  EXPECT_EQ(m.count("-> collect["), 1u) << m.text();
  EXPECT_EQ(m.count(" = if "), 1u);
  EXPECT_EQ(m.count("keep[] sum"), 1u);
}

TEST(LiftMasks, WhatTermsTellApartStaysWithThem) {
  const PassText m = lifted("    %x = cmp le %j, %i : bool\n    %y = cmp le %k, %i : bool\n"
                            "    %m = and %x, %y : bool\n");
  EXPECT_EQ(m.count("-> collect["), 1u) << m.text();
  EXPECT_EQ(m.count(" = if "), 2u);
  EXPECT_FALSE(isLifted("    %m = cmp le %k, %i : bool\n"));
}

TEST(LiftMasks, WhatOneAxisIsComparedWithStays) {
  const std::string two = "    %two = const 2 : i64\n    %x = cmp lt %j, %two : bool\n";
  EXPECT_FALSE(isLifted(two + "    %m = and %x, %x : bool\n"));
  EXPECT_TRUE(isLifted(two + "    %y = cmp le %j, %i : bool\n    %m = and %x, %y : bool\n"));
}

TEST(LiftMasks, NotWhereSomethingElseIsAdded) {
  EXPECT_FALSE(isLifted("    %m = cmp le %j, %i : bool\n", "1.0"));
  EXPECT_FALSE(isLifted("    %u$1 = get %a[%i, %k] : f32\n    %v$1 = get %b[%j, %k] : f32\n"
                        "    %m = cmp lt %u$1, %v$1 : bool\n"));
}

} // namespace
} // namespace melix::transforms
