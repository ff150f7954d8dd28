// Results that are records.
#include "transforms/calls/scalarise_results.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void open(core::Module& m) {
  scalariseResults(m);
  simplify(m);
}

std::vector<Value> numbers() { return {Value::floats(std::vector<float>{1, 2, 3}), Value::integer(1)}; }

TEST(OpenResults, PartsAreResultsOfTheirOwn) {
  PassText m(R"(fn pair [N] (%x: f32[N], %k: i64) -> ((f32, (f32[N], i64))) {
  %a = get %x[%k] : f32
  %y = nest (%i: N) -> collect[i] {
    %b = get %x[%i] : f32
    %c = mul %a, %b : f32
    yield %c
  } : f32[N]
  %one = const 1 : i64
  %l = add %k, %one : i64
  %p = make %y, %l : (f32[N], i64)
  %q = make %a, %p : (f32, (f32[N], i64))
  yield %q
}

fn f (%x: f32[3], %k: i64) -> (f32[3], i64) keep {
  %q = call @pair %x, %k dims [3] : (f32, (f32[3], i64))
  %p = get %q.1 : (f32[3], i64)
  %y = get %p.0 : f32[3]
  %l = get %p.1 : i64
  yield %y, %l
}
)");
  m.apply(open, numbers());
  EXPECT_EQ(m.count("-> (f32, f32[N], i64) {"), 1u) << m.text();
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("get %q"), 0u) << m.text();
}

/// What the caller has does not come back; what an `inout` parameter becomes does, as it is.
TEST(OpenResults, ArgumentsStayWhereTheyAre) {
  PassText m(
      R"(fn update [N] (%x: f32[N], %s: (f32, f32[N]), %k: i64) -> ((f32[N], f32), (f32, f32[N]), i64) inout 1=1 {
  %a = get %x[%k] : f32
  %t = set %s.0 = %a : (f32, f32[N])
  %q = make %x, %a : (f32[N], f32)
  yield %q, %t, %k
}

fn f (%x: f32[3], %k: i64) -> (f32[3], f32, (f32, f32[3]), i64) keep {
  %zero = const 0.0 : f32
  %s = make %zero, %x : (f32, f32[3])
  %q, %t, %l = call @update %x, %s, %k dims [3] : (f32[3], f32), (f32, f32[3]), i64
  %y = get %q.0 : f32[3]
  %a = get %q.1 : f32
  yield %y, %a, %t, %l
}
)");
  m.apply(open, numbers());
  EXPECT_EQ(m.count("-> (f32, (f32, f32[N])) inout 1=1 {"), 1u) << m.text();
  EXPECT_EQ(m.count("yield %x, %0, %1, %k"), 1u) << m.text();
}

TEST(OpenResults, RecordsThatAreNotMadeAreTakenApart) {
  PassText m(R"(fn choose [N] (%x: f32[N], %k: i64) -> ((f32, f32[N])) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %c = cmp gt %k, %zero : bool
  %p = if %c {
    %less = sub %k, %one : i64
    %q = call @choose %x, %less dims [N] : (f32, f32[N])
    yield %q
  } {
    %a = get %x[%k] : f32
    %r = make %a, %x : (f32, f32[N])
    yield %r
  } : (f32, f32[N])
  yield %p
}

fn f (%x: f32[3], %k: i64) -> (f32, f32[3]) keep {
  %p = call @choose %x, %k dims [3] : (f32, f32[3])
  %a = get %p.0 : f32
  %b = get %p.1 : f32[3]
  yield %a, %b
}
)");
  m.apply(open, numbers());
  EXPECT_EQ(m.count("-> (f32, f32[N]) {"), 1u) << m.text();
}

/// Others call it as it is.
TEST(OpenResults, AFunctionCalledFromOutsideKeepsItsResults) {
  PassText m(R"(fn f (%x: f32[3], %k: i64) -> ((f32[3], i64)) keep {
  %p = make %x, %k : (f32[3], i64)
  yield %p
}
)");
  EXPECT_FALSE(scalariseResults(m.module));
  m.expectVerified();
}

} // namespace
} // namespace melix::transforms
