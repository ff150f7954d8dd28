// Loops that add to an array, turned into loops at its elements.
#include "transforms/counted_loops/interchange_accumulating_loops.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void sink(core::Module& m) {
  interchangeAccumulatingLoops(m);
  simplify(m);
}

Value numbers() { return Value::floats(std::vector<float>{1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12}); }

TEST(SinkLoops, TwoSidesAreAProduct) {
  PassText m(R"(fn f [N, K, M] (%a: f32[N, K], %b: f32[K, M], %c: f32[N, M]) -> (f32[N, M]) {
  %n = dim_value dims [K] : i64
  %r = for collects 0 %n, %c { (%k: i64, %d: f32[N, M])
    %s = nest (%i: N) -> collect[i] {
      %x = get %a[%i, %k] : f32
      %t = nest (%j: M) -> collect[j] {
        %e = get %d[%i, %j] : f32
        %y = get %b[%k, %j] : f32
        %p = mul %x, %y : f32
        %q = add %e, %p : f32
        yield %q
      } : f32[M]
      yield %t
    } : f32[N, M]
    yield %s
  } : f32[N, M]
  yield %r
}
)");
  m.apply(sink);
  EXPECT_EQ(m.text(), R"(fn f [N, K, M] (%a: f32[N, K], %b: f32[K, M], %c: f32[N, M]) -> (f32[N, M]) {
  %n = dim_value dims [K] : i64
  %0 = nest (%1: N, %2: M) -> collect[1, 2] {
    %3 = get %c[%1, %2] : f32
    %4 = for collects 0 %n, %3 { (%5: i64, %6: f32)
      %7 = get %a[%1, %5] : f32
      %8 = get %b[%5, %2] : f32
      %p = mul %7, %8 : f32
      %q = add %6, %p : f32
      yield %q
    } : f32
    yield %4
  } : f32[N, M]
  yield %0
}
)");
}

/// The read of %b begins with the range, and does not vary with i otherwise.
TEST(SinkLoops, ARangeThatBeginsAtAnIndexIsTheLoopsOwn) {
  const std::string text = R"(fn f (%a: f32[3, 3], %b: f32[3, 4], %c: f32[3, 4]) -> (f32[3, 4]) {
  %n = const 3 : i64
  %r = for collects 0 %n, %c { (%i: i64, %d: f32[3, 4])
    %m = sub %n, %i : i64
    %s = for collects 0 %m, %d { (%l: i64, %e: f32[3, 4])
      %k = add %i, %l : i64
      %t = nest (%j: 4) -> collect[j] {
        %x = get %a[%i, %k] : f32
        %y = get %b[%k, %j] : f32
        %p = mul %x, %y : f32
        %z = get %e[%i, %j] : f32
        %q = add %z, %p : f32
        yield %q
      } : f32[4]
      %g = set %e[%i] = %t : f32[3, 4]
      yield %g
    } : f32[3, 4]
    yield %s
  } : f32[3, 4]
  yield %r
}
)";
  const Value a = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}, std::vector<int64_t>{3, 3});
  const Value b = Value::floats(std::vector<float>{1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12},
                                std::vector<int64_t>{3, 4});
  PassText m(text);
  m.apply(sink, {a, b, b});
  EXPECT_EQ(m.count("-> collect"), 1u) << m.text();
  EXPECT_LT(m.text().find("nest ("), m.text().rfind("for collects")) << m.text();
  std::string shifted = text;
  shifted.replace(shifted.find("%y = get %b[%k, %j]"), 19, "%y = get %b[%l, %j]");
  PassText other(shifted);
  other.apply(sink, {a, b, b});
  EXPECT_LT(other.text().find("nest ("), other.text().rfind("for collects")) << other.text();
}

/// Through rows, products that are arrays, and functions that only collect; the loop keeps what else it does.
TEST(SinkLoops, WhatATurnMakesIsMadeAtTheElement) {
  PassText m(R"(fn outer [N, M] (%x: f32[N], %y: f32[M]) -> (f32[N, M]) {
  %r = nest (%i: N, %j: M) -> collect[i, j] {
    %a = get %x[%i] : f32
    %b = get %y[%j] : f32
    %p = mul %a, %b : f32
    yield %p
  } : f32[N, M]
  yield %r
}
fn f (%v: f32[12]) -> (f32[3, 3], i64) {
  %x = reshape %v : f32[3, 4]
  %y = reshape %v : f32[4, 3]
  %n = const 4 : i64
  %begun = zero : f32[3, 3]
  %one = const 1 : i64
  %r, %m = for collects 0 %n, %begun, %one { (%k: i64, %c: f32[3, 3], %l: i64)
    %column = get %x[:, %k] : f32[3]
    %row = get %y[%k] : f32[3]
    %o = call @outer %column, %row dims [3, 3] : f32[3, 3]
    %s = add_at %c += %o : f32[3, 3]
    %more = mul %l, %k : i64
    %next = add %more, %one : i64
    yield %s, %next
  } : f32[3, 3], i64
  yield %r, %m
}
)");
  m.apply(sink, {numbers()});
  EXPECT_EQ(m.count("call @outer"), 0u) << m.text();
  EXPECT_EQ(m.count("= for "), 2u);
  EXPECT_NE(m.text().find("%m = for collects 0 %n, %one"), std::string::npos) << m.text();
}

/// A row of the array, which is the same in all turns.
TEST(SinkLoops, PartsArePutBack) {
  PassText m(R"(fn f (%v: f32[12], %i: i64) -> (f32[3, 4]) {
  %x = reshape %v : f32[3, 4]
  %y = reshape %v : f32[4, 3]
  %n = const 3 : i64
  %many = const 2 : i64
  %r = for collects 0 %many, %x { (%h: i64, %d: f32[3, 4])
    %u = for collects 0 %n, %d { (%k: i64, %c: f32[3, 4])
      %row = get %c[%h] : f32[4]
      %w = get %y[%h, %k] : f32
      %s = nest (%j: 4) -> collect[j] {
        %e = get %row[%j] : f32
        %b = get %x[%k, %j] : f32
        %p = mul %w, %b : f32
        %q = sub %e, %p : f32
        yield %q
      } : f32[4]
      %t = set %c[%h] = %s : f32[3, 4]
      yield %t
    } : f32[3, 4]
    yield %u
  } : f32[3, 4]
  yield %r
}
)");
  m.apply(sink, {numbers(), Value::integer(1)});
  EXPECT_NE(m.text().find(": f32)"), std::string::npos) << m.text(); // the inner loop carries a number
  EXPECT_EQ(m.count(" set "), 1u);
}

/// Of one side each row of the array is read once a turn: nothing is gained.
TEST(SinkLoops, OneSideIsNoProduct) {
  PassText m(R"(fn f (%v: f32[12]) -> (f32[3, 4]) {
  %x = reshape %v : f32[3, 4]
  %n = const 4 : i64
  %r = for collects 0 %n, %x { (%k: i64, %c: f32[3, 4])
    %s = nest (%i: 3, %j: 4) -> collect[i, j] {
      %e = get %c[%i, %j] : f32
      %p = get %x[%i, %k] : f32
      %q = get %x[%i, %j] : f32
      %w = mul %p, %q : f32
      %z = add %e, %w : f32
      yield %z
    } : f32[3, 4]
    yield %s
  } : f32[3, 4]
  yield %r
}
)");
  m.apply(sink, {numbers()});
  EXPECT_EQ(m.count("%c: f32[3, 4])"), 1u) << m.text();
}

/// What it reads beside is another element, or what it makes is no sum.
TEST(SinkLoops, OtherUpdatesStay) {
  for (const char* update : {"%e = get %c[%j, %i] : f32\n %p = mul %a, %b : f32\n %q = add %e, %p : f32",
                             "%e = get %c[%i, %j] : f32\n %p = mul %a, %b : f32\n %q = mul %e, %p : f32",
                             "%e = get %c[%i, %j] : f32\n %p = mul %e, %b : f32\n %q = sub %p, %a : f32"}) {
    PassText m(std::string(R"(fn f (%v: f32[12], %x: f32[2, 2]) -> (f32[2, 2]) {
  %w = reshape %v : f32[2, 6]
  %u = reshape %v : f32[6, 2]
  %n = const 6 : i64
  %r = for collects 0 %n, %x { (%k: i64, %c: f32[2, 2])
    %s = nest (%i: 2, %j: 2) -> collect[i, j] {
      %a = get %w[%i, %k] : f32
      %b = get %u[%k, %j] : f32
      )") + update +
               R"(
      yield %q
    } : f32[2, 2]
    yield %s
  } : f32[2, 2]
  yield %r
}
)");
    m.apply(sink);
    EXPECT_NE(m.text().find("%c: f32[2, 2])"), std::string::npos) << m.text();
  }
}

/// Elements that a turn reads are not there where the loop has none.
TEST(SinkLoops, NothingIsReadInFrontOfTheLoop) {
  PassText m(R"(fn f [K, N] (%a: f32[K, N], %x: f32[N, N]) -> (f32[N, N]) {
  %n = dim_value dims [K] : i64
  %zero = const 0 : i64
  %r = for collects 0 %n, %x { (%k: i64, %c: f32[N, N])
    %first = get %a[%zero] : f32[N]
    %s = nest (%i: N, %j: N) -> collect[i, j] {
      %e = get %c[%i, %j] : f32
      %b = get %first[%i] : f32
      %d = get %a[%k, %j] : f32
      %p = mul %b, %d : f32
      %q = add %e, %p : f32
      yield %q
    } : f32[N, N]
    yield %s
  } : f32[N, N]
  yield %r
}
)");
  m.apply(sink);
  const std::string text = m.text();
  EXPECT_GT(text.find("get %a[%zero"), text.find("= for ")) << text;
}

} // namespace
} // namespace melix::transforms
