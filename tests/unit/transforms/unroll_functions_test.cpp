// Functions that are written out.
#include "core/ir/work.h"
#include "transforms/calls/unroll_functions.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

void all(core::Module& m) {
  std::vector<core::FunctionId> functions;
  for (uint32_t i = 0; i < m.functions.size(); ++i) functions.emplace_back(i);
  unroll(m, functions);
}

Value matrix() { return Value::floats(std::vector<float>{1, -2, 3, 4, -5, 6}, {2, 3}); }

TEST(Unroll, NestsOfConstantExtentsAreWrittenOut) {
  PassText m(R"(fn f (%a: f32[2, 3]) -> (f32[2], f32, f32[3, 2], f32) {
  %s, %p = nest (%i: 2, %j: 3) -> keep[i] sum, keep[] prod {
    %x = get %a[%i, %j] : f32
    yield %x, %x
  } : f32[2], f32
  %t = nest (%k: 3, %l: 2) -> collect[k, l] {
    %y = get %a[%l, %k] : f32
    %z = get %s[%l] : f32
    %w = mul %y, %z : f32
    yield %w
  } : f32[3, 2]
  %m = nest (%q: 3) -> keep[] max {
    %one = const 1 : i64
    %u = get %t[%q, %one] : f32
    yield %u
  } : f32
  yield %s, %p, %t, %m
}
)");
  m.apply(all, {matrix()});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
  EXPECT_EQ(m.count("get %a["), 6u) << m.text();
  EXPECT_EQ(m.count("get"), 6u) << m.text();
}

TEST(Unroll, ResultsKeepTheOrderOfTheirAxes) {
  PassText m(R"(fn f (%a: f32[2, 3]) -> (f32[3, 2], f32[3]) {
  %t, %s = nest (%i: 2, %j: 3) -> collect[j, i], keep[j] sum {
    %x = get %a[%i, %j] : f32
    yield %x, %x
  } : f32[3, 2], f32[3]
  yield %t, %s
}
)");
  m.apply(all, {matrix()});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
}

/// A sum of one -0, and of no terms.
TEST(Unroll, SumsBeginWithTheirUnit) {
  PassText m(R"(fn f (%a: f32[1], %b: f32[0]) -> (f32, f32, f32, i64) {
  %s = nest (%i: 1) -> keep[] sum {
    %x = get %a[%i] : f32
    yield %x
  } : f32
  %t, %p, %n = nest (%j: 0) -> keep[] sum, keep[] prod, keep[] max {
    %y = get %b[%j] : f32
    yield %y, %y, %j
  } : f32, f32, i64
  yield %s, %t, %p, %n
}
)");
  m.apply(all, {Value::floats(std::vector<float>{-0.0F}), Value::floats(std::vector<float>{})});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
}

/// The inner one runs as often as the outer one says.
TEST(Unroll, LoopsOfKnownCountsAreWrittenOut) {
  PassText m(R"(fn f (%a: f32[2, 3]) -> (f32, f32[4], i64[2]) {
  %n = const 4 : i64
  %z = const 0.0 : f32
  %zero = const 0 : i64
  %s, %g = for collects 1 %n, %z defines [K] { (%i: i64, %c: f32)
    %t = for collects 0 %i, %c { (%j: i64, %d: f32)
      %x = get %a[%zero, %zero] : f32
      %e = add %d, %x : f32
      yield %e
    } : f32
    yield %t, %t
  } : f32, f32[K]
  %h = cast_dims %g : f32[4]
  %none = const -1 : i64
  %k = for collects 0 %none, %zero { (%l: i64, %o: i64)
    yield %l
  } : i64
  %r = array %k, %n : i64[2]
  yield %s, %h, %r
}
)");
  m.apply(all, {matrix()});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
}

const char* branches = R"(fn part (%a: f32[2, 3], %k: i64) -> (f32) {
  check index "" %k dims [2]
  %s = nest (%j: 3) -> keep[] sum {
    %x = get %a[%k, %j] : f32
    yield %x
  } : f32
  yield %s
}

fn f (%a: f32[2, 3], %n: i64) -> (f32) {
  %s = nest (%i: 3) -> keep[] sum {
    %c = cmp lt %i, %n : bool
    %r = if %c {
      %x = call @part %a, %i : f32
      yield %x
    } {
      %y = const 1.0 : f32
      yield %y
    } : f32
    yield %r
  } : f32
  yield %s
}
)";

TEST(Unroll, CallsInBranchesAreCopied) {
  PassText m(branches);
  m.apply(all, {matrix(), Value::integer(2)});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
  EXPECT_EQ(m.count("call"), 0u) << m.text();
}

TEST(Unroll, PanicsKeepTheirOrder) {
  PassText m(branches);
  m.apply(all, {matrix(), Value::integer(3)});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
}

TEST(Unroll, WhatIsLongOrOfUnknownLengthStays) {
  PassText m(R"(fn long (%a: f32[600]) -> (f32) {
  %s = nest (%i: 600) -> keep[] sum {
    %x = get %a[%i] : f32
    yield %x
  } : f32
  yield %s
}

fn wide (%a: f32[300]) -> (f32) {
  %s = nest (%i: 300) -> keep[] sum {
    %x = get %a[%i] : f32
    %y = mul %x, %x : f32
    yield %y
  } : f32
  yield %s
}

fn some [N] (%a: f32[N]) -> (f32, i64) {
  %s, %p = nest (%i: N) -> keep[] sum, keep[] argmax {
    %x = get %a[%i] : f32
    yield %x, %x
  } : f32, i64
  yield %s, %p
}

fn pick (%a: f32[3]) -> (i64) {
  %p = nest (%i: 3) -> keep[] argmax {
    %x = get %a[%i] : f32
    yield %x
  } : i64
  yield %p
}

fn f (%a: f32[600]) -> (f32) {
  %s = call @long %a : f32
  yield %s
}
)");
  const std::string before = m.text();
  m.apply(all, {Value::floats(std::vector<float>(600, 0.5F))});
  EXPECT_EQ(m.text(), before);
}

/// Attempts that fail cost no more than is allowed to be written.
TEST(Unroll, WorkIsBounded) {
  auto work = [](int depth) {
    std::string text = "fn f (%a: f32[4]) -> (f32) {\n";
    for (int k = 0; k < depth; ++k)
      text += "  %s" + std::to_string(k) + " = nest (%i" + std::to_string(k) + ": 8) -> keep[] sum {\n";
    text += "  %z = const 0 : i64\n  %x = get %a[%z] : f32\n";
    for (int k = depth; k-- > 0;)
      text += "  yield %" + (k + 1 == depth ? "x" : "s" + std::to_string(k + 1)) + "\n  } : f32\n";
    PassText m(text + "  yield %s0\n}\n");
    const uint64_t before = core::work.total();
    all(m.module);
    return core::work.total() - before;
  };
  EXPECT_LE(work(20), 4 * work(5));
}

} // namespace
} // namespace melix::transforms
