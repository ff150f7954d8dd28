// Records that go around loops and out of branches.
#include "transforms/canonical/scalarise_carried_records.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void open(core::Module& m) {
  scalariseCarriedRecords(m);
  simplify(m);
}

std::vector<Value> numbers() { return {Value::floats(std::vector<float>{1, 2, 3}), Value::integer(2)}; }

/// One part stays, one is updated where it is, one is replaced.
TEST(OpenRecords, ALoopCarriesParts) {
  PassText m(R"(fn f (%x: f32[3], %n: i64) -> (f32[3], f32[3], f32) {
  %zero = const 0.0 : f32
  %p = make %x, %zero : (f32[3], f32)
  %s = make %x, %p : (f32[3], (f32[3], f32))
  %r = for collects 0 %n, %s { (%i: i64, %a: (f32[3], (f32[3], f32)))
    %v = get %a.0[%i] : f32
    %u = get %a.1.1 : f32
    %w = add %u, %v : f32
    %b = set %a.1.0[%i] = %w : (f32[3], (f32[3], f32))
    %c = add_at %b.1.1 += %w : (f32[3], (f32[3], f32))
    yield %c
  } : (f32[3], (f32[3], f32))
  %y = get %r.0 : f32[3]
  %z = get %r.1.0 : f32[3]
  %t = get %r.1.1 : f32
  yield %y, %z, %t
}
)");
  m.apply(open, numbers());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("(%i: i64, %a: f32[3], %a$1: f32)"), 1u) << m.text();
  EXPECT_EQ(m.count("set %a[%i]"), 1u) << m.text();
}

TEST(OpenRecords, AWhileTestsParts) {
  PassText m(R"(fn f (%x: f32[3], %n: i64) -> (f32[3], i64) {
  %s = make %x, %n : (f32[3], i64)
  %r = while %s { (%a: (f32[3], i64))
    %zero = const 0 : i64
    %k = get %a.1 : i64
    %more = cmp gt %k, %zero : bool
    yield %more
  } { (%b: (f32[3], i64))
    %one = const 1 : i64
    %l = get %b.1 : i64
    %less = sub %l, %one : i64
    %c = set %b.1 = %less : (f32[3], i64)
    %v = get %c.0[%less] : f32
    %w = add %v, %v : f32
    %d = set %c.0[%less] = %w : (f32[3], i64)
    yield %d
  } : (f32[3], i64)
  %y = get %r.0 : f32[3]
  %j = get %r.1 : i64
  yield %y, %j
}
)");
  m.apply(open, numbers());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("get"), 1u) << m.text();
}

/// An arm that says nothing of the record says nothing of its parts.
TEST(OpenRecords, BranchesYieldParts) {
  PassText m(R"(fn f (%x: f32[3], %n: i64) -> (f32[3], f32[2, 3]) {
  %zero = const 0 : i64
  %c = cmp gt %n, %zero : bool
  %p = if %c {
    %a = get %x[%zero] : f32
    %q = make %x, %a : (f32[3], f32)
    yield %q
  } {
    %u = undef : (f32[3], f32)
    yield %u
  } : (f32[3], f32)
  %y, %s = for collects 1 %n, %p defines [K] { (%i: i64, %b: (f32[3], f32))
    %v = get %b.0 : f32[3]
    yield %b, %v
  } : (f32[3], f32), f32[K, 3]
  %t = cast_dims %s : f32[2, 3]
  %z = get %y.0 : f32[3]
  yield %z, %t
}
)");
  m.apply(open, numbers());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("(f32[3], f32)"), 0u) << m.text();
}

TEST(OpenRecords, TheWholeIsPutTogetherWhereItIsAskedFor) {
  PassText m(R"(fn g (%s: (f32[3], i64)) -> (i64) {
  %k = get %s.1 : i64
  yield %k
}

fn f (%x: f32[3], %n: i64) -> ((f32[3], i64)) {
  %s = make %x, %n : (f32[3], i64)
  %r = for collects 0 %n, %s { (%i: i64, %a: (f32[3], i64))
    %k = call @g %a : i64
    %l = add %k, %i : i64
    %b = set %a.1 = %l : (f32[3], i64)
    yield %b
  } : (f32[3], i64)
  yield %r
}
)");
  m.apply(open, numbers());
  EXPECT_EQ(m.count("make"), 2u) << m.text();
  EXPECT_EQ(m.count("(%i: i64, %a: i64)"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
