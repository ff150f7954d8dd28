// Sizes that are the same number at every call.
#include "transforms/calls/propagate_constant_sizes.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// `rows` is called with `first` and `second`, and calls `sum`.
std::string program(const std::string& first, const std::string& second) {
  return R"(fn sum [K] (%x: f32[K]) -> (f32) {
  %r = nest (%i: K) -> keep[] sum {
    %a = get %x[%i] : f32
    yield %a
  } : f32
  yield %r
}

fn rows [N, M] (%x: f32[N, M], %k: i64) -> (f32, f32[M]) {
  %y = get %x[%k] : f32[M]
  %s = call @sum %y dims [M] : f32
  yield %s, %y
}

fn f (%a: f32[2, 3], %b: f32[)" +
         first + ", " + second + R"(]) -> (f32, f32[3], f32, f32[)" + second + R"(]) keep {
  %k = const 1 : i64
  %s, %y = call @rows %a, %k dims [2, 3] : f32, f32[3]
  %t, %z = call @rows %b, %k dims [)" +
         first + ", " + second + R"(] : f32, f32[)" + second + R"(]
  yield %s, %y, %t, %z
}
)";
}

std::vector<Value> matrices(int64_t rows, int64_t columns) {
  auto matrix = [](int64_t n, int64_t m) {
    std::vector<float> v(static_cast<size_t>(n * m));
    for (size_t k = 0; k < v.size(); ++k) v[k] = static_cast<float>(k) + 0.5f;
    return Value::floats(v, {n, m});
  };
  return {matrix(2, 3), matrix(rows, columns)};
}

TEST(FixSizes, TheSameNumberAtEveryCallIsTheNumber) {
  PassText m(program("2", "3"));
  m.apply(propagateConstantSizes, matrices(2, 3));
  EXPECT_EQ(m.count("fn rows (%x: f32[2, 3]"), 1u) << m.text();
  EXPECT_EQ(m.count("fn sum (%x: f32[3])"), 1u) << m.text();
  EXPECT_EQ(m.count("dims ["), 0u) << m.text();
}

TEST(FixSizes, ASizeThatVariesStays) {
  PassText m(program("4", "3"));
  m.apply(propagateConstantSizes, matrices(4, 3));
  EXPECT_EQ(m.count("fn rows [N] (%x: f32[N, 3]"), 1u) << m.text();
  EXPECT_EQ(m.count("fn sum (%x: f32[3])"), 1u) << m.text();
  EXPECT_EQ(m.count("dims [2]"), 1u) << m.text();
  EXPECT_EQ(m.count("dims [4]"), 1u) << m.text();
}

TEST(FixSizes, WhatVariesIsPassedOn) {
  PassText m(program("2", "5"));
  m.apply(propagateConstantSizes, matrices(2, 5));
  EXPECT_EQ(m.count("fn rows [M] (%x: f32[2, M]"), 1u) << m.text();
  EXPECT_EQ(m.count("fn sum [K]"), 1u) << m.text();
}

/// Other programs call it too.
TEST(FixSizes, AFunctionCalledFromOutsideKeepsItsSizes) {
  PassText m(R"(fn length [N] (%x: f32[N]) -> (i64) keep {
  %n = dim_value dims [N] : i64
  yield %n
}

fn f (%x: f32[3]) -> (i64) keep {
  %n = call @length %x dims [3] : i64
  yield %n
}
)");
  EXPECT_FALSE(propagateConstantSizes(m.module));
  m.expectVerified();
}

TEST(FixSizes, RecursionThatKeepsASizeKeepsTheNumber) {
  PassText m(R"(fn halves [N, K] (%x: f32[N, K], %n: i64) -> (f32) {
  %one = const 1 : i64
  %more = cmp gt %n, %one : bool
  %r = if %more {
    %m = sub %n, %one : i64
    %y = zero : f32[N + 1, K]
    %s = call @halves %y, %m dims [N + 1, K] : f32
    yield %s
  } {
    %k = const 0 : i64
    %s$1 = get %x[%k, %k] : f32
    yield %s$1
  } : f32
  yield %r
}

fn f (%x: f32[2, 3], %n: i64) -> (f32) keep {
  %r = call @halves %x, %n dims [2, 3] : f32
  yield %r
}
)");
  m.apply(propagateConstantSizes, {matrices(2, 3)[0], Value::integer(4)});
  EXPECT_EQ(m.count("fn halves [N] (%x: f32[N, 3]"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
