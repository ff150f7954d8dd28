// Arrays, nests and updates in compiled code.
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

TEST(Arrays, SumsSquares) {
  EXPECT_EQ(fine(R"(
fn main () -> (i64) {
  %x = nest (%i: 10) -> collect[i] {
    %y = mul %i, %i : i64
    yield %y
  } : i64[10]
  %s = nest (%i2: 10) -> keep[] sum {
    %y2 = get %x[%i2] : i64
    yield %y2
  } : i64
  yield %s
}
)")
                .result,
            285);
}

TEST(Arrays, MultipliesMatrices) {
  // sum over all of a @ b with a[i,k] = i + k, b[k,j] = k * j, of unknown sizes.
  EXPECT_EQ(fine(R"(
fn matmul [M, K, N] (%a: f64[M, K], %b: f64[K, N]) -> (f64[M, N]) {
  %c = nest (%i: M, %j: N, %k: K) -> keep[i, j] sum chain fused {
    %x = get %a[%i, %k] : f64
    %y = get %b[%k, %j] : f64
    %p = mul %x, %y : f64
    yield %p
  } : f64[M, N]
  yield %c
}
fn total [M, N] (%c: f64[M, N]) -> (f64) {
  %s = nest (%i: M, %j: N) -> keep[] sum lanes(32, j) {
    %x = get %c[%i, %j] : f64
    yield %x
  } : f64
  yield %s
}
fn main () -> (i64) {
  %a = nest (%i: 3, %k: 4) -> collect[i, k] {
    %s = add %i, %k : i64
    %f = convert saturate %s : f64
    yield %f
  } : f64[3, 4]
  %b = nest (%k2: 4, %j: 5) -> collect[k2, j] {
    %s2 = mul %k2, %j : i64
    %f2 = convert saturate %s2 : f64
    yield %f2
  } : f64[4, 5]
  %c = call @matmul %a, %b dims [3, 4, 5] : f64[3, 5]
  %t = call @total %c dims [3, 5] : f64
  %r = convert saturate %t : i64
  yield %r
}
)")
                .result,
            600);
}

TEST(Updates, OneElementAStepCopiesNothing) {
  Outcome outcome = fine(std::string(writeEach) + R"(
fn main () -> (i64) {
  %n = const 1000 : i64
  %x = zero : i64[1000]
  %y = call @fill %x, %n dims [1000] : i64[1000]
  %last = const 999 : i64
  %r = get %y[%last] : i64
  yield %r
}
)");
  EXPECT_EQ(outcome.result, 999);
  EXPECT_EQ(outcome.stats.allocations, 1);
}

TEST(Updates, AnArrayThatIsStillNeededIsCopiedOnce) {
  Outcome outcome = fine(std::string(writeEach) + R"(
fn main () -> (i64) {
  %n = const 1000 : i64
  %x = zero : i64[1000]
  %y = call @fill %x, %n dims [1000] : i64[1000]
  %last = const 999 : i64
  %r = get %y[%last] : i64
  %old = get %x[%last] : i64
  %both = sub %r, %old : i64
  yield %both
}
)");
  EXPECT_EQ(outcome.result, 999);
  EXPECT_EQ(outcome.stats.allocations, 2);
}

TEST(Updates, AFieldOfAStructIsUpdatedInPlace) {
  // The array is taken out, changed and put back: nothing is copied, because the old field is used no more.
  Outcome outcome = fine(R"(
struct State { count: i64, values: f64[100] }
fn main () -> (i64) {
  %zero = const 0 : i64
  %n = const 100 : i64
  %v = zero : f64[100]
  %s = make %zero, %v : State
  %r = for collects 0 %n, %s { (%i: i64, %t: State)
    %a = get %t.1 : f64[100]
    %f = convert saturate %i : f64
    %b = add_at %a[%i] += %f : f64[100]
    %t1 = set %t.1 = %b : State
    %c = get %t1.0 : i64
    %d = add %c, %i : i64
    %t2 = set %t1.0 = %d : State
    %t3 = add_at %t2.1[%zero] += %f : State
    yield %t3
  } : State
  %c2 = get %r.0 : i64
  %x = get %r.1[%zero] : f64
  %y = convert saturate %x : i64
  %z = add %c2, %y : i64
  yield %z
}
)");
  EXPECT_EQ(outcome.result, 4950 * 2);
  EXPECT_EQ(outcome.stats.allocations, 1);
}

TEST(Arrays, InnerNestsWriteWhereTheyGo) {
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %x = nest (%i: 8) -> collect[i] {
    %row = nest (%j: 9) -> collect[j] {
      %p = mul %i, %j : i64
      yield %p
    } : i64[9]
    yield %row
  } : i64[8, 9]
  %s = nest (%i2: 8) -> keep[] sum {
    %row2 = get %x[%i2] : i64[9]
    %t = nest (%j2: 9) -> keep[] sum {
      %v = get %row2[%j2] : i64
      yield %v
    } : i64
    yield %t
  } : i64
  yield %s
}
)");
  EXPECT_EQ(outcome.result, 28 * 36);
  EXPECT_EQ(outcome.stats.allocations, 1);
}

TEST(Arrays, ANestOfNoAxesIsOnePoint) {
  EXPECT_EQ(fine(R"(
fn main () -> (i64) {
  %two = const 2 : i64
  %half = const 0.5 : f64
  %x = nest (%i: 3) -> collect[i] {
    yield %i
  } : i64[3]
  %a, %r, %s, %m, %f, %x1 = nest () -> collect[], collect[], keep[] sum, keep[] max, keep[] sum chain accs (%h = %x) {
    %row = nest (%j: 3) -> collect[j] {
      %p = mul %j, %two : i64
      yield %p
    } : i64[3]
    %h1 = add_at %h[%two] += %two : acc i64[3]
    yield %two, %row, %two, %two, %half, %h1
  } : i64, i64[3], i64, i64, f64, i64[3]
  %b = get %r[%two] : i64
  %c = get %x1[%two] : i64
  %one = const 1 : i64
  %d = convert saturate %f : i64
  %t1 = add %a, %b : i64
  %t2 = add %t1, %c : i64
  %t3 = add %t2, %s : i64
  %t4 = add %t3, %m : i64
  %t5 = add %t4, %d : i64
  yield %t5
}
)")
                .result,
            2 + 4 + 4 + 2 + 2 + 0);
}

TEST(Arrays, ReducesAlongEveryAxis) {
  int64_t rows = 0, cols = 0, best = -1, at = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j) {
      int v = (3 * i) ^ j;
      rows += v;
      if (v > best) best = v, at = i * 10 + j;
    }
  for (int j = 0; j < 5; ++j) {
    int most = 0;
    for (int i = 0; i < 4; ++i) most = std::max(most, (3 * i) ^ j);
    cols += most;
  }
  int64_t expected = (rows * 1000 + cols) * 1000 + at;
  EXPECT_EQ(fine(R"(
fn main () -> (i64) {
  %x = nest (%i: 4, %j: 5) -> collect[i, j] {
    %c = const 3 : i64
    %p = mul %i, %c : i64
    %q = xor %p, %j : i64
    yield %q
  } : i64[4, 5]
  %rows, %cols, %all, %ai, %aj = nest (%i2: 4, %j2: 5) -> keep[i2] sum, keep[j2] max, keep[] min, keep[] argmax {
    %v = get %x[%i2, %j2] : i64
    yield %v, %v, %v, %v
  } : i64[4], i64[5], i64, i64, i64
  %r = nest (%i3: 4) -> keep[] sum {
    %v2 = get %rows[%i3] : i64
    yield %v2
  } : i64
  %c2 = nest (%i4: 5) -> keep[] sum {
    %v3 = get %cols[%i4] : i64
    yield %v3
  } : i64
  %k = const 1000 : i64
  %r1 = mul %r, %k : i64
  %r2 = add %r1, %c2 : i64
  %r3 = mul %r2, %k : i64
  %ten = const 10 : i64
  %r4 = mul %ai, %ten : i64
  %r5 = add %r4, %aj : i64
  %r6 = add %r3, %r5 : i64
  %r7 = add %r6, %all : i64
  yield %r7
}
)")
                .result,
            expected);
}

TEST(Arrays, FiltersAndAccumulates) {
  EXPECT_EQ(fine(R"(
fn main () -> (i64) {
  %two = const 2 : i64
  %zero = const 0 : i64
  %x = nest (%i: 10) -> filter defines [D] {
    %r = irem %i, %two : i64
    %c = cmp eq %r, %zero : bool
    yield %c, %i
  } : i64[D]
  %h = zero : i64[3]
  %three = const 3 : i64
  %g = nest (%i2: D) -> accs (%a = %h) {
    %v = get %x[%i2] : i64
    %k = irem %v, %three : i64
    %b = add_at %a[%k] += %v : acc i64[3]
    yield %b
  } : i64[3]
  %n = dim_value dims [D] : i64
  %p = get %g[%zero] : i64
  %one = const 1 : i64
  %q = get %g[%one] : i64
  %r2 = get %g[%two] : i64
  %k2 = const 100 : i64
  %p1 = mul %p, %k2 : i64
  %p2 = add %p1, %q : i64
  %p3 = mul %p2, %k2 : i64
  %p4 = add %p3, %r2 : i64
  %p5 = mul %p4, %k2 : i64
  %p6 = add %p5, %n : i64
  yield %p6
}
)")
                .result,
            6041005);
}

} // namespace
} // namespace melix::jit
