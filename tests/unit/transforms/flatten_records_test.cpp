// Records by their leaves: carried, chosen, returned, passed, summed.
#include "transforms/flatten_text.h"

#include <set>

namespace melix::transforms {
namespace {

/// One part stays, one is updated where it is, one is replaced.
TEST(FlattenRecords, ALoopCarriesParts) {
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
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("(%i: i64, %a_1_0: f32[3], %a_1_1: f32)"), 1u) << m.text();
  EXPECT_EQ(m.count("set %a_1_0[%i]"), 1u) << m.text();
}

TEST(FlattenRecords, AWhileTestsParts) {
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
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("get"), 1u) << m.text();
}

/// An arm that says nothing of the record says nothing of its parts.
TEST(FlattenRecords, BranchesYieldParts) {
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
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("(f32[3], f32)"), 0u) << m.text();
}

TEST(FlattenRecords, TheWholeIsPutTogetherWhereItIsAskedFor) {
  PassText m(R"(fn g (%s: (f32[3], i64)) -> (i64) {
  %k = get %s.1 : i64
  yield %k
}

fn f (%x: f32[3], %n: i64) -> ((f32[3], i64)) keep {
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
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("make"), 1u) << m.text();
  EXPECT_EQ(m.count("(%i: i64, %a_1: i64)"), 1u) << m.text();
  EXPECT_EQ(m.count("fn g () -> ()"), 1u) << "callers have what it gives\n" << m.text();
}

TEST(FlattenRecords, PartsAreResultsOfTheirOwn) {
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

fn f (%x: f32[3], %k: i64) -> (f32, f32[3], i64) keep {
  %q = call @pair %x, %k dims [3] : (f32, (f32[3], i64))
  %a = get %q.0 : f32
  %p = get %q.1 : (f32[3], i64)
  %y = get %p.0 : f32[3]
  %l = get %p.1 : i64
  yield %a, %y, %l
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("-> (f32, f32[N], i64) {"), 1u) << m.text();
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("get %q"), 0u) << m.text();
}

/// What the caller has does not come back; what an `inout` parameter becomes does, as it is.
TEST(FlattenRecords, ArgumentsStayWhereTheyAre) {
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
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("fn update [N] (%x: f32[N], %k: i64) -> (f32, f32) {"), 1u) << m.text();
  EXPECT_EQ(m.count("yield %x, %q_1, %0, %k"), 1u) << m.text();
}

TEST(FlattenRecords, RecordsThatAreNotMadeAreTakenApart) {
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
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("-> (f32) {"), 1u) << m.text();
}

/// A result that is a parameter in all ways through a recursion, one that only looks so, and a parameter that
/// nobody reads.
TEST(FlattenRecords, WhatARecursionHandsThroughGoes) {
  PassText m(R"(fn walk [N] (%s: (f32[N], f32[N], f32), %k: i64) -> ((f32[N], f32[N], f32)) {
  %zero = const 0 : i64
  %c = cmp gt %k, %zero : bool
  %p = if %c {
    %one = const 1 : i64
    %less = sub %k, %one : i64
    %x = get %s.0 : f32[N]
    %a = get %x[%less] : f32
    %t = make %x, %x, %a : (f32[N], f32[N], f32)
    %q = call @walk %t, %less dims [N] : (f32[N], f32[N], f32)
    yield %q
  } {
    yield %s
  } : (f32[N], f32[N], f32)
  yield %p
}

fn f (%x: f32[3], %k: i64) -> (f32[3], f32[3], f32) keep {
  %zero = zero : f32[3]
  %a = const 4.0 : f32
  %s = make %x, %zero, %a : (f32[3], f32[3], f32)
  %r = call @walk %s, %k dims [3] : (f32[3], f32[3], f32)
  %u = get %r.0 : f32[3]
  %v = get %r.1 : f32[3]
  %b = get %r.2 : f32
  yield %u, %v, %b
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("fn walk [N] (%s_0: f32[N], %s_1: f32[N], %s_2: f32, %k: i64) -> (f32[N], f32) {"), 1u)
      << m.text();
  EXPECT_EQ(m.count("yield %x, %r_1, %r_2"), 1u) << m.text();
}

/// What only the recursion itself reads, and what only goes there, is not passed.
TEST(FlattenRecords, WhatOnlyARecursionUsesGoes) {
  PassText m(R"(fn even [N] (%s: (f32[N], f32), %k: i64) -> ((f32[N], f32), i64) {
  %zero = const 0 : i64
  %c = cmp gt %k, %zero : bool
  %p, %n = if %c {
    %one = const 1 : i64
    %less = sub %k, %one : i64
    %q, %l = call @odd %s, %less dims [N] : (f32[N], f32), i64
    %m = add %l, %one : i64
    yield %q, %m
  } {
    yield %s, %zero
  } : (f32[N], f32), i64
  yield %p, %n
}

fn odd [N] (%s: (f32[N], f32), %k: i64) -> ((f32[N], f32), i64) {
  %zero = const 0 : i64
  %a = get %s.1 : f32
  %b = add %a, %a : f32
  %t = set %s.1 = %b : (f32[N], f32)
  %u = set %t.0[%zero] = %b : (f32[N], f32)
  %q, %l = call @even %u, %k dims [N] : (f32[N], f32), i64
  yield %q, %l
}

fn f (%x: f32[3], %k: i64) -> (i64) keep {
  %a = const 4.0 : f32
  %s = make %x, %a : (f32[3], f32)
  %r, %n = call @even %s, %k dims [3] : (f32[3], f32), i64
  yield %n
}
)");
  m.apply(flattenRecords, flattenArguments());
  EXPECT_EQ(m.count("fn even [N] (%k: i64) -> (i64) {"), 1u) << m.text();
  EXPECT_EQ(m.count("fn odd [N] (%k: i64) -> (i64) {"), 1u) << m.text();
  EXPECT_EQ(m.count("set"), 0u) << m.text();
}

/// An effect needs what it is made of, however deep in calls.
TEST(FlattenRecords, WhatAnEffectNeedsIsPassed) {
  PassText m(R"(fn test (%s: (f32, i64), %k: i64) -> (f32, (f32, i64)) {
  %n = get %s.1 : i64
  %zero = const 0 : i64
  %c = cmp gt %n, %zero : bool
  check assert "%n" %c
  %less = sub %k, %n : i64
  %d = cmp gt %less, %zero : bool
  %a, %t = if %d {
    %b, %q = call @test %s, %less : f32, (f32, i64)
    yield %b, %q
  } {
    %e = get %s.0 : f32
    yield %e, %s
  } : f32, (f32, i64)
  yield %a, %t
}

fn f (%x: f32[3], %k: i64) -> (i64) keep {
  %a = const 4.0 : f32
  %s = make %a, %k : (f32, i64)
  %r, %t = call @test %s, %k : f32, (f32, i64)
  yield %k
}
)");
  m.apply(flattenRecords, flattenArguments());
  EXPECT_EQ(m.count("fn test (%s_1: i64, %k: i64) -> () {"), 1u) << m.text();
}

/// The function may update it where it is: its new value is given back, read or not.
TEST(FlattenRecords, ANeededInoutParameterKeepsItsResult) {
  PassText m(R"(fn update [N] (%s: (f32[N], f32), %k: i64) -> (f32, (f32[N], f32)) inout 0=1 {
  %a = get %s.1 : f32
  %t = set %s.0[%k] = %a : (f32[N], f32)
  %i = call @place %k : i64
  %b = get %t.0[%i] : f32
  yield %b, %t
}

fn place (%k: i64) -> (i64) {
  %one = const 1 : i64
  %less = sub %k, %one : i64
  yield %less
}

fn f (%x: f32[3], %k: i64) -> (f32) keep {
  %a = const 4.0 : f32
  %s = make %x, %a : (f32[3], f32)
  %r, %t = call @update %s, %k dims [3] : f32, (f32[3], f32)
  yield %r
}
)");
  m.apply(flattenRecords, flattenArguments());
  EXPECT_EQ(m.count("(%s_0: f32[N], %s_1: f32, %k: i64) -> (f32, f32[N]) inout 0=1 {"), 1u) << m.text();
}

/// An accumulator that a function hands through is used once still.
TEST(FlattenRecords, AnAccumulatorThatIsHandedThroughStaysLinear) {
  PassText m(R"(fn pass (%a: acc (f32, f32), %v: f32) -> (acc (f32, f32)) {
  %b = add_at %a.1 += %v : acc (f32, f32)
  yield %b
}

fn f (%x: f32[3], %n: i64) -> (f32, f32) keep {
  %z = zero : (f32, f32)
  %r = nest (%i: 3) -> accs (%a = %z) {
    %v = get %x[%i] : f32
    %b = call @pass %a, %v : acc (f32, f32)
    yield %b
  } : (f32, f32)
  %l = get %r.0 : f32
  %w = get %r.1 : f32
  yield %l, %w
}
)");
  m.apply(flattenRecords, flattenArguments());
  EXPECT_EQ(m.count("fn pass (%a_1: acc f32, %v: f32) -> (acc f32) {"), 1u) << m.text();
}

/// Others call it as it is.
TEST(FlattenRecords, AFunctionCalledFromOutsideKeepsItsResults) {
  PassText m(R"(fn f (%x: f32[3], %k: i64) -> ((f32[3], i64)) keep {
  %p = make %x, %k : (f32[3], i64)
  yield %p
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("-> ((f32[3], i64)) keep {"), 1u) << m.text();
}

/// One op has one rule; none is forgotten when an op is added.
TEST(FlattenRecords, EveryOpHasARule) {
  std::set<ops::OpKind> ruled;
#define RULE(Kind, Rule) EXPECT_TRUE(ruled.insert(ops::OpKind::Kind).second) << #Kind;
#include "transforms/canonical/flatten_rules.def"
#undef RULE
#define OP(Kind, ...) EXPECT_TRUE(ruled.contains(ops::OpKind::Kind)) << #Kind;
#include "ops/ops.def"
}

TEST(FlattenRecords, ParametersAreLeavesAndMemoryHoldsWholeRecords) {
  PassText m(R"(fn sum (%s: (f32, (f32[3], i64)), %xs: List[(f32, i64)], %n: i64) -> (f32, List[(f32, i64)]) {
  %zero = const 0 : i64
  %c = cmp gt %n, %zero : bool
  %r, %ys = if %c {
    %one = const 1 : i64
    %m = sub %n, %one : i64
    %a = get %s.1.0[%m] : f32
    %p = make %a, %m : (f32, i64)
    %zs = push %xs, %p : List[(f32, i64)]
    %t = set %s.0 = %a : (f32, (f32[3], i64))
    %q, %us = call @sum %t, %zs, %m : f32, List[(f32, i64)]
    yield %q, %us
  } {
    %b = get %s.0 : f32
    yield %b, %xs
  } : f32, List[(f32, i64)]
  yield %r, %ys
}

fn f (%x: f32[3], %n: i64) -> (f32, f32, i64) keep {
  %zero = const 0.0 : f32
  %i = make %x, %n : (f32[3], i64)
  %s = make %zero, %i : (f32, (f32[3], i64))
  %xs = list : List[(f32, i64)]
  %r, %ys = call @sum %s, %xs, %n : f32, List[(f32, i64)]
  %p, %zs = pop %ys : (f32, i64), List[(f32, i64)]
  %a = get %p.0 : f32
  %k = get %p.1 : i64
  yield %r, %a, %k
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(core::verifyRecords(m.module), std::vector<std::string>{}) << m.text();
  EXPECT_EQ(m.count("fn sum (%s_0: f32, %s_1_0: f32[3], %xs: List[(f32, i64)], %n: i64)"), 1u) << m.text();
}

TEST(FlattenRecords, SumsCombinationsAndAccumulatorsAreByLeaf) {
  PassText m(R"(fn f (%x: f32[3], %n: i64) -> (f32, f32, i64, f32, f32) keep {
  %z = zero : (f32, f32)
  %zero = const 0.0 : f32
  %u = make %zero, %n : (f32, i64)
  %s, %m, %r = nest (%i: 3) -> keep[] sum, keep[] combine 1 region 1 accs (%a = %z) units (%u) {
    %v = get %x[%i] : f32
    %p = make %v, %zero : (f32, f32)
    %q = make %v, %i : (f32, i64)
    %b = add_at %a.1 += %v : acc (f32, f32)
    yield %p, %q, %b
  } { (%c: (f32, i64), %d: (f32, i64))
    %e = get %c.0 : f32
    %g = get %d.0 : f32
    %h = cmp gt %e, %g : bool
    %o = if %h {
      yield %c
    } {
      yield %d
    } : (f32, i64)
    yield %o
  } : (f32, f32), (f32, i64), (f32, f32)
  %t = get %s.0 : f32
  %j = get %m.0 : f32
  %k = get %m.1 : i64
  %l = get %r.0 : f32
  %w = get %r.1 : f32
  yield %t, %j, %k, %l, %w
}
)");
  m.apply(flattenRecords, flattenArguments());
  EXPECT_EQ(core::verifyRecords(m.module), std::vector<std::string>{}) << m.text();
  EXPECT_EQ(m.count("combine 2"), 1u) << m.text();
}

/// Elements of arrays are whole: what combines them is given elements.
TEST(FlattenRecords, CombinedElementsOfArraysAreWhole) {
  PassText m(R"(fn f (%x: f32[3], %n: i64) -> ({(f32, i64)}[3]) keep {
  %zero = const 0.0 : f32
  %u = make %zero, %n : (f32, i64)
  %m = nest (%i: 3, %j: 2) -> keep[i] combine 1 region 1 units (%u) {
    %v = get %x[%i] : f32
    %q = make %v, %j : (f32, i64)
    yield %q
  } { (%c: (f32, i64), %d: (f32, i64))
    %e = get %c.0 : f32
    %g = set %d.0 = %e : (f32, i64)
    yield %g
  } : {(f32, i64)}[3]
  yield %m
}
)");
  m.apply(flattenRecords, flattenArguments());
  EXPECT_EQ(core::verifyRecords(m.module), std::vector<std::string>{}) << m.text();
}

} // namespace
} // namespace melix::transforms
