// Derivatives of nests: all kinds of results, reads and bodies, both modes, second order.

#include "transforms/grad_check.h"

#include <gtest/gtest.h>

using namespace melix;
using test::GradCheck;

TEST(NestDerivative, matrixProduct) {
  GradCheck(R"(fn f [B, I, O] (%x: f64[B, I], %w: f64[I, O], %b: f64[O]) -> (f64) {
  %z = nest (%i: B, %o: O) -> collect[i, o] {
    %s = nest (%k: I) -> keep[] sum {
      %a = get %x[%i, %k] : f64
      %c = get %w[%k, %o] : f64
      %p = mul %a, %c : f64
      yield %p
    } : f64
    %bb = get %b[%o] : f64
    %q = add %s, %bb : f64
    yield %q
  } : f64[B, O]
  %l = nest (%i_1: B, %o_1: O) -> keep[] sum {
    %v = get %z[%i_1, %o_1] : f64
    %e = math tanh %v : f64
    yield %e
  } : f64
  yield %l
}
)")
      .dims({3, 4, 2})
      .orders(3)
      .check();
}

TEST(NestDerivative, convolution) {
  GradCheck(R"(fn f [H, K, C] (%x: f64[H], %w: f64[K, C]) -> (f64[H - K + 1, C]) {
  %y = nest (%i: H - K + 1, %c: C) -> collect[i, c] {
    %s = nest (%k: K) -> keep[] sum {
      %j = add %i, %k : i64
      %a = get %x[%j] : f64
      %b = get %w[%k, %c] : f64
      %p = mul %a, %b : f64
      yield %p
    } : f64
    %e = mul %s, %s : f64
    yield %e
  } : f64[H - K + 1, C]
  yield %y
}
)")
      .dims({7, 3, 2})
      .check();
}

TEST(NestDerivative, averagePool) {
  GradCheck(R"(fn f [H] (%x: f64[H]) -> (f64[H / 2]) {
  %y = nest (%i: H / 2) -> collect[i] {
    %s = nest (%k: 2) -> keep[] sum {
      %two = const 2 : i64
      %i2 = mul %i, %two : i64
      %j = add %i2, %k : i64
      %a = get %x[%j] : f64
      %b = mul %a, %a : f64
      yield %b
    } : f64
    yield %s
  } : f64[H / 2]
  yield %y
}
)")
      .dims({7})
      .check();
}

TEST(NestDerivative, maxPool) {
  GradCheck(R"(fn f [H] (%x: f64[H]) -> (f64[H / 2]) {
  %y = nest (%i: H / 2) -> collect[i] {
    %s = nest (%k: 2) -> keep[] max {
      %two = const 2 : i64
      %i2 = mul %i, %two : i64
      %j = add %i2, %k : i64
      %a = get %x[%j] : f64
      yield %a
    } : f64
    %t = mul %s, %s : f64
    yield %t
  } : f64[H / 2]
  yield %y
}
)")
      .dims({6})
      .check();
}

TEST(NestDerivative, embedding) {
  GradCheck(R"(fn f [V, D, B] (%t: f64[V, D], %ids: i64[B]) -> (f64[B, D]) {
  %y = nest (%b: B, %d: D) -> collect[b, d] {
    %i = get %ids[%b] : i64
    %v = get %t[%i, %d] : f64
    %e = math exp %v : f64
    yield %e
  } : f64[B, D]
  yield %y
}
)")
      .dims({4, 2, 5})
      .argument(1, test::arrayInt({3, 1, 1, 0, 3}))
      .check();
}

TEST(NestDerivative, minAndMaxOverOneAxis) {
  GradCheck(R"(fn f [N, M] (%x: f64[N, M]) -> (f64[N], f64[M]) {
  %a, %b = nest (%i: N, %j: M) -> keep[i] max, keep[j] min {
    %v = get %x[%i, %j] : f64
    %w = math sin %v : f64
    yield %w, %w
  } : f64[N], f64[M]
  %c = nest (%i_1: N) -> collect[i_1] {
    %v_1 = get %a[%i_1] : f64
    %w_1 = mul %v_1, %v_1 : f64
    yield %w_1
  } : f64[N]
  yield %c, %b
}
)")
      .dims({3, 4})
      .check();
}

TEST(NestDerivative, product) {
  GradCheck(R"(fn f [N, M] (%x: f64[N, M]) -> (f64[N]) {
  %a = nest (%i: N, %j: M) -> keep[i] prod {
    %v = get %x[%i, %j] : f64
    %w = math sin %v : f64
    yield %w
  } : f64[N]
  yield %a
}
)")
      .dims({3, 4})
      .check();
}

TEST(NestDerivative, productWithZeros) {
  GradCheck(R"(fn f [N] (%x: f64[N]) -> (f64) {
  %a = nest (%i: N) -> keep[] prod {
    %v = get %x[%i] : f64
    yield %v
  } : f64
  yield %a
}
)")
      .dims({3})
      .argument(0, test::array64({0, 2, 3}))
      .check();
}

TEST(NestDerivative, logSumExpAsOneReduction) {
  GradCheck(R"(fn f [N, M] (%x: f64[N, M]) -> (f64[N]) {
  %z = const -1e30 : f64
  %z0 = const 0.0 : f64
  %a, %b = nest (%i: N, %j: M) -> keep[i] combine 2 region 1 units (%z, %z0) {
    %v = get %x[%i, %j] : f64
    %o = const 1.0 : f64
    yield %v, %o
  } {
   (%m1: f64, %s1: f64, %m2: f64, %s2: f64)
    %m = max %m1, %m2 : f64
    %d1 = sub %m1, %m : f64
    %d2 = sub %m2, %m : f64
    %e1 = math exp %d1 : f64
    %e2 = math exp %d2 : f64
    %q1 = mul %e1, %s1 : f64
    %q2 = mul %e2, %s2 : f64
    %q = add %q1, %q2 : f64
    yield %m, %q
  } : f64[N], f64[N]
  %l = nest (%i_1: N) -> collect[i_1] {
    %v_1 = get %a[%i_1] : f64
    %s = get %b[%i_1] : f64
    %ls = math log %s : f64
    %r = add %v_1, %ls : f64
    yield %r
  } : f64[N]
  yield %l
}
)")
      .dims({2, 3})
      .check();
}

TEST(NestDerivative, sumsOverDifferentAxes) {
  GradCheck(R"(fn f [N, M] (%x: f64[N, M], %s: f64) -> (f64[N], f64[M], f64) {
  %a, %b, %c = nest (%i: N, %j: M) -> keep[i] sum, keep[j] sum, keep[] sum {
    %v = get %x[%i, %j] : f64
    %w = mul %v, %s : f64
    %u = math exp %w : f64
    yield %w, %u, %v
  } : f64[N], f64[M], f64
  yield %a, %b, %c
}
)")
      .dims({2, 3})
      .check();
}

TEST(NestDerivative, filter) {
  GradCheck(R"(fn f [N] (%x: f64[N], %s: f64) -> (f64) {
  %a = nest (%i: N) -> filter defines [d] {
    %v = get %x[%i] : f64
    %c = cmp gt %v, %s : bool
    %w = mul %v, %v : f64
    yield %c, %w
  } : f64[d]
  %r = nest (%j: d) -> keep[] sum {
    %v_1 = get %a[%j] : f64
    %u = mul %v_1, %v_1 : f64
    yield %u
  } : f64
  yield %r
}
)")
      .dims({6})
      .argument(1, interp::Value::f64(0.7))
      .check();
}

TEST(NestDerivative, slicesAndWholeAxes) {
  GradCheck(R"(fn f [N, M] (%x: f64[N, M]) -> (f64[M], f64) {
  %one = const 1 : i64
  %row = get %x[%one] : f64[M]
  %part = get %x[%one +: 2, :] : f64[2, M]
  %y = set %x[%one, :] = %row : f64[N, M]
  %r = nest (%i: 2, %j: M) -> keep[] sum {
    %v = get %part[%i, %j] : f64
    %w = get %y[%i, %j] : f64
    %u = mul %v, %w : f64
    yield %u
  } : f64
  %k = nest (%j_1: M) -> collect[j_1] {
    %v_1 = get %row[%j_1] : f64
    %u_1 = mul %v_1, %v_1 : f64
    yield %u_1
  } : f64[M]
  yield %k, %r
}
)")
      .dims({4, 3})
      .check();
}

TEST(NestDerivative, bodiesThatAreArrays) {
  GradCheck(R"(fn sq [M] (%r: f64[M], %s: f64) -> (f64[M]) {
  %k = nest (%j: M) -> collect[j] {
    %v = get %r[%j] : f64
    %u = mul %v, %s : f64
    %w = math sin %u : f64
    yield %w
  } : f64[M]
  yield %k
}
fn f [N, M] (%x: f64[N, M], %s: f64) -> (f64[N, M]) {
  %r = nest (%i: N) -> collect[i] {
    %row = get %x[%i] : f64[M]
    %y = call @sq %row, %s dims [M] : f64[M]
    yield %y
  } : f64[N, M]
  yield %r
}
)")
      .dims({2, 3})
      .check();
}

TEST(NestDerivative, callsInANest) {
  GradCheck(R"(fn h [M] (%w: f64[M], %i: i64, %s: f64) -> (f64) {
  %a = get %w[%i] : f64
  %b = mul %a, %s : f64
  %r = nest (%j: M) -> keep[] sum {
    %v = get %w[%j] : f64
    %u = mul %v, %b : f64
    %e = math exp %u : f64
    yield %e
  } : f64
  yield %r
}
fn f [M] (%w: f64[M], %s: f64) -> (f64) {
  %r = nest (%i: M) -> keep[] sum {
    %y = call @h %w, %i, %s dims [M] : f64
    yield %y
  } : f64
  yield %r
}
)")
      .dims({3})
      .check();
}

TEST(NestDerivative, branchInANest) {
  GradCheck(R"(fn f [N] (%x: f64[N], %w: f64[N]) -> (f64) {
  %r = nest (%i: N) -> keep[] sum {
    %v = get %x[%i] : f64
    %h = const 0.8 : f64
    %c = cmp gt %v, %h : bool
    %y = if %c {
      %u = get %w[%i] : f64
      %p = mul %u, %v : f64
      %e = math exp %p : f64
      yield %e
    } {
      %q = mul %v, %v : f64
      yield %q
    } : f64
    yield %y
  } : f64
  yield %r
}
)")
      .dims({5})
      .check();
}

TEST(NestDerivative, emptyMaximum) {
  GradCheck(R"(fn f [N] (%x: f64[N], %s: f64) -> (f64) {
  %m = nest (%i: N) -> keep[] max {
    %v = get %x[%i] : f64
    yield %v
  } : f64
  %z = const 0.0 : f64
  %c = cmp gt %m, %z : bool
  %q = select %c, %m, %s : f64
  %r = mul %q, %s : f64
  yield %r
}
)")
      .dims({0})
      .check();
}
