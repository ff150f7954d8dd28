// Places inside places, sizes that change, loops that collect.
#include "jit/program.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

Outcome fine(std::string_view text) {
  Outcome outcome = run(text);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.status, MELIX_OK) << outcome.panic;
  EXPECT_EQ(outcome.stats.liveBlocks, 0);
  return outcome;
}

TEST(Places, AnArrayInAListIsUpdatedWhereItIs) {
  Outcome outcome = fine(R"(
struct Row { name: str, values: i64[10] }
fn main () -> (i64) {
  %a = const "a" : str
  %x = zero : i64[10]
  %r0 = make %a, %x : Row
  %y = zero : i64[10]
  %r1 = make %a, %y : Row
  %xs = list %r0, %r1 : List[Row]
  %n = const 10 : i64
  %one = const 1 : i64
  %zs = for collects 0 %n, %xs { (%i: i64, %ys: List[Row])
    %b = set %ys<%one>.1[%i] = %i : List[Row]
    %c = add_at %b<%one>.1[%i] += %one : List[Row]
    yield %c
  } : List[Row]
  %text = format "" %zs : str
  %u = builtin print %text : ()
  %k = const 3 : i64
  %v = get %zs<%one>.1[%k] : i64
  yield %v
}
)");
  EXPECT_EQ(outcome.result, 4);
  EXPECT_EQ(outcome.output, "[Row(name: \"a\", values: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "
                            "Row(name: \"a\", values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])]\n");
  EXPECT_LE(outcome.stats.allocations, 5);
}

TEST(Places, SlicesAreReadAndWritten) {
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %x = nest (%i: 4, %j: 6) -> collect[i, j] {
    %k = const 10 : i64
    %p = mul %i, %k : i64
    %q = add %p, %j : i64
    yield %q
  } : i64[4, 6]
  %one = const 1 : i64
  %two = const 2 : i64
  %s = get %x[%one +: 2, %two +: 2 by 2] : i64[2, 2]
  %t = get %x[:, %one] : i64[4]
  %zero = const 0 : i64
  %y = set %x[%zero +: 2, %zero +: 2] = %s : i64[4, 6]
  %w = add_at %y[:, %one] += %t : i64[4, 6]
  %a = format "" %s : str
  %b = format "" %w : str
  %u = builtin print %a : ()
  %u2 = builtin print %b : ()
  %v = get %x[%zero, %zero] : i64
  yield %v
}
)");
  EXPECT_EQ(outcome.result, 0);
  EXPECT_EQ(outcome.output, "[[12, 14],\n [22, 24]]\n"
                            "[[12, 15, 2, 3, 4, 5],\n [22, 35, 12, 13, 14, 15],\n [20, 42, 22, 23, 24, 25],\n"
                            " [30, 62, 32, 33, 34, 35]]\n");
}

/// A block for the array, and none for the rows; the last call changes what it is given.
TEST(Places, RowsGoToCallsWithoutBlocks) {
  Outcome outcome = fine(R"(
fn total [N] (%x: i64[N]) -> (i64) {
  %s = nest (%i: N) -> keep[] sum {
    %a = get %x[%i] : i64
    yield %a
  } : i64
  yield %s
}
fn raised [N] (%x: i64[N], %v: i64) -> (i64[N]) {
  %front = const 0 : i64
  %y = set %x[%front] = %v : i64[N]
  yield %y
}
fn main () -> (i64) {
  %x = nest (%k: 1000, %j: 70) -> collect[k, j] {
    %p = add %k, %j : i64
    yield %p
  } : i64[1000, 70]
  %n = const 1000 : i64
  %zero = const 0 : i64
  %y, %s = for collects 0 %n, %x, %zero { (%i: i64, %z: i64[1000, 70], %t: i64)
    %row = get %z[%i] : i64[70]
    %a = call @total %row dims [70] : i64
    %w = set %z[%i, %zero] = %a : i64[1000, 70]
    %u = add %t, %a : i64
    yield %w, %u
  } : i64[1000, 70], i64
  %last = get %y[%zero] : i64[70]
  %r = call @raised %last, %zero dims [70] : i64[70]
  %b = call @total %r dims [70] : i64
  %c = get %y[%zero, %zero] : i64
  %d = sub %c, %b : i64
  %e = add %s, %d : i64
  yield %e
}
)");
  // Rows sum to 70 i + 69 · 35; the first has its sum in front, which `raised` takes out of a copy.
  EXPECT_EQ(outcome.result, 70 * 999 * 500 + 1000 * 69 * 35 + 69 * 35 - 69 * 35);
  EXPECT_EQ(outcome.stats.allocations, 2);
}

TEST(Places, LoopsCollectRows) {
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %n = const 3 : i64
  %x = zero : i64[4]
  %last, %all, %squares = for collects 2 %n, %x defines [C] { (%i: i64, %a: i64[4])
    %b = add_at %a[%i] += %n : i64[4]
    %s = mul %i, %i : i64
    yield %b, %b, %s
  } : i64[4], i64[C, 4], i64[C]
  %t = format "" %all : str
  %t2 = format "" %last : str
  %t3 = format "" %squares : str
  %u = builtin print %t, %t2, %t3 : ()
  %r = dim_value dims [C] : i64
  yield %r
}
)");
  EXPECT_EQ(outcome.result, 3);
  EXPECT_EQ(outcome.output, "[[3, 0, 0, 0],\n [3, 3, 0, 0],\n [3, 3, 3, 0]] [3, 3, 3, 0] [0, 1, 4]\n");
}

TEST(Sizes, ChangeInBranchesAndLoops) {
  // Doubles an array until it has at least 20 elements.
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %x = nest (%i: 3) -> collect[i] {
    yield %i
  } : i64[3]
  %y = while %x dims [3] defines [R] { [N] (%a: i64[N])
    %k = const 20 : i64
    %n = dim_value dims [N] : i64
    %c = cmp lt %n, %k : bool
    yield %c
  } { [M] (%b: i64[M])
    %d = nest (%j: 2*M) -> collect[j] {
      %m = dim_value dims [M] : i64
      %e = irem %j, %m : i64
      %v = get %b[%e] : i64
      yield %v
    } : i64[2*M]
    yield %d dims [2*M]
  } : i64[R]
  %big = const true : bool
  %z = if %big defines [S] {
    yield %y dims [R]
  } {
    %w = zero : i64[5]
    yield %w dims [5]
  } : i64[S]
  %s = nest (%l: S) -> keep[] sum {
    %p = get %z[%l] : i64
    yield %p
  } : i64
  %r = dim_value dims [S] : i64
  %h = const 100 : i64
  %q = mul %r, %h : i64
  %o = add %q, %s : i64
  yield %o
}
)");
  EXPECT_EQ(outcome.result, 2424);
}

TEST(Sums, OfStructsAndArrays) {
  Outcome outcome = fine(R"(
struct P { w: f64[3], b: f64 }
fn main () -> (i64) {
  %one = const 1.0 : f64
  %w = nest (%i: 3) -> collect[i] {
    %f = convert saturate %i : f64
    yield %f
  } : f64[3]
  %p = make %w, %one : P
  %q = add %p, %p : P
  %z = zero : P
  %t = sub %z, %q : P
  %m = neg %t : P
  %n = nest (%k: 5) -> keep[] sum {
    %row = nest (%l: 3) -> collect[l] {
      %g = convert saturate %l : f64
      yield %g
    } : f64[3]
    yield %row
  } : f64[3]
  %a = format "" %m : str
  %b = format "" %n : str
  %u = builtin print %a, %b : ()
  %r = const 0 : i64
  yield %r
}
)");
  EXPECT_EQ(outcome.output, "P(w: [-0.0, 2.0, 4.0], b: 2.0) [0.0, 5.0, 10.0]\n");
}

TEST(Sums, OfRecursiveEnumsAndLists) {
  Outcome outcome = fine(R"(
enum T { Zero(), Node(v: f64, next: T, xs: List[f64]) }
fn chain (%n: i64) -> (T) {
  %zero = const 0 : i64
  %c = cmp le %n, %zero : bool
  %r = if %c {
    %z = variant 0 : T
    yield %z
  } {
    %one = const 1 : i64
    %m = sub %n, %one : i64
    %next = call @chain %m : T
    %f = convert saturate %n : f64
    %xs = list %f, %f : List[f64]
    %node = variant 1 %f, %next, %xs : T
    yield %node
  } : T
  yield %r
}
fn main () -> (i64) {
  %k3 = const 3 : i64
  %k2 = const 2 : i64
  %a = call @chain %k3 : T
  %b = call @chain %k2 : T
  %s = add %a, %b : T
  %t = neg %b : T
  %u = sub %t, %a : T
  %z = zero : T
  %w = sub %z, %b : T
  %x = format "" %s : str
  %y = format "" %u : str
  %q = format "" %w : str
  %p = builtin print %x : ()
  %p2 = builtin print %y : ()
  %p3 = builtin print %q : ()
  %r = const 0 : i64
  yield %r
}
)");
  EXPECT_EQ(outcome.output,
            "Node(v: 5.0, next: Node(v: 3.0, next: Node(v: 1.0, next: Zero, xs: [1.0, 1.0]), xs: [3.0, "
            "3.0]), xs: [5.0, 5.0])\n"
            "Node(v: -5.0, next: Node(v: -3.0, next: Node(v: -1.0, next: Zero, xs: [-1.0, -1.0]), xs: [-3.0, "
            "-3.0]), xs: [-5.0, -5.0])\n"
            "Node(v: -2.0, next: Node(v: -1.0, next: Zero, xs: [-1.0, -1.0]), xs: [-2.0, -2.0])\n");
}

TEST(Monoids, CombineSeveralValues) {
  // The pair (max, sum of exponentials) would do; here (min, max) of a sequence by @combine.
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %low = const 1000 : i64
  %high = const -1000 : i64
  %a, %b = nest (%i: 10) -> keep[] combine 2 region 1 units (%low, %high) {
    %c = const 7 : i64
    %d = const 13 : i64
    %e = mul %i, %c : i64
    %f = irem %e, %d : i64
    yield %f, %f
  } { (%p: i64, %q: i64, %r: i64, %s: i64)
    %t = min %p, %r : i64
    %v = max %q, %s : i64
    yield %t, %v
  } : i64, i64
  %h = const 100 : i64
  %x = mul %b, %h : i64
  %y = add %x, %a : i64
  yield %y
}
)");
  EXPECT_EQ(outcome.result, 1100);
}

} // namespace
} // namespace melix::jit
