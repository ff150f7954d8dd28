// Sums that move inside products.
#include "transforms/contractions/factor_reductions.h"
#include "transforms/pass_text.h"

#include <limits>

namespace melix::transforms {
namespace {

using interp::Value;

/// Small numbers, whose products and sums are exact in any order.
std::vector<Value> arguments() {
  return {Value::floats(std::vector<float>{1, 2, 3, 4}),
          Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}),
          Value::floats(std::vector<float>{2, -1, 3, 1, 4, 2, 5, -6, 3, 2, 8, 9, 1, -2, 4, 3})};
}

std::string product(const std::string& term, const std::string& more = "") {
  return "fn f (%w: f32[4], %v: f32[16], %b: f32[16]) -> (f32[4]) {\n"
         "  %t = reshape %v : f32[4, 4]\n  %a = reshape %b : f32[4, 4]\n"
         "  %r = nest (%i: 4, %n: 4, %j: 4) -> keep[i] sum {\n" +
         more + "    %x = get %w[%n] : f32\n    %y = get %t[%n, %j] : f32\n    %z = get %a[%j, %i] : f32\n" +
         term + "  } : f32[4]\n  yield %r\n}\n";
}

TEST(ReduceBeforeMultiply, ASumMovesInsideTheFactorWithoutItsAxis) {
  PassText m(product("    %p = mul %x, %y : f32\n    %q = mul %p, %z : f32\n    %s = neg %q : f32\n"
                     "    yield %s\n"));
  m.apply(factorReductions, arguments());
  EXPECT_EQ(m.count("keep[j] sum"), 1u) << m.text();
  EXPECT_EQ(m.count("nest (%j: 4, %n: 4)"), 1u) << m.text();
  EXPECT_EQ(m.count("nest (%i: 4, %j$1: 4) -> keep[i] sum"), 1u) << m.text();
}

/// A factor may be a sum of products.
TEST(ReduceBeforeMultiply, AFactorIsASumOfProducts) {
  PassText m(product("    %p = mul %x, %y : f32\n    %o = add %p, %p : f32\n    %q = mul %z, %o : f32\n"
                     "    yield %q\n"));
  m.apply(factorReductions, arguments());
  EXPECT_EQ(m.count(" sum {"), 2u) << m.text();
}

/// 0 times an infinite factor is no number, where there is no term at all.
TEST(ReduceBeforeMultiply, ASumWithoutTermsIsZero) {
  PassText m(R"(fn f [N] (%w: f32[N], %b: f32[16]) -> (f32[4]) {
  %a = reshape %b : f32[4, 4]
  %r = nest (%i: 4, %n: N, %j: 4) -> keep[i] sum {
    %x = get %w[%n] : f32
    %z = get %a[%j, %i] : f32
    %p = mul %x, %x : f32
    %q = mul %p, %z : f32
    yield %q
  } : f32[4]
  yield %r
}
)");
  std::vector<float> infinite(16, std::numeric_limits<float>::infinity());
  m.apply(factorReductions, {Value::floats({}), Value::floats(infinite)});
  EXPECT_EQ(m.count(" sum {"), 2u) << m.text();
  EXPECT_EQ(m.count("select"), 1u) << m.text();
}

TEST(ReduceBeforeMultiply, AProductOfTwoStays) {
  PassText m(product("    %q = mul %y, %z : f32\n    yield %q\n"));
  m.apply(factorReductions, arguments());
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

/// Of one summed axis all goes inside, and the product is collected; sums of no terms stay zero.
TEST(ReduceBeforeMultiply, WhatTheSumDoesNotVaryWithMultipliesItAtTheEnd) {
  for (int64_t n : {3, 0}) {
    PassText m(R"(fn f [I, N] (%g: f32[I], %u: f32[N, 2], %x: f32[N]) -> (f32[I, 2]) {
  %s = nest (%i: I, %r: 2, %n: N) -> keep[i, r] sum {
    %a = get %g[%i] : f32
    %b = get %u[%n, %r] : f32
    %c = get %x[%n] : f32
    %p = mul %b, %c : f32
    %q = mul %a, %p : f32
    yield %q
  } : f32[I, 2]
  yield %s
}
)");
    const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
    m.apply(factorReductions,
            {Value::floats(std::vector<float>{2, std::numeric_limits<float>::infinity()}, {2}),
             Value::floats({numbers.begin(), numbers.begin() + 2 * n}, {n, 2}),
             Value::floats({numbers.begin(), numbers.begin() + n}, {n})});
    EXPECT_EQ(m.count(" sum {"), 1u) << m.text();
    EXPECT_EQ(m.count("%n: N) -> keep[r"), 1u) << m.text();
  }
}

/// Both sums would run over all that the one does.
TEST(ReduceBeforeMultiply, NoAxisGoesNothingMoves) {
  PassText m(R"(fn f (%w: f32[4], %v: f32[16], %b: f32[16]) -> (f32[4]) {
  %t = reshape %v : f32[4, 4]
  %r = nest (%i: 4, %j: 4) -> keep[i] sum {
    %x = get %w[%i] : f32
    %y = get %t[%i, %j] : f32
    %p = mul %x, %x : f32
    %q = mul %p, %y : f32
    yield %q
  } : f32[4]
  yield %r
}
)");
  m.apply(factorReductions, arguments());
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

/// What may panic runs where it ran.
TEST(ReduceBeforeMultiply, ChecksStay) {
  PassText m(product("    %p = mul %x, %y : f32\n    %q = mul %p, %z : f32\n    yield %q\n",
                     "    check index \"\" %n dims [4]\n"));
  m.apply(factorReductions, arguments());
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

/// A table that no array of the product is as large as is not made.
TEST(ReduceBeforeMultiply, TheTableIsNoLargerThanWhatIsRead) {
  PassText m(R"(fn f (%w: f32[4], %v: f32[16], %b: f32[16]) -> (f32[4]) {
  %r = nest (%i: 4, %k: 16, %j: 16, %n: 4) -> keep[i] sum {
    %x = get %v[%k] : f32
    %y = get %b[%j] : f32
    %z = get %w[%n] : f32
    %o = get %w[%i] : f32
    %p = add %x, %y : f32
    %d = add %p, %o : f32
    %c = add %p, %z : f32
    %q = mul %d, %c : f32
    %s = mul %q, %z : f32
    yield %s
  } : f32[4]
  yield %r
}
)");
  m.apply(factorReductions, arguments());
  EXPECT_EQ(m.count("keep[k, j]"), 0u) << m.text();
}

/// But at each point of the axes that are kept.
TEST(ReduceBeforeMultiply, ATableIsMadeByRows) {
  PassText m(R"(fn f (%w: f32[4], %v: f32[16], %b: f32[16]) -> (f32[4, 4]) {
  %q = reshape %v : f32[4, 4]
  %m = reshape %b : f32[4, 4]
  %r = nest (%t: 4, %d: 4, %s: 4, %c: 4) -> keep[t, d] sum {
    %x = get %q[%t, %c] : f32
    %y = get %m[%s, %c] : f32
    %z = get %m[%s, %d] : f32
    %p = mul %x, %y : f32
    %o = mul %p, %z : f32
    yield %o
  } : f32[4, 4]
  yield %r
}
)");
  m.apply(factorReductions, arguments());
  EXPECT_EQ(m.count(" sum {"), 2u) << m.text();
}

} // namespace
} // namespace melix::transforms
