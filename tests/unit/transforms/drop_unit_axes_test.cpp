// Axes of one point.
#include "transforms/canonical/drop_unit_axes.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

TEST(UnitAxes, WhatReducesNothingElseCollects) {
  PassText m(R"(fn f [N] (%x: f32[N, 1]) -> (f32[N], i64, f32, f32[N], f32) {
  %r = nest (%i: N, %k: 1) -> keep[i] sum {
    %a = get %x[%i, %k] : f32
    yield %a
  } : f32[N]
  %n, %s, %p = nest (%j: 1, %h: N) -> keep[] sum, keep[] sum, keep[h] max {
    %b = get %x[%h, %j] : f32
    yield %h, %b, %b
  } : i64, f32, f32[N]
  %one = nest (%q: 1) -> keep[] sum {
    %c = get %x[%q, %q] : f32
    yield %c
  } : f32
  yield %r, %n, %s, %p, %one
}
)");
  m.apply(dropUnitAxes, {Value::floats(std::vector<float>{-0.0F, 2, -3}, {3, 1})});
  EXPECT_EQ(m.count(": 1)"), 0u) << m.text();
  EXPECT_EQ(m.count("nest (%i: N) -> collect[i]"), 1u) << m.text();
  EXPECT_EQ(m.count("nest (%h: N) -> keep[] sum, keep[] sum, collect[h]"), 1u) << m.text();
}

TEST(UnitAxes, AxesThatAreKeptOrLookedForStay) {
  PassText m(R"(fn f [N] (%x: f32[N, 1]) -> (f32[N, 1], i64, i64) {
  %r = nest (%i: N, %k: 1) -> collect[i, k] {
    %a = get %x[%i, %k] : f32
    yield %a
  } : f32[N, 1]
  %p, %q = nest (%j: N, %h: 1) -> keep[] argmax {
    %b = get %x[%j, %h] : f32
    yield %b
  } : i64, i64
  yield %r, %p, %q
}
)");
  m.apply(dropUnitAxes, {Value::floats(std::vector<float>{1, 2, -3}, {3, 1})});
  EXPECT_EQ(m.count("%k: 1") + m.count("%h: 1"), 2u) << m.text();
  EXPECT_EQ(m.count(", %k]") + m.count(", %h]"), 0u) << "what stays is read at 0: " << m.text();
}

TEST(UnitAxes, AccumulatorsStay) {
  PassText m(R"(fn f [N] (%x: f32[N]) -> (f32[N]) {
  %z = zero : f32[N]
  %r = nest (%i: N, %k: 1) -> accs (%h = %z) {
    %a = get %x[%i] : f32
    %g = add_at %h[%i] += %a : acc f32[N]
    yield %g
  } : f32[N]
  yield %r
}
)");
  m.apply(dropUnitAxes, {Value::floats(std::vector<float>{1, 2, -3})});
  EXPECT_EQ(m.count("nest (%i: N)"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
