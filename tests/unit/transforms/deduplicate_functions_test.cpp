// Functions that are equal up to names.
#include "transforms/calls/deduplicate_functions.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

void merge(core::Module& m) {
  deduplicateFunctions(m);
  removeUnreachable(m);
}

TEST(MergeFunctions, EqualUpToNames) {
  PassText m(R"(fn double [N] (%x: f32[N]) -> (f32[N]) {
  %r = nest (%i: N) -> collect[i] {
    %a = get %x[%i] : f32
    %b = add %a, %a : f32
    yield %b
  } : f32[N]
  yield %r
}

fn twice [K] (%y: f32[K]) -> (f32[K]) {
  %s = nest (%j: K) -> collect[j] {
    %c = get %y[%j] : f32
    %d = add %c, %c : f32
    yield %d
  } : f32[K]
  yield %s
}

fn through [A] (%x: f32[A]) -> (f32[A]) {
  %r = call @double %x dims [A] : f32[A]
  yield %r
}

fn over [B] (%y: f32[B]) -> (f32[B]) {
  %r = call @twice %y dims [B] : f32[B]
  yield %r
}

fn f [N] (%x: f32[N]) -> (f32[N], f32[N]) keep {
  %a = call @through %x dims [N] : f32[N]
  %b = call @over %x dims [N] : f32[N]
  yield %a, %b
}
)");
  m.apply(merge, {Value::floats(std::vector<float>{1, 2, 3})});
  EXPECT_EQ(m.count("fn "), 3u) << m.text();
  EXPECT_EQ(m.count("call @through"), 2u) << m.text();
}

/// A trace tells them apart.
TEST(MergeFunctions, PanicsKeepTheNameOfTheirFunction) {
  PassText m(R"(fn first (%x: f32[3], %k: i64) -> (f32) {
  check index "" %k dims [3]
  %a = get %x[%k] : f32
  yield %a
}

fn second (%x: f32[3], %k: i64) -> (f32) {
  check index "" %k dims [3]
  %a = get %x[%k] : f32
  yield %a
}

fn f (%x: f32[3], %k: i64) -> (f32, f32) keep {
  %a = call @first %x, %k : f32
  %b = call @second %x, %k : f32
  yield %a, %b
}
)");
  m.apply(merge, {Value::floats(std::vector<float>{1, 2, 3}), Value::integer(1)});
  EXPECT_EQ(m.count("fn "), 3u) << m.text();
}

/// Recursion without end, that they lead to, tells which of them called.
TEST(MergeFunctions, FunctionsThatReachRecursionKeepTheirNames) {
  PassText m(R"(fn down (%n: i64) -> (i64) {
  %a = call @down %n : i64
  yield %a
}

fn first (%n: i64) -> (i64) {
  %a = call @down %n : i64
  yield %a
}

fn second (%n: i64) -> (i64) {
  %a = call @down %n : i64
  yield %a
}

fn f (%n: i64, %c: bool) -> (i64) keep {
  %r = if %c {
    %a = call @first %n : i64
    %b = call @second %a : i64
    yield %b
  } {
    yield %n
  } : i64
  yield %r
}
)");
  m.apply(merge, {Value::integer(1), Value::boolean(false)});
  EXPECT_EQ(m.count("fn "), 4u) << m.text();
}

TEST(MergeFunctions, OneNumberOrTypeMakesADifference) {
  PassText m(R"(fn first (%x: f32) -> (f32) {
  %c = const 2.0 : f32
  %a = mul %x, %c : f32
  yield %a
}

fn second (%x: f32) -> (f32) {
  %c = const 2.5 : f32
  %a = mul %x, %c : f32
  yield %a
}

fn third (%x: f32) -> (f32) {
  %c = const 2.0 : f32
  %a = mul %c, %x : f32
  yield %a
}

fn f (%x: f32) -> (f32, f32, f32) keep {
  %a = call @first %x : f32
  %b = call @second %x : f32
  %c = call @third %x : f32
  yield %a, %b, %c
}
)");
  m.apply(merge, {Value::f32(1.5)});
  EXPECT_EQ(m.count("fn "), 4u) << m.text();
}

} // namespace
} // namespace melix::transforms
