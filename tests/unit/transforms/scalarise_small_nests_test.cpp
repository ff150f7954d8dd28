// Arrays of few elements as values.
#include "core/ir/work.h"
#include "transforms/canonical/scalarise_elements.h"
#include "transforms/canonical/scalarise_small_nests.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void write(core::Module& m) {
  writeOutSmallArrays(m);
  scalariseElements(m);
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

/// A state of few numbers, through a loop in a loop.
TEST(SmallArrays, LoopsCarryElements) {
  PassText m(R"(fn f (%s: f32[3], %n: i64) -> (f32[3], i64) {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %r, %k = for collects 0 %n, %s, %0 { (%i: i64, %a: f32[3], %c: i64)
    %t = for collects 0 %i, %a { (%j: i64, %b: f32[3])
      %x = get %b[%0] : f32
      %y = nest (%p: 3) -> collect[p] {
        %d = get %b[%p] : f32
        %e = add %d, %x : f32
        yield %e
      } : f32[3]
      yield %y
    } : f32[3]
    %u = get %t[%1] : f32
    %v = set %t[%0] = %u : f32[3]
    %o = add %c, %i : i64
    yield %v, %o
  } : f32[3], i64
  yield %r, %k
}
)");
  m.apply(write, {Value::floats(std::vector<float>{1, 2, 3}), Value::integer(4)});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
  EXPECT_EQ(m.count("f32[3]"), 3u) << m.text(); // the parameter, the result, and the array that is it
}

/// A product has more terms than elements; what each turn is, and the place it is stored at, are arrays made
/// of the elements there.
TEST(SmallArrays, ProductsOfMatricesThatLoopsCarryAreElements) {
  PassText m(
      R"(fn f (%a: f32[2, 2], %o: f32[2, 2, 2], %n: i64) -> (f32[K, 2, 2], f32[2, 2, 2], f32[2, 2]) defines [K] {
  %one = const 1.0 : f32
  %zero = const 0.0 : f32
  %e = nest (%x: 2, %y: 2) -> collect[x, y] {
    %same = cmp eq %x, %y : bool
    %d = if %same {
      yield %one
    } {
      yield %zero
    } : f32
    yield %d
  } : f32[2, 2]
  %p, %w, %s = for collects 1 %n, %e, %o defines [K] { (%t: i64, %q: f32[2, 2], %u: f32[2, 2, 2])
    %r = nest (%i: 2, %j: 2, %k: 2) -> keep[i, j] sum {
      %g = get %a[%i, %k] : f32
      %h = get %q[%k, %j] : f32
      %m = mul %g, %h : f32
      yield %m
    } : f32[2, 2]
    %v = set %u[%t] = %r : f32[2, 2, 2]
    yield %r, %v, %r
  } : f32[2, 2], f32[2, 2, 2], f32[K, 2, 2]
  yield %s, %w, %p dims [K]
}
)");
  m.apply(write, {Value::floats(std::vector<float>{1, 2, 3, 4}, {2, 2}),
                  Value::floats(std::vector<float>(8), {2, 2, 2}), Value::integer(2)});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
  EXPECT_EQ(m.count("if"), 0u) << m.text();
}

/// Where axes do not decide a branch, each point would have one.
TEST(SmallArrays, BranchesOnOtherConditionsAreNotCopied) {
  PassText m(R"(fn f (%s: f32[3], %c: bool) -> (f32) {
  %0 = const 0 : i64
  %t = nest (%i: 3) -> collect[i] {
    %a = if %c {
      %b = get %s[%i] : f32
      yield %b
    } {
      %d = get %s[%0] : f32
      yield %d
    } : f32
    yield %a
  } : f32[3]
  %u = get %t[%0] : f32
  yield %u
}
)");
  const std::string before = m.text();
  m.apply(write, {Value::floats(std::vector<float>{1, 2, 3}), Value::boolean(true)});
  EXPECT_EQ(m.text(), before);
}

TEST(SmallArrays, ConditionsSeeTheElements) {
  PassText m(R"(fn f (%s: f32[2], %limit: f32) -> (f32) {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %r = while %s { (%a: f32[2])
    %x = get %a[%0] : f32
    %c = cmp lt %x, %limit : bool
    yield %c
  } { (%b: f32[2])
    %y = get %b[%0] : f32
    %z = get %b[%1] : f32
    %u = add %y, %z : f32
    %w = array %u, %z : f32[2]
    yield %w
  } : f32[2]
  %o = get %r[%0] : f32
  yield %o
}
)");
  m.apply(write, {Value::floats(std::vector<float>{1, 2}), Value::f32(9)});
  EXPECT_EQ(m.count("f32[2]"), 1u) << m.text();
}

/// What early exits carry is no value before it is replaced; what one turn needs as a whole is an array.
TEST(SmallArrays, CarriesThatAreNeededAsAWholeStay) {
  PassText m(R"(fn f (%s: f32[2], %n: i64, %k: i64) -> (f32[2], f32[2], f32[2]) {
  %undef = undef : f32[2]
  %r, %q, %h = for collects 0 %n, %s, %undef, %s { (%i: i64, %a: f32[2], %b: f32[2], %g: f32[2])
    %x = get %a[%k] : f32
    %c = array %x, %x : f32[2]
    %d = set %g[%k] = %x : f32[2]
    yield %c, %c, %d
  } : f32[2], f32[2], f32[2]
  yield %r, %q, %h
}
)");
  const std::string before = m.text();
  m.apply(write, {Value::floats(std::vector<float>{1, 2}), Value::integer(3), Value::integer(1)});
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
