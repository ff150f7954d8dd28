// Reads that leave the branches of sums.
#include "transforms/pass_text.h"
#include "transforms/predication/speculate_loads.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// A sum over %k of what `read`, a value %a, gives in a branch.
std::string sum(const std::string& read) {
  return "fn f (%x: f32[3], %y: f32[3]) -> (f32[3]) {\n"
         "  %r = nest (%i: 3, %k: 3) -> keep[i] sum {\n    %m = cmp lt %k, %i : bool\n"
         "    %t = if %m {\n" +
         read +
         "      yield %a\n    } {\n      %z = const 0.0 : f32\n      yield %z\n    } : f32\n    yield %t\n"
         "  } : f32[3]\n  yield %r\n}\n";
}
/// Whether the read of %x stands in front of the branch then.
bool leaves(const std::string& read) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3});
  PassText m(sum(read));
  m.apply(speculateLoads, {numbers, numbers});
  return m.text().find("get %x") < m.text().find(" = if ");
}

TEST(FreeReads, AtAxesOverTheWholeArray) {
  EXPECT_TRUE(leaves("      %a = get %x[%k] : f32\n"));
  EXPECT_TRUE(
      leaves("      %b = get %y[%i] : f32\n      %c = get %x[%k] : f32\n      %a = mul %b, %c : f32\n"));
}

TEST(FreeReads, AtAnIndexThatIsComputedInFrontOfTheBranch) {
  const std::string text = "fn f (%x: f32[3]) -> (f32[3]) {\n"
                           "  %two = const 2 : i64\n  %r = nest (%i: 3, %k: 3) -> keep[i] sum {\n"
                           "    %m = cmp lt %k, %i : bool\n    %d = irem %i, %two : i64\n"
                           "    %e = add %d, %k : i64\n    %t = if %m {\n      %a = get %x[%d] : f32\n"
                           "      %b = get %x[%e] : f32\n      %p = mul %a, %b : f32\n      yield %p\n"
                           "    } {\n      %z = const 0.0 : f32\n      yield %z\n    } : f32\n    yield %t\n"
                           "  } : f32[3]\n  yield %r\n}\n";
  PassText m(text);
  m.apply(speculateLoads, {Value::floats(std::vector<float>{1, 2, 3})});
  EXPECT_LT(m.text().find("get %x[%d]"), m.text().find(" = if ")) << m.text();
  EXPECT_GT(m.text().find("get %x[%e]"), m.text().find(" = if ")) << "it may be out of range: " << m.text();
}

TEST(FreeReads, AtAnIndexThatIsComputedInTheBranch) {
  EXPECT_TRUE(leaves("      %n = sub %k, %i : i64\n      %d = add %n, %i : i64\n"
                     "      %a = get %x[%d] : f32\n"));
  EXPECT_FALSE(leaves("      %f = get %y[%k] : f32\n      %n = convert saturate %f : i64\n"
                      "      %o = sub %n, %n : i64\n      %d = add %o, %k : i64\n"
                      "      %a = get %x[%d] : f32\n"))
      << "of what is no sum of integers";
}

TEST(FreeReads, WhatMayBeOutOfRangeStays) {
  EXPECT_FALSE(leaves("      %d = sub %i, %k : i64\n      %a = get %x[%d] : f32\n"));
  EXPECT_FALSE(leaves("      %w = add %x, %y : f32[3]\n      %a = get %w[%k] : f32\n"))
      << "made in the branch";
}

TEST(FreeReads, OfASumAtEachPointOfAnotherNest) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3});
  auto text = [&](const std::string& front, const std::string& behind) {
    PassText m("fn f (%x: f32[3], %i: i64) -> (f32[3]) {\n" + front +
               "    %s = nest (%k: 3) -> keep[] sum {\n      %m = cmp lt %k, %i : bool\n      %t = if %m {\n"
               "        %a = get %x[%k] : f32\n        yield %a\n      } {\n        %z = const 0.0 : f32\n"
               "        yield %z\n      } : f32\n      yield %t\n    } : f32\n" +
               behind + "  yield %r\n}\n");
    m.apply(speculateLoads, {numbers, Value::integer(2)});
    return m.text();
  };
  const std::string each = text("  %r = nest (%j: 3) -> collect[j] {\n", "    yield %s\n  } : f32[3]\n"),
                    one = text("", "    %r = array %s, %s, %s : f32[3]\n");
  EXPECT_LT(each.find("get %x"), each.find("%t = if ")) << each;
  EXPECT_GT(one.find("get %x"), one.find("%t = if ")) << one;
}

/// At an index from outside of the sum, with a check of it in front or none.
bool leavesAt(const std::string& front) {
  PassText m("fn f (%x: f32[3, 3], %p: i64[2]) -> (f32[2, 3]) {\n  %r = nest (%b: 2) -> collect[b] {\n"
             "    %q = get %p[%b] : i64\n" +
             front +
             "    %s = nest (%i: 3, %k: 3) -> keep[i] sum {\n      %m = cmp lt %k, %i : bool\n"
             "      %t = if %m {\n        %a = get %x[%q, %k] : f32\n        yield %a\n      } {\n"
             "        %z = const 0.0 : f32\n        yield %z\n      } : f32\n      yield %t\n"
             "    } : f32[3]\n    yield %s\n  } : f32[2, 3]\n  yield %r\n}\n");
  m.apply(speculateLoads);
  return m.text().find("get %x") < m.text().find(" = if ");
}

TEST(FreeReads, AtAnIndexThatIsCheckedInFront) {
  EXPECT_TRUE(leavesAt("    check index \"\" %q dims [3]\n"));
  EXPECT_FALSE(leavesAt(""));
  EXPECT_FALSE(leavesAt("    check index \"\" %q dims [4]\n"));
}

TEST(FreeReads, WhatIsThereOnlyWhereTheBranchIsTakenStays) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3});
  auto text = [&](const std::string& other) {
    PassText m("fn f (%x: f32[3], %c: bool) -> (f32[3]) {\n"
               "  %o = if %c {\n    yield %x\n  } {\n" +
               other +
               "    yield %u\n  } : f32[3]\n"
               "  %r = nest (%i: 3, %k: 3) -> keep[i] sum {\n"
               "    %t = if %c {\n      %a = get %o[%k] : f32\n      yield %a\n    } {\n"
               "      %z = const 0.0 : f32\n      yield %z\n    } : f32\n    yield %t\n"
               "  } : f32[3]\n  yield %r\n}\n");
    m.apply(speculateLoads, {numbers, Value::boolean(false)});
    return m.text();
  };
  const std::string there = text("    %u = add %x, %x : f32[3]\n"),
                    undefined = text("    %u = undef : f32[3]\n");
  EXPECT_LT(there.find("get %o"), there.find("%t = if ")) << there;
  EXPECT_GT(undefined.find("get %o"), undefined.find("%t = if ")) << undefined;
}

TEST(FreeReads, WhatIsMadeOfTheElementsOfAnArrayIsThere) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3});
  PassText m(
      "fn f (%x: f32[3], %c: bool) -> (f32[3]) {\n"
      "  %o = if %c {\n    yield %x\n  } {\n    %u = undef : f32[3]\n    yield %u\n  } : f32[3]\n"
      "  %r = if %c {\n"
      "    %n = nest (%h: 3) -> collect[h] {\n      %e = get %o[%h] : f32\n      %d = add %e, %e : f32\n"
      "      yield %d\n    } : f32[3]\n"
      "    %s = nest (%i: 3, %k: 3) -> keep[i] sum {\n      %m = cmp lt %k, %i : bool\n"
      "      %t = if %m {\n        %a = get %n[%k] : f32\n        yield %a\n      } {\n"
      "        %z = const 0.0 : f32\n        yield %z\n      } : f32\n      yield %t\n    } : f32[3]\n"
      "    yield %s\n  } {\n    yield %x\n  } : f32[3]\n  yield %r\n}\n");
  m.apply(speculateLoads, {numbers, Value::boolean(false)});
  EXPECT_LT(m.text().find("get %n"), m.text().find("%t = if ")) << m.text();
}

} // namespace
} // namespace melix::transforms
