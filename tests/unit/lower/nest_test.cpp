// Builders and reductions: emptiness, filters, what is computed ahead, checks that are proved.
#include "lowered.h"
#include "transforms/simplify/simplify.h"

namespace melix::lower {

TEST(LowerNest, WhatPanicsAheadOfABuilderRunsOnlyIfThereIsAnElement) {
  const char* code = R"(
fn bad(n: int) -> int[3] {
  assert n > 0, "bad"
  [n, n, n]
}
fn f(n: int, m: int) -> int[n] = [for i in 0..n: bad(m)[i % 3]]
assert len(f(0, 0)) == 0
assert sum(f(4, 2)) == 8
)";
  expectRuns(code);
  expectPanics(std::string(code) + "assert sum(f(1, 0)) == 1\n", "bad");
}

TEST(LowerNest, FilteredReductionsOfNothing) {
  expectRuns(R"(
let x = [3, -1, 2]
assert sum(for v in x if v > 0: v) == 5
assert sum(for v in x if v > 9: v) == 0
assert max(for v in x if v < 0: v) == -1
assert any(for v in x if v > 2: v == 3)
assert not any(for v in x if v > 5: true)
assert all(for v in x if v > 5: false)
)");
  expectPanics("let x = [3, -1, 2]\nassert max(for v in x if v > 9: v) == 0\n", "max of nothing");
}

TEST(LowerNest, FilteredArgmaxCountsOnlyWhatPasses) {
  expectRuns(R"(
let x: f32[4] = [9, -inf, 5, -inf]
assert argmax(for i in 0..4 if i > 0: x[i]) == 2
assert argmax(for i in 0..4 if i == 1 or i == 3: x[i]) == 1
assert argmax(for i in 0..4 if i == 3: x[i]) == 3
)");
}

TEST(LowerNest, IndicesThatFitAreProved) {
  const char* code = R"(
fn f(x: f32[N]) -> f32 {
  var s: f32 = 0
  for i in 0..N - 1 { s += x[i] * x[i + 1] }
  for i in 1..N { s += x[i] - x[i - 1] }
  for i in 0..N { if x[i] < 0 { break }
    s += x[i] }
  s
}
assert f([1.0, 2.0, 3.0]) == 8.0 + 2.0 + 6.0
)";
  expectRuns(code);
  Lowered program(code);
  EXPECT_GT(program.count("check index", "f"), 0u);
  transforms::simplify(program.session.module());
  EXPECT_EQ(program.count("check index", "f"), 0u) << program.text("f");
}

TEST(LowerNest, ReductionsInsideBuilders) {
  expectRuns(R"(
let x = [for i in 0..3, j in 0..4: (i * j) as f32]
let rows = [for i: sum(for j: x[i, j])]
let best = [for i: argmax(for j: x[i, j])]
let scaled = [for i, j: x[i, j] - max(for k: x[i, k])]
assert sum(rows) == 18.0
assert best[2] == 3
assert sum(scaled) == 18.0 - 4.0 * 9.0
)");
}

TEST(LowerNest, AShapeOfMoreAxesThanAMessageHasNumbersForIsTold) {
  const char* code = R"(
let n = 1 << 40
let k = n + len("")
let x = [for a in 0..k, b in 0..1, c in 0..1, d in 0..1, e in 0..1, f in 0..1, g in 0..1, h in 0..1, i in 0..1,
             j in 0..1, l in 0..k, m in 0..0: a + b + c + d + e + f + g + h + i + j + l + m]
print(len(x))
)";
  expectPanics(code, "an array of shape [1099511627776, 1, 1, 1, 1, 1, 1, 1, 1, 1, k, 0] is too large");
}

} // namespace melix::lower
