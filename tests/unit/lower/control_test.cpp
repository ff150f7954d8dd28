// Loops, exits and branches mean what they say.
#include "lowered.h"

namespace melix::lower {

TEST(LowerControl, ALoopThatRunsToItsEndIsAFor) {
  const char* code = R"(
fn total(n: int) -> int {
  var s = 0
  for i in 0..n {
    if i % 2 == 0 { continue }
    var k = i
    while true {
      k -= 2
      if k < 0 { break }
    }
    s += i + k
  }
  s
}
assert total(6) == 1 + 3 + 5 - 3
assert total(0) == 0
)";
  expectRuns(code);
  EXPECT_EQ(Lowered(code).count(" for ", "total"), 1u);
}

TEST(LowerControl, ReturnLeavesEveryLoop) {
  expectRuns(R"(
fn find(x: int[N, M], v: int) -> (int, int) {
  for i in 0..N {
    for j in 0..M {
      if x[i, j] == v { return (i, j) }
    }
  }
  (-1, -1)
}
let x = [for i in 0..3, j in 0..4: 10 * i + j]
assert find(x, 12) == (1, 2)
assert find(x, 0) == (0, 0)
assert find(x, 23) == (2, 3)
assert find(x, 24) == (-1, -1)
)");
}

TEST(LowerControl, WhatStandsBehindAGuardIsTheOtherArm) {
  const char* code = R"(
fn sign(x: int) -> int {
  if x == 0 { return 0 }
  let y = x
  if y > 0 { return 1 } else if y < -100 { panic("too low") }
  -1
}
assert sign(0) == 0
assert sign(4) == 1
assert sign(-4) == -1
fn grow(inout xs: List[int], by: int) {
  if by < 0 { return }
  xs.push(by)
}
var xs: List[int] = []
grow(&xs, -1)
grow(&xs, 2)
assert xs == list([2])
)";
  expectRuns(code);
  EXPECT_EQ(Lowered(code).count(" if ", "sign"), 3u) << "nothing asks how control left";
  EXPECT_EQ(Lowered(code).count(" if ", "grow"), 1u);
}

TEST(LowerControl, BreakAndContinueConcernTheirLoop) {
  expectRuns(R"(
fn f() -> int {
  var s = 0
  for i in 0..5 {
    for j in 0..5 {
      if j == 3 { break }
      if j == 1 { continue }
      s += 10 * i + j
    }
    if i == 2 { break }
    s += 1
  }
  s
}
assert f() == (0 + 2) + 1 + (10 + 12) + 1 + (20 + 22)
)");
}

TEST(LowerControl, LoopGivesTheValueOfItsBreak) {
  expectRuns(R"(
fn firstPower(limit: int) -> int {
  var p = 1
  let found = loop {
    if p > limit { break p }
    p *= 2
  }
  found + 1
}
assert firstPower(100) == 129
assert firstPower(0) == 2
)");
}

TEST(LowerControl, ConditionsOfWhileMayHaveEffects) {
  expectRuns(R"(
fn take(inout left: int) -> bool {
  left -= 1
  left >= 0
}
fn f() -> (int, int) {
  var left = 4
  var n = 0
  while take(&left) { n += 1 }
  (n, left)
}
assert f() == (4, -1)
)");
}

TEST(LowerControl, RangesOfNarrowTypesMayBeEmpty) {
  expectRuns(R"(
fn f(a: u8, b: u8) -> int {
  var n = 0
  for i in a..b { n += 1 + i as int * 0 }
  n
}
assert f(5, 3) == 0
assert f(3, 5) == 2
fn steps() -> int {
  var s = 0
  for i in 1..10 step 3 { s = 100 * s + i }
  s
}
assert steps() == 10407
)");
}

TEST(LowerControl, EarlyReturnCarriesSizesDecidedInside) {
  expectRuns(R"(
fn firstOf(x: f32[N], n: int) -> f32[?M] {
  for k in 0..N {
    if k == n { return [for i in 0..k: x[i]] }
  }
  panic("not so many")
}
let x = [1.0, -2.0, 3.0]
let a = firstOf(x, 2)
assert len(a) == 2
assert sum(a) == -1.0
let none = firstOf(x, 0)
assert len(none) == 0
)");
}

TEST(LowerControl, QuestionReturnsFromTheMiddleOfAnExpression) {
  expectRuns(R"(
fn half(x: int) -> Option[int] = if x % 2 == 0 { Some(x / 2) } else { None }
fn quarter(x: int) -> Option[int] { Some(half(half(x)?)? + half(4)?) }
assert match quarter(12) { Some(v) => v, None => -1 } == 5
assert match quarter(6) { Some(v) => v, None => -1 } == -1
fn total(xs: int[N]) -> Option[int] {
  var s = 0
  for x in xs { s += half(x)? }
  Some(s)
}
assert match total([2, 4]) { Some(v) => v, None => -1 } == 3
assert match total([2, 3]) { Some(v) => v, None => -1 } == -1
)");
}

TEST(LowerControl, NamesBoundAfterAQuestionReachTheRest) {
  expectRuns(R"(
fn half(x: int) -> Option[int] = if x % 2 == 0 { Some(x / 2) } else { None }
fn f(x: int) -> Option[int] {
  let a = half(x)?
  let b = half(a)?
  var c = a + b
  c += half(c)?
  Some(c)
}
assert match f(8) { Some(v) => v, None => -1 } == 9
assert match f(6) { Some(v) => v, None => -1 } == -1
)");
}

TEST(LowerControl, WhatPanicsInTheMiddleDoesNotComeBack) {
  expectPanics(R"(
fn f(x: int) -> int = if x > 0 { x } else { panic("not positive") }
assert f(2) == 2
assert f(0) == 0
)",
               "not positive");
}

TEST(LowerControl, AFunctionMayHaveNothingButAPanic) {
  expectPanics("fn refuse(x: int) { panic(\"refused\") }\nrefuse(3)\n", "refused");
}

} // namespace melix::lower
