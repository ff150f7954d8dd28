// Products of a row and a matrix leave the nests over the rows.
#include "transforms/batch/fission_products.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

std::vector<Value> arguments() {
  std::vector<float> x;
  for (int k = 0; k < 400; ++k) x.push_back(static_cast<float>(k % 7) - 2);
  return {Value::floats({x.begin(), x.begin() + 19 * 10}, {19, 10}),
          Value::floats({x.begin(), x.begin() + 18 * 10}, {18, 10}),
          Value::floats({x.begin(), x.begin() + 18 * 19}, {18, 19})};
}

const std::string scores =
    "    %w = nest (%s: 18, %k: 10) -> keep[s] sum {\n      %a = get %q[%t, %k] : f32\n"
    "      %b = get %m[%s, %k] : f32\n      %p = mul %a, %b : f32\n      yield %p\n"
    "    } : f32[18]\n";
const std::string squares = "    %e = nest (%i: 18) -> collect[i] {\n      %c = get %w[%i] : f32\n"
                            "      %d = mul %c, %c : f32\n      yield %d\n    } : f32[18]\n";
std::string values(const std::string& weights) {
  return "    %r = nest (%d$1: 19, %s$1: 18) -> keep[d$1] sum {\n      %f = get " + weights +
         "[%s$1] : f32\n      %g = get %v[%s$1, %d$1] : f32\n      %h = mul %f, %g : f32\n      yield %h\n"
         "    } : f32[19]\n";
}
std::string rows(const std::string& body, const std::string& result = "%r", const std::string& extent = "19",
                 const std::string& type = "f32[19]") {
  return "fn f (%q: f32[19, 10], %m: f32[18, 10], %v: f32[18, 19]) -> (" + type +
         ") {\n  %y = nest (%t: " + extent + ") -> collect[t] {\n" + body + "    yield " + result +
         "\n  } : " + type + "\n  yield %y\n}\n";
}
size_t nestsOf(PassText& m) { return m.count("nest (%t"); }

TEST(SeparateProducts, EachAndWhatStandsBetweenAreNestsOfTheirOwn) {
  PassText m(rows(scores + squares + values("%e"), "%r", "19", "f32[19, 19]"));
  m.apply(fissionProducts, arguments());
  EXPECT_EQ(nestsOf(m), 4u) << "scores, squares, values, and what is left: " << m.text();
}

TEST(SeparateProducts, NextToEachOtherNothingStandsBetween) {
  PassText m(rows(scores + values("%w"), "%r", "19", "f32[19, 19]"));
  m.apply(fissionProducts, arguments());
  EXPECT_EQ(nestsOf(m), 3u) << m.text();
}

TEST(SeparateProducts, WhatOnlyTheEndNeedsStaysThere) {
  PassText m(rows(scores + squares, "%e", "19", "f32[19, 18]"));
  m.apply(fissionProducts, arguments());
  EXPECT_EQ(nestsOf(m), 2u) << m.text();
  EXPECT_EQ(m.count("nest (%i: 18)"), 1u) << m.text();
}

TEST(SeparateProducts, NotOfRowsAlone) {
  const std::string own = "    %w = nest (%k: 10) -> keep[] sum {\n      %a = get %q[%t, %k] : f32\n"
                          "      %p = mul %a, %a : f32\n      yield %p\n    } : f32\n";
  PassText m(rows(own, "%w"));
  m.apply(fissionProducts, arguments());
  EXPECT_EQ(nestsOf(m), 1u) << m.text();
}

/// The points of the nest are a tile already.
TEST(SeparateProducts, NotWhereItsAxesTellBothSides) {
  PassText m(
      "fn f (%q: f32[19, 10], %m: f32[18, 10], %v: f32[18, 19]) -> (f32[19, 18, 19]) {\n"
      "  %y = nest (%t: 19, %s: 18) -> collect[t, s] {\n"
      "    %w = nest (%d: 19, %k: 19) -> keep[d] sum {\n      %a = get %q[%t, %k] : f32\n"
      "      %b = get %m[%s, %k] : f32\n      %c = get %v[%s, %d] : f32\n      %p = mul %a, %b : f32\n"
      "      %o = mul %p, %c : f32\n      yield %o\n    } : f32[19]\n    yield %w\n  } : f32[19, 18, 19]\n"
      "  yield %y\n}\n");
  m.apply(fissionProducts, arguments());
  EXPECT_EQ(m.count("nest (%t"), 1u) << m.text();
}

TEST(SeparateProducts, NotOfAFewRows) {
  PassText m(rows(scores, "%w", "2", "f32[2, 18]"));
  m.apply(fissionProducts, arguments());
  EXPECT_EQ(nestsOf(m), 1u) << m.text();
}

/// Points that may fail are no strips: checks are a nest of their own in front, other effects stay.
TEST(SeparateProducts, ChecksAreInFrontAndNestsWithOtherEffectsStay) {
  const std::string check = "    check index \"\" %t dims [4]\n",
                    debug = "    %o = const 1.0 : f32\n    %u = debug %o : f32\n";
  for (const std::string& body : {check + scores, scores + check}) {
    PassText m(rows(body, "%w", "19", "f32[19, 18]"));
    m.apply(fissionProducts, arguments());
    EXPECT_EQ(nestsOf(m), 3u) << m.text();
  }
  PassText stays(rows(debug + scores, "%w", "19", "f32[19, 18]"));
  stays.apply(fissionProducts);
  EXPECT_EQ(nestsOf(stays), 1u) << stays.text();
}

/// A number of a point is no row: what is made of it, or checked, does not matter.
TEST(SeparateProducts, SumsOfProductsAreNumbersOfThePoint) {
  const std::string
      total = "    %s = nest (%i: 18, %u: 19) -> keep[] sum {\n      %w = nest (%k: 10) -> keep[] sum {\n"
              "        %a = get %q[%t, %k] : f32\n        %b = get %m[%i, %k] : f32\n"
              "        %p = mul %a, %b : f32\n        yield %p\n      } : f32\n"
              "      %c = get %v[%i, %u] : f32\n      %e = mul %w, %c : f32\n      yield %e\n    } : f32\n",
      twice = "    %g = add %s, %s : f32\n", check = "    check converts \"i32\" of i32 %s\n";
  PassText made(rows(total + twice, "%g", "19", "f32[19]"));
  made.apply(fissionProducts, arguments());
  EXPECT_EQ(nestsOf(made), 2u) << made.text();
  PassText checked(rows(total + check, "%s", "19", "f32[19]"));
  checked.apply(fissionProducts);
  EXPECT_EQ(nestsOf(checked), 1u) << checked.text();
}

/// However often what is made of a row meets itself.
TEST(SeparateProducts, RowsThatMeetThemselvesAreFollowedOnce) {
  std::string chain = scores, last = "%w";
  for (int k = 0; k < 60; ++k) {
    const std::string n = std::to_string(k), next = "%x" + n;
    chain += "    " + next + " = nest (%i" + n + ": 18) -> collect[i" + n + "] {\n      %l" + n + " = get " +
             last + "[%i" + n + "] : f32\n      %r" + n + " = get " + last + "[%i" + n + "] : f32\n      %o" +
             n + " = add %l" + n + ", %r" + n + " : f32\n      yield %o" + n + "\n    } : f32[18]\n";
    last = next;
  }
  PassText m(rows(chain + "    %one = const 1 : i64\n    %g = get " + last + "[%one] : f32\n", "%g", "19",
                  "f32[19]"));
  m.apply(fissionProducts);
  EXPECT_EQ(nestsOf(m), 1u) << m.text();
}

TEST(SeparateProducts, NotWhereAPointReadsFewElements) {
  for (const auto& [made, of] : {std::pair(scores, "%w"), std::pair(scores + squares, "%e")}) {
    PassText m(rows(made + "    %one = const 1 : i64\n    %g = get " + of + "[%one] : f32\n", "%g", "19",
                    "f32[19]"));
    m.apply(fissionProducts, arguments());
    EXPECT_EQ(nestsOf(m), 1u) << m.text();
  }
}

/// Rows that a point updates, or makes from element to element, are arrays as well.
TEST(SeparateProducts, AroundUpdatesAndLoops) {
  const std::string updated = "    %at = const 3 : i64\n    %one = const 1.0 : f32\n"
                              "    %e = set %w[%at] = %one : f32[18]\n";
  const std::string running =
      "    %n = const 18 : i64\n    %zero = const 0.0 : f32\n"
      "    %e, %last = for collects 0 %n, %w, %zero { (%i: i64, %row: f32[18], %before: f32)\n"
      "      %c = get %w[%i] : f32\n      %now = add %before, %c : f32\n"
      "      %next = set %row[%i] = %now : f32[18]\n      yield %next, %now\n    } : f32[18], f32\n";
  for (const std::string& between : {updated, running}) {
    PassText m(rows(scores + between + values("%e"), "%r", "19", "f32[19, 19]"));
    m.apply(fissionProducts, arguments());
    EXPECT_EQ(nestsOf(m), 4u) << m.text();
  }
}

/// What else a row makes is kept for it, be it no number.
TEST(SeparateProducts, WithTextsBesideThem) {
  const std::string named =
      "    %z = const 3 : i64\n    %few = cmp lt %t, %z : bool\n    %text, %chosen = if %few {\n" + squares +
      "      %n1 = const \"few\" : str\n      yield %n1, %e\n    } {\n      %n2 = const \"many\" : str\n"
      "      yield %n2, %w\n    } : str, f32[18]\n";
  PassText m("fn f (%q: f32[19, 10], %m: f32[18, 10], %v: f32[18, 19]) -> (f32[19, 19], str[19]) {\n"
             "  %y, %texts = nest (%t: 19) -> collect[t], collect[t] {\n" +
             scores + named + values("%chosen") +
             "    yield %r, %text\n  } : f32[19, 19], str[19]\n  yield %y, %texts\n}\n");
  m.apply(fissionProducts, arguments());
  EXPECT_EQ(nestsOf(m), 4u) << m.text();
}

TEST(SeparateProducts, NotOfRowsOfTheirOwnLength) {
  const std::string ragged =
      "    bind_dim %t defines [n]\n"
      "    %w = nest (%s: n, %k: 10) -> keep[] sum {\n      %a = get %q[%t, %k] : f32\n"
      "      %b = get %m[%s, %k] : f32\n      %p = mul %a, %b : f32\n      yield %p\n"
      "    } : f32\n";
  PassText m(rows(ragged, "%w"));
  m.apply(fissionProducts);
  EXPECT_EQ(nestsOf(m), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
