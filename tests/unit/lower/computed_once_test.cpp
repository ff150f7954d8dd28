// What a builder's body needs some of its indices for only: how often it runs, in which order, and that it
// does not run where nothing needs it (rule 13). `slow` says each time it runs.
#include "lowered.h"

namespace melix::lower {

namespace {

/// The numbers that the program debugs, in order.
std::vector<int64_t> debugged(const std::string& code) {
  Lowered program("fn slow(i: int) -> int {\n  debug(i)\n  i\n}\n"
                  "fn opt(i: int) -> Option[int] = if i > 0 { Some(i) } else { None }\n"
                  "fn ragged(i: int) -> int[_] {\n  debug(i)\n  [for k in 0..i: k * i]\n}\n" +
                  code);
  std::vector<int64_t> out;
  if (::testing::Test::HasFailure()) return out;
  interp::Hooks hooks;
  hooks.debug = [&](const types::TypeStore&, types::TypeId, const interp::Value& v) {
    out.push_back(v.slot().i);
  };
  interp::Program run(program.session.module(), std::move(hooks));
  interp::RunResult result = run.run(program.session.module().entry, {});
  EXPECT_FALSE(result.panicked) << result.panic.message << "\n" << program.text();
  return out;
}

using Numbers = std::vector<int64_t>;

} // namespace

TEST(ComputedOnce, ForEachValueOfTheIndicesItNeeds) {
  EXPECT_EQ(debugged("let a = [for i in 0..2, j in 0..3: slow(i) + j]\n"
                     "assert a[1, 2] == 3 and a[0, 1] == 1\n"),
            Numbers({0, 1}));
  EXPECT_EQ(debugged("let a = [for i in 0..2, j in 0..3: slow(j) + i]\n"
                     "assert a[1, 2] == 3 and a[0, 1] == 1\n"),
            Numbers({0, 1, 2}));
  EXPECT_EQ(debugged("let a = [for i in 0..2, j in 0..2, k in 0..2: 0]\n"
                     "let b = [for i, j, k: a[i, j, k] + slow(10 * i + k) + j]\n"
                     "assert b[1, 1, 0] == 11\n"),
            Numbers({0, 1, 10, 11}));
  EXPECT_EQ(debugged("assert sum(for i in 0..3, j in 0..3: slow(7) * i * j) == 63\n"), Numbers({7}));
  EXPECT_EQ(debugged("let a = [for i in 0..3: debug(5) + i]\nassert a[2] == 7\n"), Numbers({5}));
}

TEST(ComputedOnce, OnlyWhereSomePointNeedsIt) {
  EXPECT_EQ(debugged("let a = [for i in 0..3: if i > 0 { slow(7) } else { i }]\nassert sum(a) == 14\n"),
            Numbers({7}));
  EXPECT_EQ(debugged("let a = [for i in 0..3: if i > 5 { slow(7) } else { i }]\nassert sum(a) == 3\n"),
            Numbers());
  EXPECT_EQ(debugged("let a = [for i in 0..3, j in 0..2: if i > 0 and j > 0 { slow(i + 10) } else { slow(j + "
                     "20) }]\nassert a[2, 1] == 12 and a[2, 0] == 20 and a[0, 1] == 21\n"),
            Numbers({11, 12, 20, 21}));
  EXPECT_EQ(debugged("let a = [for i in 0..3 if i > 5: slow(7) + i]\nassert len(a) == 0\n"), Numbers());
  EXPECT_EQ(debugged("assert sum(for i in 0..3 if i > 0: slow(7) + i) == 17\n"), Numbers({7}));
  EXPECT_EQ(debugged("fn f(n: int) -> int = sum(for i in 0..n, j in 0..3: slow(j) + i)\n"
                     "assert f(0) == 0\n"),
            Numbers());
  EXPECT_EQ(debugged("assert any(for i in 0..3: i > 1 and slow(7) > 0)\n"
                     "assert not any(for i in 0..3: i > 5 and slow(8) > 0)\n"
                     "assert all(for i in 0..3: i > 1 or slow(9) > 0)\n"),
            Numbers({7, 9}));
}

TEST(ComputedOnce, ConditionsThatAreSeenRunOnceForEachPoint) {
  EXPECT_EQ(debugged("let a = [for i in 0..3: if slow(i) > 0 { slow(7) } else { i }]\nassert sum(a) == 14\n"),
            Numbers({0, 1, 2, 7}));
}

TEST(ComputedOnce, ThroughNamesOfTheBody) {
  EXPECT_EQ(
      debugged("let a = [for i in 0..2, j in 0..3: {\n  let k = slow(i)\n  let m = k * 2\n  slow(m + 100) "
               "+ j\n}]\nassert a[1, 2] == 104 and a[0, 0] == 100\n"),
      Numbers({0, 1, 100, 102}));
  EXPECT_EQ(debugged("let a = [for x in [1, 2], y in [10, 20]: slow(x) + slow(y)]\nassert a[1, 1] == 22\n"),
            Numbers({1, 2, 10, 20}));
  EXPECT_EQ(debugged("let a = [for i in 0..3, j in 0..2: match opt(i) {\n  Some(v) => slow(v) + j\n  None => "
                     "j\n}]\nassert a[2, 1] == 3 and a[0, 1] == 1\n"),
            Numbers({1, 2}));
  EXPECT_EQ(debugged("let a = [for i in 0..3, j in 0..2: match opt(j) {\n  Some(_) if i > 1 => slow(i)\n  "
                     "Some(v) => slow(v + 50)\n  None => j\n}]\nassert a[2, 1] == 2 and a[0, 1] == 51\n"),
            Numbers({2, 51}));
}

TEST(ComputedOnce, AcrossSweepsInside) {
  EXPECT_EQ(debugged("let a = [for i in 0..2, j in 0..2: sum(for k in 0..3: slow(k * 10 + i) + j)]\n"
                     "assert a[1, 1] == 36\n"),
            Numbers({0, 10, 20, 1, 11, 21}));
  EXPECT_EQ(debugged("let a = [for i in 0..2: sum(for k in 0..3: slow(k) * i)]\nassert a[1] == 3\n"),
            Numbers({0, 1, 2}));
  EXPECT_EQ(debugged("let a = [for i in 0..2: sum(for k in 0..3 if k > 0: slow(k) * i)]\nassert a[1] == 3\n"),
            Numbers({1, 2}));
}

TEST(ComputedOnce, ConditionsAroundASweepInsideDoNotWaitForIt) {
  EXPECT_EQ(debugged("fn f(n: int) -> int[2] = [for i in 0..2: {\n  let k = slow(i + 1)\n  k + sum(for q in "
                     "0..n: if k > "
                     "1 { slow(q + 100) } else { 0 })\n}]\n"
                     "assert f(0)[0] == 1 and f(0)[1] == 2\nassert f(1)[0] == 1 and f(1)[1] == 102\n"),
            Numbers({1, 2, 1, 2, 1, 2, 100, 1, 2, 100}));
}

TEST(ComputedOnce, SizesOfItsOwn) {
  EXPECT_EQ(debugged("let a = [for i in 0..3, j in 0..2: sum(ragged(i)) + len(ragged(i)) + j]\n"
                     "assert a[2, 1] == 5\n"),
            Numbers({0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(debugged("let a = [for i in 0..3, j in 0..2: {\n  let r = ragged(i)\n  sum(for q: r[q] * j)\n}]\n"
                     "assert a[2, 1] == 2\n"),
            Numbers({0, 1, 2}));
}

/// Of a sum whose range depends on some axes, what the others have in common.
TEST(ComputedOnce, InRangesThatDependOnTheFirstAxes) {
  EXPECT_EQ(debugged("let a = [for i in 0..3, j in 0..2: sum(for k in 0..i + 1: slow(10 * i + k) * j)]\n"
                     "assert a[2, 1] == 63 and a[1, 0] == 0\n"),
            Numbers({0, 10, 11, 20, 21, 22}));
  EXPECT_EQ(debugged("let a = [for i in 0..2, j in 0..2, l in 0..2: sum(for k in j..2: slow(100 * i + 10 * j "
                     "+ k) * l)]\n"
                     "assert a[1, 0, 1] == 201\n"),
            Numbers({0, 1, 11, 100, 101, 111}));
  EXPECT_EQ(debugged("let a = sum(for i in 0..3, j in 0..2: sum(for k in 0..i: slow(10 * i + k) * j))\n"
                     "assert a == 51\n"),
            Numbers({10, 20, 21}));
  EXPECT_EQ(debugged("let a = [for i in 0..3, j in 0..0: sum(for k in 0..i + 1: slow(k) * j)]\n"),
            Numbers({}));
}

/// What does not need the indices of such a sum itself: if some point of it is reached.
TEST(ComputedOnce, InRangesThatDependWhatNeedsNoneOfThem) {
  const auto counts = [](const std::string& term) {
    return debugged("let n = 3\nlet a = [for i in 0..n, j in 0..n: " + term + "]\nassert a[0, 0] == 0\n");
  };
  EXPECT_EQ(counts("sum(for k in 0..j: slow(i))"), Numbers({0, 1, 2}));
  EXPECT_EQ(counts("sum(for k in 0..i: slow(j))"), Numbers({0, 1, 2}));
  EXPECT_EQ(counts("i * sum(for k in 0..i: slow(7))"), Numbers({7}));
  EXPECT_EQ(counts("i * sum(for k in 0..max(i - 5, 0): slow(7))"), Numbers());
  EXPECT_EQ(counts("sum(for k in 0..n, l in 0..k: slow(i))"), Numbers({0, 1, 2}));
  EXPECT_EQ(counts("sum(for k in 0..n: sum(for l in 0..k if l + i > 2: slow(i)))"), Numbers({2}));
  EXPECT_EQ(counts("i * sum(for k in 0..i, l in 0..n: slow(l))"), Numbers({0, 1, 2}));
  EXPECT_EQ(counts("if i > 1 { sum(for k in 0..j: slow(i)) } else { 0 }"), Numbers({2}));
}

TEST(ComputedOnce, InLoopsAndBehindExits) {
  EXPECT_EQ(
      debugged("let a = [for i in 0..3, j in 0..2: {\n  var s = 0\n  for k in 0..i { s += slow(33) * k }\n"
               "  s + j\n}]\nassert a[2, 1] == 34\n"),
      Numbers({33}));
  EXPECT_EQ(
      debugged("let a = [for i in 0..3, j in 0..2: {\n  var s = i\n  s += j\n  if s > 2 { slow(44) } else "
               "{ s }\n}]\nassert a[2, 1] == 44 and a[1, 1] == 2\n"),
      Numbers({44}));
  std::string code =
      "fn f(n: int) -> Option[int] {\n  let a = [for i in 0..3, j in 0..2: {\n    let v = opt(i + "
      "n)?\n    slow(v) + j\n  }]\n  Some(sum(a))\n}\n";
  EXPECT_EQ(debugged(code + "assert f(1) == Some(15)\n"), Numbers({1, 2, 3}));
  EXPECT_EQ(debugged(code + "assert f(-5) == None\n"), Numbers());
}

TEST(ComputedOnce, WhatTheBodyAssertsBeforeIsAssertedBefore) {
  expectPanics(
      "fn root(n: int) -> int {\n  assert n > 0, \"no root\"\n  n\n}\n"
      "fn f(n: int) -> int[3] = [for i in 0..3: {\n  assert n > 0, \"f wants more\"\n  root(n) + i\n}]\n"
      "assert f(0)[0] == 0\n",
      "f wants more");
}

/// Each condition is found not to be movable once, not once for each that stands inside of it.
TEST(ComputedOnce, DeepConditionsAreLoweredInTime) {
  std::string inner = "slow(i)";
  for (int depth = 0; depth < 24; ++depth)
    inner = "if sum(for p in 0..2: v * sum(for q in 0..2: i * q + p)) > -1 { " + inner + " } else { 0 }";
  EXPECT_EQ(debugged("let a = [for i in 1..3, j in 0..2: {\n  var v = i\n  v += j\n  " + inner +
                     "\n}]\nassert a[1, 1] == 2\n"),
            Numbers({1, 1, 2, 2}));
}

} // namespace melix::lower
