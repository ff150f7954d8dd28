// Recursion over sizes that are known.
#include "transforms/calls/specialise_sizes.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// Adds the elements of an array up, the last ones first; `calls` is the body of `f`.
std::string sums(const std::string& calls) {
  return R"(fn total [N] (%a: f32[N], %k: f32) -> (f32) {
  %n = dim_value dims [N] : i64
  %zero = const 0 : i64
  %c = cmp eq %n, %zero : bool
  %r = if %c {
    yield %k
  } {
    check dim_non_negative "dimension N - 1" dims [N - 1]
    %one = const 1 : i64
    %tail = get %a[%one +: N - 1] : f32[N - 1]
    %s = call @total %tail, %k dims [N - 1] : f32
    %x = get %a[%zero] : f32
    %t = add %x, %s : f32
    yield %t
  } : f32
  yield %r
}

fn f (%v: f32[20], %k: f32) -> (f32) keep {
)" + calls +
         "}\n";
}
/// Of the first `n` elements of `%v`.
std::string totalOf(int n) {
  const std::string k = std::to_string(n);
  return "  %z" + k + " = const 0 : i64\n  %v" + k + " = get %v[%z" + k + " +: " + k + "] : f32[" + k +
         "]\n  %r" + k + " = call @total %v" + k + ", %k dims [" + k + "] : f32\n";
}
std::vector<Value> twenty() {
  std::vector<float> x;
  for (int i = 0; i < 20; ++i) x.push_back(static_cast<float>(i) + 0.5F);
  return {Value::floats(x), Value::f32(3)};
}

TEST(SpecialiseSizes, RecursionOverAConstantSizeBecomesStraightCode) {
  PassText m(sums(totalOf(3) + "  yield %r3\n"));
  m.apply(specialiseSizes, twenty());
  EXPECT_EQ(m.count("call"), 1u) << m.text(); // that of `f`
  EXPECT_EQ(m.count("(%a: f32[3], %k: f32) -> (f32) {"), 1u) << m.text();
  EXPECT_EQ(m.count("[N]"), 0u) << m.text();
  EXPECT_EQ(m.count("get %a["), 3u) << m.text();
}

TEST(SpecialiseSizes, WhatLeadsToTooManyInstancesStays) {
  PassText m(sums(totalOf(16) + "  yield %r16\n"));
  const std::string before = m.text();
  m.apply(specialiseSizes, twenty());
  EXPECT_EQ(m.text(), before); // sizes 16 to 0 are 17
}

/// Whether a call is specialised depends on its callee and sizes, not on other calls.
TEST(SpecialiseSizes, OtherCallsChangeNothing) {
  for (bool first : {true, false}) {
    PassText m(sums((first ? totalOf(15) + totalOf(16) : totalOf(16) + totalOf(15)) +
                    "  %s = add %r15, %r16 : f32\n  yield %s\n"));
    m.apply(specialiseSizes, twenty());
    EXPECT_EQ(m.count("%v15, %k : f32"), 1u) << m.text();
    EXPECT_EQ(m.count("%v16, %k dims [16] : f32"), 1u) << m.text();
  }
}

TEST(SpecialiseSizes, CodeGrowsByFewInstances) {
  std::string calls;
  for (int n = 1; n <= 20; ++n) calls += totalOf(n);
  PassText m(sums(calls + "  yield %r20\n"));
  m.apply(specialiseSizes, twenty());
  EXPECT_LE(m.count("fn "), 2 + mostInstances) << m.text();
}

TEST(SpecialiseSizes, LongFunctionsAreNotCopiedOften) {
  std::string text = sums(totalOf(10) + "  yield %r10\n");
  std::string chain = "    %t0 = add %x, %s : f32\n";
  for (int k = 0; k < 1000; ++k)
    chain += "    %t" + std::to_string(k + 1) + " = mul %t" + std::to_string(k) + ", %k : f32\n";
  const std::string sum = "    %t = add %x, %s : f32\n";
  text.replace(text.find(sum), sum.size(), chain + "    %t = add %t1000, %x : f32\n");
  PassText m(text);
  const std::string before = m.text();
  m.apply(specialiseSizes, twenty());
  EXPECT_EQ(m.text(), before);
}

TEST(SpecialiseSizes, SizesThatAreNotKnownStayParameters) {
  PassText m(R"(fn rows [N, M] (%a: f32[N, M]) -> (f32[M]) {
  %n = dim_value dims [N] : i64
  %one = const 1 : i64
  %c = cmp le %n, %one : bool
  %r = if %c {
    %zero = const 0 : i64
    check index "" %zero dims [N]
    %only = get %a[%zero] : f32[M]
    yield %only
  } {
    check dim_non_negative "dimension N - 1" dims [N - 1]
    %rest = get %a[%one +: N - 1] : f32[N - 1, M]
    %b = call @rows %rest dims [N - 1, M] : f32[M]
    %d = nest (%i: M) -> collect[i] {
      %x = get %b[%i] : f32
      %y = add %x, %x : f32
      yield %y
    } : f32[M]
    yield %d
  } : f32[M]
  yield %r
}

fn f [M] (%v: f32[3, M]) -> (f32[M]) keep {
  %r = call @rows %v dims [3, M] : f32[M]
  yield %r
}
)");
  m.apply(specialiseSizes, {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})});
  EXPECT_EQ(m.count("[M] (%a: f32[3, M]) -> (f32[M]) {"), 1u) << m.text();
  EXPECT_EQ(m.count("[M] (%a: f32[1, M]) -> (f32[M]) {"), 1u) << m.text();
  EXPECT_EQ(m.count("N"), 0u) << m.text();
}

/// The size does not shrink: one instance calls itself.
TEST(SpecialiseSizes, RecursionOverOneSizeStaysRecursion) {
  PassText m(R"(fn again [N] (%a: f32[N], %n: i64) -> (f32[N]) {
  %zero = const 0 : i64
  %c = cmp le %n, %zero : bool
  %r = if %c {
    yield %a
  } {
    %one = const 1 : i64
    %m = sub %n, %one : i64
    %b = call @again %a, %m dims [N] : f32[N]
    yield %b
  } : f32[N]
  yield %r
}

fn f (%v: f32[3]) -> (f32[3]) keep {
  %k = const 5 : i64
  %r = call @again %v, %k dims [3] : f32[3]
  yield %r
}
)");
  m.apply(specialiseSizes, {Value::floats(std::vector<float>{1, 2, 3})});
  EXPECT_EQ(m.count("(%a: f32[3], %n: i64) -> (f32[3]) {"), 1u) << m.text();
  EXPECT_EQ(m.count("[N]"), 0u) << m.text();
}

TEST(SpecialiseSizes, DerivativesSpeakOfInstances) {
  PassText m(
      sums("  %one = const 1.0 : f32\n  %z = const 0 : i64\n  %w = get %v[%z +: 4] : f32[4]\n"
           "  %t, %c = derivative reverse @total wrt [0] seeded [1] %w, %k, %one dims [4] : f32, f32[4]\n"
           "  yield %t\n"));
  m.apply(specialiseSizes);
  EXPECT_EQ(m.count("wrt [0] seeded [1] %w, %k, %one : f32, f32[4]"), 1u) << m.text();
}

/// Where a size would be negative the check in front of that call fails: something else ends this.
TEST(SpecialiseSizes, RecursionThatSizesDoNotEndStays) {
  PassText m(R"(fn down [N] (%a: f32[N], %c: bool) -> (f32) {
  %r = if %c {
    check dim_non_negative "dimension N - 1" dims [N - 1]
    %one = const 1 : i64
    %tail = get %a[%one +: N - 1] : f32[N - 1]
    %s = call @down %tail, %c dims [N - 1] : f32
    yield %s
  } {
    %zero = const 0.0 : f32
    yield %zero
  } : f32
  yield %r
}

fn f (%v: f32[2], %c: bool) -> (f32) keep {
  %r = call @down %v, %c dims [2] : f32
  yield %r
}
)");
  const std::string before = m.text();
  m.apply(specialiseSizes, {Value::floats(std::vector<float>{1, 2}), Value::boolean(false)});
  EXPECT_EQ(m.text(), before);
}

} // namespace
} // namespace melix::transforms
