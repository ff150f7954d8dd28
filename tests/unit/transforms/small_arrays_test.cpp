// Arrays of few elements as values.
#include "core/work.h"
#include "transforms/forward_elements.h"
#include "transforms/pass_text.h"
#include "transforms/simplify.h"
#include "transforms/small_arrays.h"

namespace melix::transforms {
namespace {

using interp::Value;

void write(core::Module& m) {
  writeOutSmallArrays(m);
  forwardElements(m);
  simplify(m);
}

TEST(SmallArrays, WhatStandsBetweenIsNotMade) {
  PassText m(R"(fn f (%s: f32[3], %h: f32) -> (f32[3], f32) {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %a = get %s[%0] : f32
  %b = get %s[%1] : f32
  %k = array %a, %b, %h : f32[3]
  %t = nest (%i: 3) -> collect[i] {
    %c = get %s[%i] : f32
    %d = get %k[%i] : f32
    %e = mul %c, %d : f32
    yield %e
  } : f32[3]
  %u = get %t[%1] : f32
  %r = nest (%j: 3) -> collect[j] {
    %g = get %t[%j] : f32
    %l = add %g, %u : f32
    yield %l
  } : f32[3]
  %n = nest (%q: 3) -> keep[] sum {
    %o = get %t[%q] : f32
    yield %o
  } : f32
  yield %r, %n
}
)");
  m.apply(write, {Value::floats(std::vector<float>{1, 2, 3}), Value::f32(0.5)});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
  EXPECT_EQ(m.count("array"), 1u) << m.text(); // the result
}

/// Cotangents: zeros that are added to, and sums of arrays.
TEST(SmallArrays, SumsOfArraysAreSumsOfElements) {
  PassText m(R"(fn f (%x: f32, %y: f32) -> (f32) {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %z = zero : f32[2]
  %a = add_at %z[%0] += %x : f32[2]
  %b = array %x, %y : f32[2]
  %c = add %a, %b : f32[2]
  %d = nest (%i: 2) -> collect[i] {
    %e = get %c[%i] : f32
    %g = mul %e, %e : f32
    yield %g
  } : f32[2]
  %h = get %d[%1] : f32
  yield %h
}
)");
  m.apply(write, {Value::f32(2), Value::f32(3)});
  EXPECT_EQ(m.count("[2]"), 0u) << m.text();
}

/// Nothing would go by writing these out.
TEST(SmallArrays, ArraysThatAreNeededStay) {
  PassText m(R"(fn f (%s: f32[3], %k: i64) -> (f32[3], f32, f32) {
  %r = nest (%i: 3) -> collect[i] {
    %a = get %s[%i] : f32
    %b = mul %a, %a : f32
    yield %b
  } : f32[3]
  %t = nest (%j: 3) -> collect[j] {
    %c = get %r[%j] : f32
    %d = mul %c, %c : f32
    yield %d
  } : f32[3]
  %u = get %t[%k] : f32
  %n = nest (%q: 3) -> keep[] sum {
    %o = get %s[%q] : f32
    yield %o
  } : f32
  yield %r, %u, %n
}
)");
  const std::string before = m.text();
  m.apply(write, {Value::floats(std::vector<float>{1, 2, 3}), Value::integer(2)});
  EXPECT_EQ(m.text(), before);
}

TEST(SmallArrays, WorkIsLinear) {
  auto work = [](int n) {
    std::string text = "fn f (%a0: f32[3]) -> (f32[3]) {\n";
    for (int i = 0; i < n; ++i) {
      const std::string k = std::to_string(i), l = std::to_string(i + 1);
      text += "  %a" + l + " = nest (%i" + k + ": 3) -> collect[i" + k + "] {\n    %x" + k + " = get %a" + k +
              "[%i" + k + "] : f32\n    %y" + k + " = mul %x" + k + ", %x" + k + " : f32\n    yield %y" + k +
              "\n  } : f32[3]\n";
    }
    PassText m(text + "  yield %a" + std::to_string(n) + "\n}\n");
    const uint64_t before = core::work.total();
    write(m.module);
    EXPECT_EQ(m.count("nest"), 0u);
    return core::work.total() - before;
  };
  EXPECT_LE(work(400), 9 * work(50));
}

} // namespace
} // namespace melix::transforms
