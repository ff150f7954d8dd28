// Derivatives of control flow, mutation, calls, recursion and data, both modes, second order.

#include "transforms/grad_check.h"

#include <gtest/gtest.h>

using namespace melix;
using test::GradCheck;

/// Node(Leaf(0.5, 1), Node(Leaf(1.5, 0), Leaf(0.7, 2)))
static interp::Value tree() {
  using interp::Value;
  auto leaf = [](double w, int64_t k) { return Value::variant(0, {Value::f64(w), Value::integer(k)}); };
  return Value::variant(1, {leaf(0.5, 1), Value::variant(1, {leaf(1.5, 0), leaf(0.7, 2)})});
}

TEST(ControlDerivative, forLoopUpdatesInPlace) {
  GradCheck(R"(fn f [N] (%x: f64[N], %s: f64) -> (f64) {
  %n = dim_value dims [N] : i64
  %one = const 1.0 : f64
  %zero = const 0.0 : f64
  %r, %xs = for collects 0 %n, %one, %x {
   (%i: i64, %acc: f64, %a: f64[N])
    %v = get %a[%i] : f64
    %c = cmp gt %v, %zero : bool
    %w = if %c {
      %q = mul %v, %acc : f64
      %q2 = math exp %q : f64
      yield %q2
    } {
      %q_1 = sub %v, %acc : f64
      yield %q_1
    } : f64
    %a2 = set %a[%i] = %w : f64[N]
    yield %w, %a2
  } : f64, f64[N]
  %l = nest (%j: N) -> keep[] sum {
    %v_1 = get %xs[%j] : f64
    %v2 = mul %v_1, %v_1 : f64
    yield %v2
  } : f64
  %m = nest (%j_1: N) -> keep[] max {
    %v_2 = get %x[%j_1] : f64
    yield %v_2
  } : f64
  %t = add %l, %r : f64
  %u = add %t, %m : f64
  yield %u
}
)")
      .dims({4})
      .orders(3)
      .check();
}

TEST(ControlDerivative, whileLoop) {
  GradCheck(R"(fn f [N] (%x: f64[N]) -> (f64) {
  %n = dim_value dims [N] : i64
  %z = const 0 : i64
  %zero = const 0.0 : f64
  %i, %s, %a = while %z, %zero, %x {
   (%i_1: i64, %s_1: f64, %a_1: f64[N])
    %c = cmp lt %i_1, %n : bool
    yield %c
  } {
   (%i_2: i64, %s_2: f64, %a_2: f64[N])
    %one = const 1 : i64
    %v = get %a_2[%i_2] : f64
    %w = mul %v, %v : f64
    %s2 = add %s_2, %w : f64
    %e = math sin %s2 : f64
    %a2 = set %a_2[%i_2] = %e : f64[N]
    %j = add %i_2, %one : i64
    yield %j, %s2, %a2
  } : i64, f64, f64[N]
  %k = const 0 : i64
  %v_1 = get %a[%k] : f64
  %r = mul %s, %v_1 : f64
  yield %r
}
)")
      .dims({4})
      .check();
}

TEST(ControlDerivative, branch) {
  GradCheck(R"(fn f (%x: f64, %y: f64) -> (f64) {
  %c = cmp gt %x, %y : bool
  %r = if %c {
    %a = mul %x, %y : f64
    %b = math sin %a : f64
    yield %b
  } {
    %a_1 = div %x, %y : f64
    yield %a_1
  } : f64
  %q = mul %r, %r : f64
  yield %q
}
)")
      .orders(3)
      .check();
}

TEST(ControlDerivative, powerByALoop) {
  GradCheck(R"(fn f (%x: f64, %n: i64) -> (f64) {
  %one = const 1.0 : f64
  %r = for collects 0 %n, %one {
   (%i: i64, %p: f64)
    %q = mul %p, %x : f64
    yield %q
  } : f64
  yield %r
}
)")
      .argument(1, interp::Value::integer(5))
      .orders(3)
      .check();
}

TEST(ControlDerivative, loopThatNeverRuns) {
  GradCheck(R"(fn f (%x: f64, %n: i64) -> (f64) {
  %r = for collects 0 %n, %x {
   (%i: i64, %p: f64)
    %q = mul %p, %x : f64
    yield %q
  } : f64
  yield %r
}
)")
      .argument(1, interp::Value::integer(-3))
      .check();
}

TEST(ControlDerivative, collectingLoop) {
  GradCheck(R"(fn f [N] (%x: f64[N]) -> (f64) {
  %n = dim_value dims [N] : i64
  %z = const 0.0 : f64
  %s, %a = for collects 1 %n, %z defines [d] {
   (%i: i64, %p: f64)
    %v = get %x[%i] : f64
    %q = add %p, %v : f64
    %e = math sin %q : f64
    yield %q, %e
  } : f64, f64[d]
  %r = nest (%j: d) -> keep[] sum {
    %v_1 = get %a[%j] : f64
    %u = mul %v_1, %s : f64
    yield %u
  } : f64
  yield %r
}
)")
      .dims({4})
      .check();
}

TEST(ControlDerivative, nestedLoops) {
  GradCheck(R"(fn f [N] (%x: f64[N], %s: f64) -> (f64) {
  %n = dim_value dims [N] : i64
  %r, %xs = for collects 0 %n, %s, %x {
   (%i: i64, %acc: f64, %a: f64[N])
    %r2, %a2 = for collects 0 %i, %acc, %a {
     (%j: i64, %acc1: f64, %a1: f64[N])
      %v = get %a1[%j] : f64
      %w = get %a1[%i] : f64
      %p = mul %v, %w : f64
      %q = math sin %p : f64
      %b = set %a1[%j] = %q : f64[N]
      %acc2 = mul %acc1, %w : f64
      yield %acc2, %b
    } : f64, f64[N]
    yield %r2, %a2
  } : f64, f64[N]
  %t = nest (%j_1: N) -> keep[] sum {
    %v_1 = get %xs[%j_1] : f64
    %v2 = mul %v_1, %r : f64
    yield %v2
  } : f64
  yield %t
}
)")
      .dims({4})
      .check();
}

TEST(ControlDerivative, nestInsideALoop) {
  GradCheck(R"(fn f [N] (%h0: f64[N], %w: f64[N, N], %steps: i64) -> (f64) {
  %h = for collects 0 %steps, %h0 {
   (%t: i64, %s: f64[N])
    %n = nest (%i: N) -> collect[i] {
      %z = nest (%k: N) -> keep[] sum {
        %a = get %w[%i, %k] : f64
        %b = get %s[%k] : f64
        %p = mul %a, %b : f64
        yield %p
      } : f64
      %y = math tanh %z : f64
      yield %y
    } : f64[N]
    yield %n
  } : f64[N]
  %r = nest (%i_1: N) -> keep[] sum {
    %v = get %h[%i_1] : f64
    yield %v
  } : f64
  yield %r
}
)")
      .dims({3})
      .argument(2, interp::Value::integer(3))
      .check();
}

TEST(ControlDerivative, callsAndMutation) {
  GradCheck(R"(fn put [N] (%a: f64[N], %i: i64, %v: f64) -> (f64[N]) inout 0=0 {
  %w = math sin %v : f64
  %b = set %a[%i] = %w : f64[N]
  yield %b
}
fn f [N] (%x: f64[N], %s: f64) -> (f64[N]) {
  %n = dim_value dims [N] : i64
  %r = for collects 0 %n, %x {
   (%i: i64, %a: f64[N])
    %v = get %a[%i] : f64
    %u = mul %v, %s : f64
    %b = call @put %a, %i, %u dims [N] : f64[N]
    yield %b
  } : f64[N]
  yield %r
}
)")
      .dims({4})
      .check();
}

TEST(ControlDerivative, tuplesAndStructs) {
  GradCheck(R"(struct P[N] { a: f64[N], k: i64, c: f64 }
fn g [N] (%p: P[N], %s: f64) -> (P[N]) {
  %c = get %p.2 : f64
  %d = mul %c, %s : f64
  %q = set %p.2 = %d : P[N]
  %z = const 0 : i64
  %r = set %q.0[%z] = %d : P[N]
  yield %r
}
fn f [N] (%x: f64[N], %s: f64) -> (f64) {
  %k = const 1 : i64
  %p = make %x, %k, %s : P[N]
  %q = call @g %p, %s dims [N] : P[N]
  %a = get %q.0 : f64[N]
  %i = get %q.1 : i64
  %v = get %a[%i] : f64
  %z = const 0 : i64
  %w = get %a[%z] : f64
  %u = mul %v, %w : f64
  %c = get %q.2 : f64
  %t = mul %u, %c : f64
  yield %t
}
)")
      .dims({3})
      .check();
}

TEST(ControlDerivative, arraysOfStructs) {
  GradCheck(R"(struct Body { x: f64, v: f64, k: i64 }
fn f [N] (%x: f64[N], %dt: f64) -> (f64) {
  %bodies = nest (%i: N) -> collect[i] {
    %a = get %x[%i] : f64
    %b = mul %a, %a : f64
    %body = make %a, %b, %i : Body
    yield %body
  } : Body[][N]
  %n = dim_value dims [N] : i64
  %m = for collects 0 %n, %bodies {
   (%i_1: i64, %bs: Body[][N])
    %v = get %bs[%i_1].1 : f64
    %p = get %bs[%i_1].0 : f64
    %d = mul %v, %dt : f64
    %q = add %p, %d : f64
    %e = math sin %q : f64
    %cs = set %bs[%i_1].0 = %e : Body[][N]
    %ds = add_at %cs[%i_1].1 += %d : Body[][N]
    yield %ds
  } : Body[][N]
  %r = nest (%i_2: N) -> keep[] sum {
    %p_1 = get %m[%i_2].0 : f64
    %v_1 = get %m[%i_2].1 : f64
    %y = mul %p_1, %v_1 : f64
    yield %y
  } : f64
  yield %r
}
)")
      .dims({3})
      .check();
}

TEST(ControlDerivative, lists) {
  GradCheck(R"(fn f [N] (%x: f64[N]) -> (f64) {
  %n = dim_value dims [N] : i64
  %e = list : List[f64]
  %l = for collects 0 %n, %e {
   (%i: i64, %xs: List[f64])
    %v = get %x[%i] : f64
    %w = mul %v, %v : f64
    %ys = push %xs, %w : List[f64]
    yield %ys
  } : List[f64]
  %last, %rest = pop %l : f64, List[f64]
  %z = const 0 : i64
  %first = get %rest<%z> : f64
  %p = mul %first, %last : f64
  %changed = set %rest<%z> = %p : List[f64]
  %arr = to_array %changed defines [d] : f64[d]
  %s = nest (%j: d) -> keep[] sum {
    %v_1 = get %arr[%j] : f64
    %u = math sin %v_1 : f64
    yield %u
  } : f64
  %t = mul %s, %last : f64
  yield %t
}
)")
      .dims({4})
      .check();
}

TEST(ControlDerivative, recursionOverATree) {
  GradCheck(R"(enum Tree { Leaf(f64, i64), Node(Tree, Tree) }
fn enc [D] (%p: f64[D], %t: Tree) -> (f64, f64[D]) {
  %s, %v = match cases [0, 1] %t {
   (%w: f64, %k: i64)
    %a = get %p[%k] : f64
    %q = mul %a, %w : f64
    %r = nest (%i: D) -> collect[i] {
      %pi = get %p[%i] : f64
      %z = mul %pi, %q : f64
      yield %z
    } : f64[D]
    yield %q, %r
  } {
   (%l: Tree, %r_1: Tree)
    %a_1, %va = call @enc %p, %l dims [D] : f64, f64[D]
    %b, %vb = call @enc %p, %r_1 dims [D] : f64, f64[D]
    %q_1 = mul %a_1, %b : f64
    %v_1 = nest (%i_1: D) -> collect[i_1] {
      %x = get %va[%i_1] : f64
      %y = get %vb[%i_1] : f64
      %z_1 = mul %x, %y : f64
      yield %z_1
    } : f64[D]
    yield %q_1, %v_1
  } : f64, f64[D]
  yield %s, %v
}
fn f [D] (%p: f64[D], %t: Tree) -> (f64) {
  %s, %v = call @enc %p, %t dims [D] : f64, f64[D]
  %l = nest (%i: D) -> keep[] sum {
    %x = get %v[%i] : f64
    yield %x
  } : f64
  %r = add %l, %s : f64
  yield %r
}
)")
      .dims({3})
      .argument(1, tree())
      .check();
}

TEST(ControlDerivative, recursionOverShrinkingShapes) {
  GradCheck(R"(fn det [N] (%a: f64[N, N]) -> (f64) {
  %n = dim_value dims [N] : i64
  %z = const 0 : i64
  %c = cmp eq %n, %z : bool
  %r = if %c {
    %one = const 1.0 : f64
    yield %one
  } {
    %s = nest (%j: N) -> keep[] sum {
      %m = nest (%i: N - 1, %k: N - 1) -> collect[i, k] {
        %o = const 1 : i64
        %i1 = add %i, %o : i64
        %l = cmp lt %k, %j : bool
        %k1 = add %k, %o : i64
        %kk = select %l, %k, %k1 : i64
        %v = get %a[%i1, %kk] : f64
        yield %v
      } : f64[N - 1, N - 1]
      %d = call @det %m dims [N - 1] : f64
      %z0 = const 0 : i64
      %v_1 = get %a[%z0, %j] : f64
      %p = mul %v_1, %d : f64
      %two = const 2 : i64
      %odd = irem %j, %two : i64
      %isOdd = cmp eq %odd, %z0 : bool
      %neg = neg %p : f64
      %q = select %isOdd, %p, %neg : f64
      yield %q
    } : f64
    yield %s
  } : f64
  yield %r
}
fn f [N] (%a: f64[N, N]) -> (f64) {
  %d = call @det %a dims [N] : f64
  yield %d
}
)")
      .dims({3})
      .check();
}

TEST(ControlDerivative, matchOnAnEnumOfFloats) {
  GradCheck(R"(enum Shape { Circle(f64), Rect(f64, f64), Nothing() }
fn area (%s: Shape) -> (f64) {
  %r = match cases [0, 1, 2] %s {
   (%q: f64)
    %p = mul %q, %q : f64
    yield %p
  } {
   (%a: f64, %b: f64)
    %p_1 = mul %a, %b : f64
    yield %p_1
  } {
    %z = const 0.0 : f64
    yield %z
  } : f64
  yield %r
}
fn f (%x: f64, %y: f64) -> (f64) {
  %c = variant 0 %x : Shape
  %t = cmp gt %x, %y : bool
  %m = if %t {
    %n = variant 2 : Shape
    yield %n
  } {
    %n_1 = variant 1 %x, %y : Shape
    yield %n_1
  } : Shape
  %a = call @area %c : f64
  %b = call @area %m : f64
  %p = mul %a, %b : f64
  yield %p
}
)")
      .argument(0, interp::Value::f64(0.4))
      .argument(1, interp::Value::f64(0.9))
      .check();
}

TEST(ControlDerivative, sizesDecidedInside) {
  GradCheck(R"(fn f (%x: f64, %n: i64) -> (f64) {
  bind_dim %n defines [d]
  %a = nest (%i: d) -> collect[i] {
    %k = convert saturate %i : f64
    %p = mul %k, %x : f64
    %s = math sin %p : f64
    yield %s
  } : f64[d]
  %r = nest (%i_1: d, %j: d) -> keep[] sum {
    %v = get %a[%i_1] : f64
    %w = get %a[%j] : f64
    %p_1 = mul %v, %w : f64
    yield %p_1
  } : f64
  yield %r
}
)")
      .argument(1, interp::Value::integer(4))
      .check();
}

TEST(ControlDerivative, branchesOfDifferentSizes) {
  GradCheck(R"(fn f (%x: f64, %n: i64) -> (f64) {
  %two = const 2 : i64
  %c = cmp gt %n, %two : bool
  %a = if %c defines [d] {
    bind_dim %n defines [e]
    %v = nest (%i: e) -> collect[i] {
      %k = convert saturate %i : f64
      %p = mul %k, %x : f64
      %s = math sin %p : f64
      yield %s
    } : f64[e]
    yield %v dims [e]
  } {
    %v_1 = nest (%i_1: 3) -> collect[i_1] {
      %q = mul %x, %x : f64
      yield %q
    } : f64[3]
    yield %v_1 dims [3]
  } : f64[d]
  %r = nest (%j: d) -> keep[] sum {
    %v_2 = get %a[%j] : f64
    %p_1 = mul %v_2, %v_2 : f64
    yield %p_1
  } : f64
  yield %r
}
)")
      .argument(1, interp::Value::integer(4))
      .check();
}

TEST(ControlDerivative, whileWhoseConditionReadsWhatIsDifferentiated) {
  GradCheck(R"(fn f (%a: f64, %x0: f64) -> (f64) {
  %half = const 0.5 : f64
  %eps = const 1e-9 : f64
  %x = while %x0 {
   (%c: f64)
    %c2 = mul %c, %c : f64
    %d = sub %c2, %a : f64
    %ad = abs %d : f64
    %go = cmp gt %ad, %eps : bool
    yield %go
  } {
   (%b: f64)
    %q = div %a, %b : f64
    %s = add %b, %q : f64
    %h = mul %s, %half : f64
    yield %h
  } : f64
  yield %x
}
)")
      .check();
}
