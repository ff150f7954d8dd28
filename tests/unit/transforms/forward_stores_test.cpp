// Reads of values whose elements are known.
#include "transforms/canonical/forward_stores.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void forward(core::Module& m) {
  forwardStores(m);
  simplify(m);
}

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}); }

TEST(ForwardReads, AWholeInItsOrderIsTheValue) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32[6]) {
  %r = nest (%i: 6) -> collect[i] {
    %a = get %v[%i] : f32
    yield %a
  } : f32[6]
  yield %r
}
)");
  m.apply(forward, {numbers()});
  EXPECT_EQ(m.text(), "fn f (%v: f32[6]) -> (f32[6]) {\n  yield %v\n}\n");
}

TEST(ForwardReads, ATransposeIsReadWhereItComesFrom) {
  PassText m(R"(fn f (%v: f32[6], %k: i64) -> (f32, f32[3]) {
  %x = reshape %v : f32[2, 3]
  %t = nest (%i: 3, %j: 2) -> collect[i, j] {
    %a = get %x[%j, %i] : f32
    yield %a
  } : f32[3, 2]
  %r = nest (%h: 3) -> collect[h] {
    %b = get %t[%h, %k] : f32
    yield %b
  } : f32[3]
  %c = get %t[%k, %k] : f32
  yield %c, %r
}
)");
  m.apply(forward, {numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
  EXPECT_EQ(m.count("get %x[%k, %h]"), 1u) << m.text();
}

/// What the nest copied stays as it was.
TEST(ForwardReads, ACopyInFrontOfAnUpdateStays) {
  PassText m(R"(fn f (%v: f32[6], %k: i64, %z: f32) -> (f32[6], f32, f32[6]) {
  %r = nest (%i: 6) -> collect[i] {
    %a = get %v[%i] : f32
    yield %a
  } : f32[6]
  %w = set %v[%k] = %z : f32[6]
  %b = get %r[%k] : f32
  yield %r, %b, %w
}
)");
  m.apply(forward, {numbers(), Value::integer(1), Value::f32(9)});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
  EXPECT_EQ(m.count("get %r[%k]"), 1u) << m.text();
}

TEST(ForwardReads, ANestOfOneValueIsThatValue) {
  PassText m(R"(fn f (%z: f32, %v: f32[6], %k: i64) -> (f32, f32) {
  %r, %s, %t = nest (%i: 6, %j: 2) -> collect[i, j], collect[i, j], collect[i, j] {
    %one = const 1.0 : f32
    yield %z, %v, %one
  } : f32[6, 2], f32[6, 2, 6], f32[6, 2]
  %a = get %r[%k, %k] : f32
  %b = get %s[%k, %k, %k] : f32
  %c = get %t[%k, %k] : f32
  %d = add %a, %c : f32
  yield %d, %b
}
)");
  m.apply(forward, {Value::f32(3), numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
  EXPECT_EQ(m.count("get %v[%k]"), 1u);
}

TEST(ForwardReads, AnUpdatedZeroIsASelect) {
  PassText m(R"(fn f (%v: f32, %k: i64, %w: f32[6], %n: i64) -> (f32) {
  %z = zero : f32[6]
  %a = add_at %z[%k] += %v : f32[6]
  %b = add_at %a += %w : f32[6]
  %r = get %b[%n] : f32
  yield %r
}
)");
  m.apply(forward, {Value::f32(-0.0f), Value::integer(1), numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("_at"), 0u) << m.text();
  EXPECT_EQ(m.count("zero"), 0u);
  EXPECT_EQ(m.count("select"), 1u);
}

/// `update` of an array of zeros by a slice of %v, read element by element.
std::string sliced(const std::string& update) {
  return "fn f (%v: f32[6], %k: i64) -> (f32[6]) {\n  %o = const 1 : i64\n  %z = zero : f32[6]\n" + update +
         "  %r = nest (%i: 6) -> collect[i] {\n    %b = get %a[%i] : f32\n    %n = neg %b : f32\n    yield "
         "%n\n  } : f32[6]\n"
         "  yield %r\n}\n";
}

TEST(ForwardReads, AnUpdateOfASliceIsABranch) {
  const Value some = Value::floats(std::vector<float>{-0.0F, 2, 3, -0.0F, 5, 6});
  for (int64_t k : {0, 1, 2})
    for (const char* update :
         {"  %s = get %v[%k +: 3] : f32[3]\n  %a = add_at %z[%k +: 3] += %s : f32[6]\n",
          "  %s = get %v[%k +: 3] : f32[3]\n  %a = set %z[%k +: 3] = %s : f32[6]\n",
          "  %s = get %v[%k +: 2 by 3] : f32[2]\n  %a = add_at %z[%k +: 2 by 3] += %s : f32[6]\n",
          "  %s = get %v[%k +: 2] : f32[2]\n  %u = add_at %z[%k +: 2] += %s : f32[6]\n"
          "  %t = get %v[%o +: 4] : f32[4]\n  %a = add_at %u[%o +: 4] += %t : f32[6]\n"}) {
      PassText m(sliced(update));
      m.apply(forward, {some, Value::integer(k)});
      EXPECT_EQ(m.count("add_at") + m.count("set "), 0u) << m.text();
      EXPECT_GE(m.count(" = if "), 1u) << m.text();
    }
}

TEST(ForwardReads, SlicesOfSeveralAxesAndRows) {
  PassText m(R"(fn f (%v: f32[6], %k: i64) -> (f32[3, 4]) {
  %o = const 1 : i64
  %x = reshape %v : f32[2, 3]
  %z = zero : f32[3, 4]
  %a = add_at %z[%k +: 2, %o +: 3] += %x : f32[3, 4]
  %w = get %x[%o] : f32[3]
  %c = add_at %a[%o, %k +: 3] += %w : f32[3, 4]
  %r = nest (%i: 3, %j: 4) -> collect[i, j] {
    %b = get %c[%i, %j] : f32
    %n = neg %b : f32
    yield %n
  } : f32[3, 4]
  yield %r
}
)");
  for (int64_t k : {0, 1}) m.apply(forward, {numbers(), Value::integer(k)});
  EXPECT_EQ(m.count("add_at"), 0u) << m.text();
}

TEST(ForwardReads, ColumnsThatAreReshapedSince) {
  PassText m(R"(fn f (%v: f32[2], %w: f32[2]) -> (f32[4]) {
  %o = const 1 : i64
  %p = const 0 : i64
  %r = nest (%i: 4) -> collect[i] {
    %z = zero : f32[2, 2]
    %a = add_at %z[:, %o] += %w : f32[2, 2]
    %c = add_at %a[:, %p] += %v : f32[2, 2]
    %s = reshape %c : f32[4]
    %b = get %s[%i] : f32
    %n = neg %b : f32
    yield %n
  } : f32[4]
  yield %r
}
)");
  const Value two = Value::floats(std::vector<float>{1, 2}), other = Value::floats(std::vector<float>{3, 4});
  m.apply(forward, {two, other});
  EXPECT_EQ(m.count("add_at") + m.count("reshape"), 0u) << m.text();
}

TEST(ForwardReads, WhatIsReshapedInFrontOfANestIsReadThere) {
  PassText m(R"(fn f (%v: f32[6], %k: i64) -> (f32[6], f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %z0 = const 9.0 : f32
  %a = set %x[%k, %k] = %z0 : f32[2, 3]
  %s = reshape %a : f32[6]
  %r = nest (%i: 6) -> collect[i] {
    %b = get %s[%i] : f32
    %n = neg %b : f32
    yield %n
  } : f32[6]
  yield %r, %a
}
)");
  m.apply(forward, {numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("get %s[%i]"), 1u) << m.text();
  EXPECT_EQ(m.count("idiv"), 0u) << m.text();
}

TEST(ForwardReads, WhatWasPutThereIsReadWhoeverElseReads) {
  PassText m(R"(fn f (%v: f32[6], %k: i64, %z: f32) -> (f32, f32[6]) {
  %w = set %v[%k] = %z : f32[6]
  %r = get %w[%k] : f32
  yield %r, %w
}
)");
  m.apply(forward, {numbers(), Value::integer(1), Value::f32(9)});
  EXPECT_EQ(m.count("get"), 0u) << m.text();
  EXPECT_EQ(m.count("set"), 1u);
}

/// The update happens in place, and reads of it are cheaper than selects.
TEST(ForwardReads, AnUpdateThatMakesNoArrayStays) {
  PassText m(R"(fn f (%v: f32[6], %k: i64, %z: f32, %n: i64) -> (f32) {
  %w = set %v[%k] = %z : f32[6]
  %r = get %w[%n] : f32
  yield %r
}
)");
  m.apply(forward, {numbers(), Value::integer(1), Value::f32(9), Value::integer(2)});
  EXPECT_EQ(m.count("set"), 1u) << m.text();
}

TEST(ForwardReads, AnUpdateAtEachPointIsNoCopyAtEachPoint) {
  PassText m(R"(fn f (%v: f32[6], %z: f32) -> (f32[6]) {
  %r = nest (%i: 6) -> collect[i] {
    %w = set %v[%i] = %z : f32[6]
    %k = const 2 : i64
    %a = get %w[%k] : f32
    yield %a
  } : f32[6]
  yield %r
}
)");
  m.apply(forward, {numbers(), Value::f32(9)});
  EXPECT_EQ(m.count("set"), 0u) << m.text();
  EXPECT_EQ(m.count("select"), 1u);
}

TEST(ForwardReads, NotMoreOftenThanThereAreElements) {
  PassText m(R"(fn f (%v: f32, %k: i64) -> (f32) {
  %z = zero : f32[6]
  %a = add_at %z[%k] += %v : f32[6]
  %r = nest (%i: 6, %j: 6) -> keep[] sum {
    %b = get %a[%i] : f32
    %c = get %a[%j] : f32
    %d = mul %b, %c : f32
    yield %d
  } : f32
  yield %r
}
)");
  m.apply(forward, {Value::f32(2), Value::integer(1)});
  EXPECT_EQ(m.count("add_at"), 1u) << m.text();
}

TEST(ForwardReads, FieldsAndRowsOfUpdatedRecords) {
  PassText m(R"(struct S { a: f32[2, 3], b: f32[3] }

fn f (%s: S[], %row: f32[3], %k: i64, %n: i64) -> (f32, f32, f32, S[]) {
  %t = set %s.0[%k] = %row : S[]
  %a = get %t.0[%k, %n] : f32
  %b = get %t.1[%n] : f32
  %c = get %t.0[%n, %n] : f32
  yield %a, %b, %c, %t
}
)");
  m.apply(forward);
  EXPECT_EQ(m.count("get %row[%n]"), 1u) << m.text();
  EXPECT_EQ(m.count("get %t.0[%n, %n]"), 1u) << m.text();
}

/// What is added to a row is read there, and the row replaced then.
TEST(ForwardReads, AnUpdateThatIsReplacedGoes) {
  PassText m(R"(fn f (%v: f32[6], %k: i64, %w: f32[3]) -> (f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %a = add_at %x[%k] += %w : f32[2, 3]
  %r = nest (%i: 3) -> collect[i] {
    %b = get %a[%k, %i] : f32
    %c = mul %b, %b : f32
    yield %c
  } : f32[3]
  %d = set %a[%k] = %r : f32[2, 3]
  yield %d
}
)");
  m.apply(forward, {numbers(), Value::integer(1), Value::floats(std::vector<float>{7, 8, 9})});
  EXPECT_EQ(m.count("add_at"), 0u) << m.text();
  EXPECT_EQ(m.count("set %x[%k]"), 1u) << m.text();
}

TEST(ForwardReads, AnUpdateThatIsReplacedInPartStays) {
  PassText m(R"(fn f (%v: f32[6], %k: i64, %w: f32[3]) -> (f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %a = add_at %x[%k] += %w : f32[2, 3]
  %b = get %a[%k, %k] : f32
  %c = mul %b, %b : f32
  %d = set %a[%k, %k] = %c : f32[2, 3]
  yield %d
}
)");
  m.apply(forward, {numbers(), Value::integer(1), Value::floats(std::vector<float>{7, 8, 9})});
  EXPECT_EQ(m.count("add_at"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
