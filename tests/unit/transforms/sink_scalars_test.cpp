// Scalars made of what nests give stand where they are used.
#include "transforms/fusion/sink_scalars.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

void sinkAll(core::Module& m) {
  const core::Effects effects(m);
  for (uint32_t f = 0; f < m.functions.size(); ++f) sinkScalars(m, core::FunctionId(f), effects);
}
Value numbers() { return Value::floats(std::vector<float>{1, 2, 3}); }

const std::string sums = R"(  %s = nest (%i: 3) -> keep[] sum {
    %a = get %x[%i] : f32
    yield %a
  } : f32
)";
const std::string head = "fn f (%x: f32[3], %u: f32, %k: i64) -> ";

TEST(SinkScalars, AChainStandsBehindTheNextNest) {
  PassText m(head + "(f32, f32[3]) {\n" + sums + R"(  %t = mul %s, %u : f32
  %n = neg %t : f32
  %r = nest (%j: 3) -> collect[j] {
    %b = get %x[%j] : f32
    %c = mul %b, %u : f32
    yield %c
  } : f32[3]
  %w = add %n, %t : f32
  yield %w, %r
}
)");
  m.apply(sinkAll, {numbers(), Value::f32(2), Value::integer(1)});
  EXPECT_EQ(m.text(), head + "(f32, f32[3]) {\n" + sums + R"(  %r = nest (%j: 3) -> collect[j] {
    %b = get %x[%j] : f32
    %c = mul %b, %u : f32
    yield %c
  } : f32[3]
  %t = mul %s, %u : f32
  %n = neg %t : f32
  %w = add %n, %t : f32
  yield %w, %r
}
)");
}

/// Not into it: that would compute them at each point.
TEST(SinkScalars, InFrontOfTheOpThatUsesThemInside) {
  PassText m(head + "(f32[3], f32[3]) {\n" + sums + R"(  %t = mul %s, %u : f32
  %r = nest (%j: 3) -> collect[j] {
    %b = get %x[%j] : f32
    yield %b
  } : f32[3]
  %q = nest (%h: 3) -> collect[h] {
    %y = nest (%l: 3) -> keep[] sum {
      %c = get %x[%l] : f32
      %d = mul %c, %t : f32
      yield %d
    } : f32
    yield %y
  } : f32[3]
  %o = add %t, %u : f32
  %p = set %r[%k] = %o : f32[3]
  yield %p, %q
}
)");
  m.apply(sinkAll, {numbers(), Value::f32(2), Value::integer(1)});
  EXPECT_EQ(m.count("  } : f32[3]\n  %t = mul %s, %u : f32\n  %q = nest"), 1u) << m.text();
  EXPECT_EQ(m.count("  } : f32[3]\n  %o = add %t, %u : f32\n  %p = set"), 1u) << m.text();
}

TEST(SinkScalars, NotOutOfTheRegionThatUsesThem) {
  PassText m(head + "(f32) {\n" + sums + R"(  %c = cmp lt %s, %u : bool
  %r = if %c {
    %t = mul %s, %u : f32
    yield %t
  } {
    yield %s
  } : f32
  yield %r
}
)");
  const std::string before = m.text();
  m.apply(sinkAll, {numbers(), Value::f32(2), Value::integer(1)});
  EXPECT_EQ(m.text(), before);
}

/// What may panic does so in its turn.
TEST(SinkScalars, WhatMayPanicStays) {
  PassText m(head + "(f32, f32) {\n" + sums + R"(  %t = mul %s, %u : f32
  %l = call @checked %k : i64
  %c = convert saturate %l : f32
  %n = add %t, %c : f32
  %r = nest (%j: 3) -> keep[] sum {
    check index "" %j dims [2]
    %b = get %x[%j] : f32
    yield %b
  } : f32
  %w = mul %n, %r : f32
  yield %w, %r
}

fn checked (%k: i64) -> (i64) {
  check index "" %k dims [3]
  yield %k
}
)");
  m.apply(sinkAll, {numbers(), Value::f32(2), Value::integer(7)});
  EXPECT_EQ(m.count("} : f32\n  %l = call @checked %k : i64\n  %c"), 1u) << m.text();
  EXPECT_EQ(m.count("} : f32\n  %t = mul %s, %u : f32\n  %n = add %t, %c : f32\n  %w"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
