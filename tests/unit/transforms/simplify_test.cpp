// Folding, common subexpressions, proved checks, dead values.
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

TEST(Simplify, BranchesOnConstantsAndPartsOfTuplesGo) {
  PassText m(R"(fn f (%a: f32, %b: f32) -> (f32) {
  %0 = const 3 : i64
  %1 = const 4 : i64
  %2 = cmp lt %0, %1 : bool
  %3 = if %2 {
    %4 = make %a, %b : (f32, f32)
    yield %4
  } {
    %5 = make %b, %a : (f32, f32)
    yield %5
  } : (f32, f32)
  %6 = get %3.1 : f32
  yield %6
}
)");
  m.apply(simplify, {Value::f32(1), Value::f32(2)});
  EXPECT_EQ(m.text(), "fn f (%a: f32, %b: f32) -> (f32) {\n  yield %b\n}\n");
}

/// A size that a number is bound to is in the range of the number.
TEST(Simplify, IndicesOfARowThatEndsWithAnotherAreInRange) {
  auto checks = [](const std::string& extent, const std::string& of) {
    PassText m("fn f [T, C] (%x: f32[T, C]) -> (i64[T]) {\n  %r = nest (%t: T) -> collect[t] {\n"
               "    bind_dim %t defines [n]\n    %k = dim_value dims [n] : i64\n"
               "    check dim_non_negative \"\" dims [" +
               extent + "]\n    check points_fit \"\" dims [" + extent + ", C]\n    %u = nest (%s: " +
               extent + ", %c: C) -> keep[] sum {\n      check index \"\" %s dims [" + of +
               "]\n      %p = add %s, %k : i64\n      yield %p\n    } : i64\n    yield %u\n  } : i64[T]\n"
               "  yield %r\n}\n");
    m.apply(simplify);
    EXPECT_EQ(m.count("dim_value"), 0u) << "the number itself: " << m.text();
    return m.count("check");
  };
  EXPECT_EQ(checks("n + 1", "T"), 0u);
  EXPECT_EQ(checks("T - n", "T"), 0u);
  EXPECT_EQ(checks("n", "T - 1"), 0u);
  EXPECT_EQ(checks("n + 2", "T"), 1u) << "one too many";
  EXPECT_EQ(checks("6*n - n*n + T - 8", "T"), 3u) << "it rises and falls";
  EXPECT_EQ(checks("n", "C"), 1u);
}

/// Of a number that nothing is known of, what a check says of the size.
TEST(Simplify, WhatACheckSaysOfASizeIsKnown) {
  PassText m("fn f (%x: i64[9], %z: i64) -> (i64) {\n  %n = get %x[%z] : i64\n  bind_dim %n defines [M]\n"
             "  check dim_non_negative \"\" dims [M]\n  check dim_non_negative \"\" dims [M + 1]\n"
             "  check dim_fits \"\" dims [M]\n  check dim_fits \"\" dims [M]\n"
             "  %d = dim_value dims [M + 1] : i64\n  yield %d\n}\n");
  m.apply(simplify);
  EXPECT_EQ(m.count("check"), 2u) << m.text();
}

TEST(Simplify, ASizeInStepsIsTheProduct) {
  PassText m(R"(fn size [N, M] (%x: f32[N, M]) -> (i64) keep {
  %zero = const 0 : i64
  %n = dim_value dims [N] : i64
  %m = dim_value dims [M] : i64
  %none = cmp eq %n, %zero : bool
  %size = if %none {
    yield %zero
  } {
    check index "" %zero dims [N]
    %nothing = cmp eq %m, %zero : bool
    %row = if %nothing {
      yield %zero
    } {
      yield %m
    } : i64
    %all = mul %n, %row : i64
    yield %all
  } : i64
  bind_dim %size defines [S]
  %r = nest (%i: S) -> keep[] sum {
    check index "" %i dims [N*M]
    yield %i
  } : i64
  yield %r
}
)");
  m.apply(simplify);
  EXPECT_EQ(m.count("if "), 0u) << m.text();
  EXPECT_EQ(m.count("check"), 0u) << m.text();
  EXPECT_EQ(m.count("nest (%i: M*N)") + m.count("nest (%i: N*M)"), 1u) << m.text();
}

/// `%r` of %a, %b: a branch on %a with these arms.
PassText branch(const std::string& yes, const std::string& no) {
  PassText m(
      "fn f [N] (%a: bool, %b: i64, %x: i64[N]) -> (bool) {\n  %t = const true : bool\n"
      "  %f = const false : bool\n  %z = const 3 : i64\n  %n = dim_value dims [N] : i64\n  %r = if %a {\n" +
      yes + "  } {\n" + no + "  } : bool\n  yield %r\n}\n");
  m.apply(simplify);
  return m;
}

TEST(Simplify, ChoicesOfConditionsAreConnectives) {
  const std::string compared = "    %c = cmp lt %b, %z : bool\n    yield %c\n";
  const PassText all = branch(compared, "    yield %f\n"), any = branch("    yield %t\n", compared);
  EXPECT_EQ(all.count("= if") + any.count("= if"), 0u) << all.text() << any.text();
  EXPECT_EQ(all.count("and %a"), 1u) << all.text();
  EXPECT_EQ(any.count("or %a"), 1u) << any.text();
  const PassText whole =
      branch("    %q = irem %b, %z : i64\n    %c = cmp lt %q, %n : bool\n    yield %c\n", "    yield %f\n");
  EXPECT_EQ(whole.count("and %a"), 1u) << "a divisor that is a number: " << whole.text();
}

TEST(Simplify, WhatMayFailStaysBehindItsCondition) {
  const PassText read =
      branch("    %v = get %x[%b] : i64\n    %c = cmp lt %v, %z : bool\n    yield %c\n", "    yield %f\n");
  EXPECT_EQ(read.count("= if"), 1u) << read.text();
  const PassText divided =
      branch("    %v = idiv %z, %b : i64\n    %c = cmp lt %v, %z : bool\n    yield %c\n", "    yield %f\n");
  EXPECT_EQ(divided.count("= if"), 1u) << divided.text();
  const PassText other = branch("    %c = cmp lt %b, %z : bool\n    yield %c\n", "    yield %t\n");
  EXPECT_EQ(other.count("= if"), 1u) << "neither: " << other.text();
}

/// An index is 0 where it is at most 0, and so on; other numbers, and sizes, are compared as before.
TEST(Simplify, EqualityWithAnEndIsAnOrder) {
  PassText m(R"(fn f [N] (%x: i64[N], %k: i64) -> (i64, bool) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %n = dim_value dims [N] : i64
  %last = sub %n, %one : i64
  %r = nest (%i: N) -> keep[] sum {
    %a = cmp eq %i, %zero : bool
    %b = cmp eq %i, %last : bool
    %c = cmp ne %last, %i : bool
    %d = cmp ne %i, %k : bool
    %e = or %a, %b : bool
    %g = and %c, %d : bool
    %h = or %e, %g : bool
    %v = get %x[%i] : i64
    %w = select %h, %v, %k : i64
    yield %w
  } : i64
  %s = cmp eq %n, %zero : bool
  yield %r, %s
}
)");
  m.apply(simplify,
          {Value::array(types::TypeKind::I64, std::vector<int64_t>{3}, std::vector<int64_t>{5, 7, 11}.data()),
           Value::integer(1)});
  EXPECT_EQ(m.count("cmp le %i, %zero"), 1u) << m.text();
  EXPECT_EQ(m.count("cmp ge %i, %last"), 1u) << m.text();
  EXPECT_EQ(m.count("cmp gt %last, %i"), 1u) << m.text();
  EXPECT_EQ(m.count("cmp ne %i, %k"), 1u) << m.text();
  EXPECT_EQ(m.count("cmp eq %n, %zero"), 1u) << m.text();
}

TEST(Simplify, ComparisonsThatRangesDecide) {
  PassText m(R"(fn f [N] (%x: f32[N], %k: i64) -> (i64) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %n = dim_value dims [N] : i64
  %r = nest (%i: N) -> keep[] sum {
    %a = cmp ge %i, %zero : bool
    %b = cmp lt %i, %n : bool
    %j = add %i, %one : i64
    %c = cmp lt %j, %one : bool
    %d = cmp gt %j, %n : bool
    %e = or %c, %d : bool
    %g = and %a, %b : bool
    %open = cmp lt %i, %k : bool
    %h = and %g, %open : bool
    %t = select %h, %i, %j : i64
    %u = select %e, %zero, %t : i64
    yield %u
  } : i64
  yield %r
}
)");
  m.apply(simplify, {Value::floats(std::vector<float>{1, 2, 3}), Value::integer(1)});
  EXPECT_EQ(m.count("cmp"), 1u) << m.text();
}

/// Numbers wrap, so that it does not matter in which order they are added and taken.
TEST(Simplify, SumsInWhichANumberMeetsItselfAreInRange) {
  auto comparisons = [](const std::string& place) {
    PassText m("fn f [N, K] (%x: f32[N], %w: f32[K], %u: i64) -> (i64) {\n  %one = const 1 : i64\n"
               "  %two = const 2 : i64\n  %zero = const 0 : i64\n  %n = dim_value dims [N] : i64\n"
               "  %r = nest (%i: N, %k: K) -> keep[] sum {\n" +
               place +
               "    %a = cmp ge %z, %one : bool\n    %b = cmp le %z, %n : bool\n"
               "    %c = and %a, %b : bool\n    %s = select %c, %z, %zero : i64\n    yield %s\n"
               "  } : i64\n  yield %r\n}\n");
    m.apply(simplify, {Value::floats(std::vector<float>{1, 2, 3}), Value::floats(std::vector<float>{1, 2}),
                       Value::integer(INT64_MIN)});
    return m.count("cmp");
  };
  EXPECT_EQ(
      comparisons("    %d = sub %k, %one : i64\n    %y = sub %i, %d : i64\n    %z = add %y, %k : i64\n"), 0u);
  EXPECT_EQ(comparisons("    %d = add %i, %u : i64\n    %e = add %one, %k : i64\n    %y = sub %e, %u : i64\n"
                        "    %g = add %d, %y : i64\n    %z = sub %g, %k : i64\n"),
            0u)
      << "of a number that is not known";
  EXPECT_EQ(
      comparisons("    %d = sub %k, %one : i64\n    %y = sub %i, %d : i64\n    %z = sub %y, %k : i64\n"), 0u)
      << "it is never more, so it is the greater of it and 0";
  EXPECT_EQ(
      comparisons("    %d = sub %k, %two : i64\n    %y = sub %i, %d : i64\n    %z = add %y, %k : i64\n"), 1u)
      << "one more";
}

TEST(Simplify, APartOfASizeIsOne) {
  PassText m(
      "fn f [N] (%x: f32[N]) -> (i64, i64) {\n  %n = dim_value dims [N] : i64\n  %two = const 2 : i64\n"
      "  %zero = const 0 : i64\n  %h = idiv %n, %two : i64\n  %q = idiv %n, %zero : i64\n"
      "  yield %h, %q\n}\n");
  m.apply(simplify, {Value::floats(std::vector<float>{1, 2, 3})});
  EXPECT_EQ(m.count("dims [N / 2]"), 1u) << m.text();
  EXPECT_EQ(m.count("idiv"), 1u) << "by zero it is 0: " << m.text();
}

TEST(Simplify, ZeroIsNotAddedAwayFromFloats) {
  PassText m("fn f (%a: f32) -> (f32) {\n  %0 = const 0.0 : f32\n  %1 = add %a, %0 : f32\n  yield %1\n}\n");
  m.apply(simplify, {Value::f32(-0.0f)});
  EXPECT_EQ(m.count("add"), 1u);
}

TEST(Simplify, WhatIsAddedAndTakenOfIntegersGoes) {
  PassText m(R"(fn f (%a: i64, %b: i64, %x: f32, %y: f32) -> (i64, i64, i64, f32) {
  %0 = sub %a, %b : i64
  %1 = add %0, %b : i64
  %2 = add %a, %b : i64
  %3 = sub %2, %a : i64
  %4 = sub %2, %b : i64
  %5 = sub %x, %y : f32
  %6 = add %5, %y : f32
  yield %1, %3, %4, %6
}
)");
  m.apply(simplify, {Value::integer(INT64_MIN), Value::integer(1), Value::f32(1), Value::f32(1e9f)});
  EXPECT_EQ(m.count("yield %a, %b, %a, %1"), 1u) << m.text();
}

TEST(Simplify, ChecksOfAxesAreProved) {
  PassText m(R"(fn f [N] (%x: f32[N + 1], %k: i64) -> (f32[N]) {
  %one = const 1 : i64
  %r = nest (%i: N) -> collect[i] {
    %j = add %i, %one : i64
    check index "" %j dims [N + 1]
    check index "" %i dims [N + 1]
    %a = get %x[%j] : f32
    %b = get %x[%i] : f32
    %c = sub %a, %b : f32
    yield %c
  } : f32[N]
  check index "" %k dims [N]
  check index "" %k dims [N]
  yield %r
}
)");
  EXPECT_EQ(m.count("check"), 4u);
  m.apply(simplify);
  EXPECT_EQ(m.count("check"), 1u) << m.text();
}

TEST(Simplify, DeadCarriesAndResultsGoEffectsStay) {
  PassText m(R"(fn f [N] (%x: f32[N], %n: i64) -> (f32, f32) {
  %z = const 1.0 : f32
  %s, %t, %c = for collects 1 %n, %z, %z defines [K] { (%i: i64, %a: f32, %b: f32)
    check index "" %i dims [N]
    %u = add %a, %z : f32
    %v = add %b, %z : f32
    yield %u, %v, %b
  } : f32, f32, f32[K]
  %p, %q = nest (%j: N) -> keep[] sum, collect[j] {
    %w = get %x[%j] : f32
    %e = mul %w, %w : f32
    yield %w, %e
  } : f32, f32[N]
  yield %s, %p
}
)");
  m.apply(simplify, {Value::floats(std::vector<float>{1, 2}), Value::integer(2)});
  EXPECT_EQ(m.count("collects 1"), 0u) << m.text();
  EXPECT_EQ(m.count("mul"), 0u);
  EXPECT_EQ(m.count("check"), 1u);
  EXPECT_EQ(m.count("add"), 1u);
}

TEST(Simplify, TheTripCountAsADimensionKeepsItsCollect) {
  PassText m(R"(fn f (%n: i64) -> (i64) {
  %z = const 1.0 : f32
  %c = for collects 1 %n defines [K] { (%i: i64)
    yield %z
  } : f32[K]
  %d = dim_value dims [K] : i64
  yield %d
}
)");
  m.apply(simplify, {Value::integer(5)});
  EXPECT_EQ(m.count("collects 1"), 1u) << m.text();
}

TEST(Simplify, CommonSubexpressionsAreComputedOnce) {
  PassText m(R"(fn f [N] (%x: f32[N], %c: bool) -> (f32) {
  %0 = const 0 : i64
  %a = get %x[%0] : f32
  %r = if %c {
    %k = const 0 : i64
    %b = get %x[%k] : f32
    %s = mul %a, %b : f32
    yield %s
  } {
    yield %a
  } : f32
  yield %r
}
)");
  m.apply(simplify, {Value::floats(std::vector<float>{3}), Value::boolean(true)});
  EXPECT_EQ(m.count("get"), 1u) << m.text();
}

TEST(Simplify, KnownVariantsAndPacksAreTakenApart) {
  PassText m(R"(enum Option { None(), Some(f32) }

fn f [N] (%x: f32[N], %v: f32) -> (f32, f32[N]) {
  %o = variant 1 %v : Option
  %r = match cases [0, 1] %o {
    %z = const 0.0 : f32
    yield %z
  } { (%p: f32)
    yield %p
  } : f32
  %h = pack %x dims [N] : pack 1 f32[_]
  %u = unpack %h defines [K] : f32[K]
  %w = cast_dims %u : f32[N]
  yield %r, %w
}
)");
  m.apply(simplify, {Value::floats(std::vector<float>{3}), Value::f32(2)});
  EXPECT_EQ(m.text(), "fn f [N] (%x: f32[N], %v: f32) -> (f32, f32[N]) {\n  yield %v, %x\n}\n");
}

/// So that a read and an update of an array of hidden size are of one value, and stay so in its derivative.
/// Through loops in loops, counted or not.
TEST(Simplify, CarriesThatNeverChangeGo) {
  PassText m(R"(fn f (%a: f32, %n: i64) -> (f32, f32) {
  %z = const 0.0 : f32
  %lim = const 100.0 : f32
  %r, %s = for collects 0 %n, %z, %a { (%i: i64, %t: f32, %c: f32)
    %p, %q = while %t, %c { (%u: f32, %d: f32)
      %m = mul %u, %d : f32
      %l = cmp lt %m, %lim : bool
      yield %l
    } { (%v: f32, %e: f32)
      %w = add %v, %e : f32
      yield %w, %e
    } : f32, f32
    yield %p, %q
  } : f32, f32
  yield %r, %s
}
)");
  m.apply(simplify, {Value::f32(2), Value::integer(2)});
  EXPECT_EQ(m.count("for collects 0 %n, %z {"), 1u) << m.text();
  EXPECT_EQ(m.count("while %t {"), 1u) << m.text();
  EXPECT_EQ(m.count("yield %r, %a"), 1u) << m.text();
}

TEST(Simplify, APackIsOpenedOnce) {
  PassText m(R"(fn f (%h: pack 1 f32[_], %i: i64) -> (pack 1 f32[_]) {
  %a = unpack %h defines [A] : f32[A]
  %v = get %a[%i] : f32
  %b = unpack %h defines [B] : f32[B]
  check dim_equal "one size" dims [B, A]
  %c = cast_dims %b : f32[A]
  %d = set %c[%i] = %v : f32[A]
  %r = pack %d dims [A] : pack 1 f32[_]
  yield %r
}
)");
  m.apply(simplify);
  EXPECT_EQ(m.count("unpack"), 1u) << m.text();
  EXPECT_EQ(m.count("cast_dims"), 0u) << m.text();
  EXPECT_EQ(m.count("check"), 0u) << m.text();
}

TEST(Simplify, AllOfAnArrayIsTheArray) {
  PassText m("fn f (%x: f32[2, 3]) -> (f32[2, 3]) {\n  %a = get %x[:, :] : f32[2, 3]\n  yield %a\n}\n");
  m.apply(simplify);
  EXPECT_EQ(m.text(), "fn f (%x: f32[2, 3]) -> (f32[2, 3]) {\n  yield %x\n}\n");
}

/// A loop of one iteration becomes its body, and of none its initial values; a loop that stacks values stays.
TEST(Simplify, LoopsOfOneIterationGo) {
  PassText m(R"(fn f (%x: f32, %k: i64) -> (f32, i64, f32, i64) {
  %one = const 1 : i64
  %none = const -2 : i64
  %a, %b = for collects 0 %one, %x, %k { (%i: i64, %c: f32, %n: i64)
    %d = add %c, %c : f32
    %o = add %n, %i : i64
    yield %d, %o
  } : f32, i64
  %e, %g = for collects 0 %none, %x, %k { (%j: i64, %h: f32, %l: i64)
    %p = mul %h, %h : f32
    yield %p, %j
  } : f32, i64
  yield %a, %b, %e, %g
}
)");
  m.apply(simplify, {Value::f32(3), Value::integer(5)});
  EXPECT_EQ(m.text(), "fn f (%x: f32, %k: i64) -> (f32, i64, f32, i64) {\n"
                      "  %d = add %x, %x : f32\n  yield %d, %k, %x, %k\n}\n");
}

TEST(Simplify, AnArmOfZerosThatMayPanicIsNotLeftOutForTheOther) {
  auto checks = [](const std::string& check, bool c) {
    PassText m(
        "fn f (%x: i64, %y: i64, %c: bool) -> (i64) {\n  %z = const 0 : i64\n  %is = cmp eq %x, %z : bool\n"
        "  %r = if %is {\n" +
        check + "    yield %z\n  } {\n    %p = mul %x, %y : i64\n    yield %p\n  } : i64\n  yield %r\n}\n");
    m.apply(simplify, {Value::integer(0), Value::integer(7), Value::boolean(c)});
    EXPECT_EQ(m.count("if"), m.count("check")) << m.text();
    return m.count("check");
  };
  EXPECT_EQ(checks("    check assert \"no\" %c\n", true), 1u);
  EXPECT_EQ(checks("    check assert \"no\" %c\n", false), 1u);
  EXPECT_EQ(checks("", true), 0u);
}

/// As of a filter, which asks for no element that its condition leaves out.
TEST(Simplify, AValueOrUndefinedIsTheValue) {
  PassText m(R"(fn f [N] (%x: f32[N, 3], %w: f32[N]) -> (i64) {
  %z = const 0.0 : f32
  %r = nest (%k: N) -> filter defines [n] {
    %v = get %x[%k] : f32[3]
    %a = get %w[%k] : f32
    %c = cmp gt %a, %z : bool
    %e = if %c {
      yield %v
    } {
      %u = undef : f32[3]
      yield %u
    } : f32[3]
    yield %c, %e
  } : f32[n, 3]
  %i = const 0 : i64
  check index "" %i dims [n]
  %t = get %r[%i, %i] : f32
  %s = convert saturate %t : i64
  yield %s
}
)");
  m.apply(simplify);
  EXPECT_EQ(m.count("if"), 0u) << m.text();
}

TEST(Simplify, WhatACombiningRegionAsksIsKeptWithoutItsResult) {
  for (bool c : {true, false}) {
    PassText m(R"(fn f (%v: f32[6], %c: bool) -> (i64) {
  %u = const 0.0 : f32
  %r = nest (%i: 6) -> keep[] combine 1 region 1 units (%u) {
    %a = get %v[%i] : f32
    yield %a
  } {
   (%p: f32, %q: f32)
    check assert "no" %c
    %s = add %p, %q : f32
    yield %s
  } : f32
  %k = const 1 : i64
  yield %k
}
)");
    m.apply(simplify, {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}), Value::boolean(c)});
    EXPECT_EQ(m.count("check"), 1u) << m.text();
  }
}

} // namespace
} // namespace melix::transforms
