// Zeros in front of what takes them over.
#include "transforms/accumulation/sink_zeros.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3}); }

TEST(RenewZeros, AnAccumulatorOfAnInnerNestHasOneOfItsOwn) {
  PassText m(R"(fn f (%x: f32[3]) -> (f32[3, 3]) {
  %z = zero : f32[3]
  %r = nest (%i: 3) -> collect[i] {
    %y = nest (%j: 3) -> accs (%a = %z) {
      %v = get %x[%j] : f32
      %w = get %x[%i] : f32
      %p = mul %v, %w : f32
      %b = add_at %a[%i] += %p : acc f32[3]
      yield %b
    } : f32[3]
    yield %y
  } : f32[3, 3]
  yield %r
}
)");
  m.apply(sinkZeros, {numbers()});
  EXPECT_EQ(m.text(), R"(fn f (%x: f32[3]) -> (f32[3, 3]) {
  %r = nest (%i: 3) -> collect[i] {
    %0 = zero : f32[3]
    %y = nest (%j: 3) -> accs (%a = %0) {
      %v = get %x[%j] : f32
      %w = get %x[%i] : f32
      %p = mul %v, %w : f32
      %b = add_at %a[%i] += %p : acc f32[3]
      yield %b
    } : f32[3]
    yield %y
  } : f32[3, 3]
  yield %r
}
)");
}

TEST(RenewZeros, EachUpdateInALoopBeginsWithZeros) {
  PassText m(R"(fn f (%x: f32[3], %n: i64) -> (f32, f32[3]) {
  %z = zero : f32[3]
  %k = const 1 : i64
  %s = const 0.0 : f32
  %r = for collects 0 %n, %s { (%i: i64, %t: f32)
    %v = get %x[%k] : f32
    %a = set %z[%k] = %v : f32[3]
    %b = get %a[%i] : f32
    %u = add %t, %b : f32
    yield %u
  } : f32
  yield %r, %z
}
)");
  m.apply(sinkZeros, {numbers(), Value::integer(3)});
  EXPECT_EQ(m.count("zero : f32[3]"), 2u) << m.text();
  EXPECT_EQ(m.count("%0 = zero : f32[3]\n    %a = set %0[%k]"), 1u) << m.text();
  EXPECT_EQ(m.count("yield %r, %z"), 1u) << m.text();
}

TEST(RenewZeros, TwoThatTakeOneOver) {
  PassText m(R"(fn f (%x: f32[3], %k: i64) -> (f32[3], f32[3]) {
  %z = zero : f32[3]
  %v = get %x[%k] : f32
  %a = set %z[%k] = %v : f32[3]
  %b = add_at %z[%k] += %v : f32[3]
  yield %a, %b
}
)");
  m.apply(sinkZeros, {numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("= zero : f32[3]"), 2u) << m.text();
  EXPECT_EQ(m.count("%z"), 2u) << m.text(); // the last one keeps it
}

TEST(RenewZeros, ACarryThatIsUpdatedEachTime) {
  PassText m(R"(fn f (%x: f32[3], %n: i64) -> (f32[3, 3]) {
  %z = zero : f32[3]
  %r = nest (%i: 3) -> collect[i] {
    %y = for collects 0 %n, %z { (%j: i64, %a: f32[3])
      %v = get %x[%j] : f32
      %b = add_at %a[%i] += %v : f32[3]
      yield %b
    } : f32[3]
    yield %y
  } : f32[3, 3]
  yield %r
}
)");
  m.apply(sinkZeros, {numbers(), Value::integer(2)});
  EXPECT_EQ(m.count("collect[i] {\n    %0 = zero : f32[3]\n    %y = for collects 0 %n, %0 {"), 1u)
      << m.text();
}

/// It would be made at each point, and written to at few or none.
TEST(RenewZeros, WhatMayNeverWriteKeepsTheOneOfAll) {
  const std::string text = R"(fn f (%x: f32[3], %n: i64) -> (f32[3, 3], f32[3, 3]) {
  %z = zero : f32[3]
  %r = nest (%i: 3) -> collect[i] {
    %y = for collects 0 %n, %z { (%j: i64, %a: f32[3])
      %c = cmp lt %j, %i : bool
      %b = if %c {
        %v = get %x[%j] : f32
        %s = set %a[%i] = %v : f32[3]
        yield %s
      } {
        yield %a
      } : f32[3]
      yield %b
    } : f32[3]
    yield %y
  } : f32[3, 3]
  %t = nest (%k: 3) -> collect[k] {
    %w = for collects 0 %n, %z { (%l: i64, %d: f32[3])
      yield %x
    } : f32[3]
    yield %w
  } : f32[3, 3]
  yield %r, %t
}
)";
  PassText m(text);
  m.apply(sinkZeros, {numbers(), Value::integer(2)});
  EXPECT_EQ(m.text(), text);
}

TEST(RenewZeros, AParameterThatItsFunctionUpdates) {
  PassText m(R"(fn put (%a: f32[3], %v: f32, %k: i64) -> (f32[3]) inout 0=0 {
  %b = set %a[%k] = %v : f32[3]
  yield %b
}

fn f (%x: f32[3], %k: i64) -> (f32[3], f32[3]) {
  %z = zero : f32[3]
  %v = get %x[%k] : f32
  %a = call @put %z, %v, %k : f32[3]
  yield %a, %z
}
)");
  m.apply(sinkZeros, {numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("= zero : f32[3]"), 2u) << m.text();
}

} // namespace
} // namespace melix::transforms
