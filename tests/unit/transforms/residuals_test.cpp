// What a derivative keeps for the way back, and what it makes again.
#include "core/text/parse.h"
#include "core/text/print.h"
#include "transforms/derivatives/expand_derivatives.h"
#include "transforms/grad_check.h"
#include "transforms/simplify/simplify.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace melix;
using test::GradCheck;

namespace {

/// Functions that call the one below twice, so many levels of them: the last is `f`.
std::string callsByTwos(int levels) {
  std::string out = R"(fn f0 (%x: f64) -> (f64) {
  %s = math sin %x : f64
  %e = math exp %x : f64
  %r = mul %s, %e : f64
  yield %r
}
)";
  for (int k = 1; k <= levels; ++k)
    out += "fn " + (k == levels ? "f" : "f" + std::to_string(k)) + " (%x: f64) -> (f64) {\n  %a = call @f" +
           std::to_string(k - 1) + " %x : f64\n  %b = call @f" + std::to_string(k - 1) +
           " %a : f64\n  %s = math sin %b : f64\n  %r = mul %a, %s : f64\n  yield %r\n}\n";
  return out + R"(fn g (%x: f64) -> (f64) {
  %one = const 1.0 : f64
  %y, %d = derivative reverse @f wrt [0] seeded [1] %x, %one : f64, f64
  yield %d
}
)";
}

/// The module with all derivatives written out.
std::string expanded(const std::string& text) {
  Interner names;
  types::TypeStore types(names);
  core::Module m(types);
  EXPECT_EQ(core::parseModule(m, text), "");
  EXPECT_TRUE(transforms::expandDerivatives(m).problems.empty());
  transforms::simplify(m);
  return core::printModule(m);
}

/// The fields of the record that the derivative of `function`, in terms of sizes `dims`, keeps.
std::string saved(const std::string& text, const std::string& function, const std::string& dims = "") {
  Interner names;
  types::TypeStore types(names);
  core::Module m(types);
  const std::string array = dims.empty() ? "f64" : "f64[" + dims + "]";
  EXPECT_EQ(core::parseModule(m, text + "fn g" + (dims.empty() ? "" : " [" + dims + "]") + " (%x: " + array +
                                     ") -> (" + array + ") keep {\n  %one = const 1.0 : f64\n" +
                                     "  %y, %d = derivative reverse @" + function +
                                     " wrt [0] seeded [1] %x, %one" +
                                     (dims.empty() ? "" : " dims [" + dims + "]") + " : f64, " + array +
                                     "\n  yield %d\n}\n"),
            "");
  EXPECT_TRUE(transforms::expandDerivatives(m).problems.empty());
  const std::string all = core::printModule(m), head = "struct Saved_jvp_" + function;
  const size_t open = all.find("{", all.find(head)) + 1;
  return all.substr(open, all.find("}", open) - open);
}

const std::string logistic = R"(fn logistic (%x: f64) -> (f64) {
  %zero = const 0.0 : f64
  %one = const 1.0 : f64
  %c = cmp ge %x, %zero : bool
  %r = if %c {
    %n = neg %x : f64
    %e = math exp %n : f64
    %s = add %one, %e : f64
    %y = div %one, %s : f64
    yield %y
  } {
    %e$1 = math exp %x : f64
    %s$1 = add %one, %e$1 : f64
    %y$1 = div %e$1, %s$1 : f64
    yield %y$1
  } : f64
  yield %r
}
)";

} // namespace

TEST(Residuals, OneValueForThreeThatAreMadeOfItByOneElementaryFunction) {
  GradCheck(logistic, "logistic").check();
  EXPECT_EQ(saved(logistic, "logistic"), " f64 ");
}

TEST(Residuals, ACallersNestKeepsWhatItReads) {
  const std::string f = logistic + R"(fn f [N] (%x: f64[N]) -> (f64) {
  %r = nest (%i: N) -> keep[] sum {
    %a = get %x[%i] : f64
    %b = call @logistic %a : f64
    yield %b
  } : f64
  yield %r
}
)";
  GradCheck(f).dims({3}).check();
  EXPECT_EQ(saved(f, "f", "N"), " f64[N] ");
}

TEST(Residuals, AnElementaryFunctionOfAnotherIsMadeOfThat) {
  const std::string f = R"(fn f (%x: f64) -> (f64) {
  %a = math exp %x : f64
  %b = math sin %a : f64
  %c = mul %b, %b : f64
  yield %c
}
)";
  GradCheck(f).check();
  EXPECT_EQ(saved(f, "f"), " f64 ");
}

TEST(Residuals, ItemsOfALoopThatCountsASizeHaveThatExtent) {
  const std::string f = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %n = dim_value dims [N] : i64
  %one = const 1.0 : f64
  %r = for collects 0 %n, %one { (%i: i64, %p: f64)
    %a = get %x[%i] : f64
    %q = mul %p, %a : f64
    %s = math sin %q : f64
    yield %s
  } : f64
  yield %r
}
)";
  GradCheck(f).dims({3}).check();
  EXPECT_EQ(saved(f, "f", "N").find("pack"), std::string::npos);
}

TEST(Residuals, ElementsOfAnArrayThatIsUpdatedLaterAreKept) {
  const std::string f = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %n = dim_value dims [N] : i64
  %zero = const 0.0 : f64
  %k = const 1 : i64
  %y = nest (%i: N) -> collect[i] {
    %a = get %x[%i] : f64
    %b = mul %a, %a : f64
    yield %b
  } : f64[N]
  %s, %z = for collects 0 %n, %zero, %y { (%j: i64, %t: f64, %w: f64[N])
    %c = get %w[%j] : f64
    %d = mul %c, %c : f64
    %e = add %t, %d : f64
    %v = set %w[%k] = %d : f64[N]
    yield %e, %v
  } : f64, f64[N]
  yield %s
}
)";
  GradCheck(f).dims({3}).check();
  EXPECT_EQ(saved(f, "f", "N").find(", N]"), std::string::npos);
}

/// A loop that fills `%w` at its index and reads it at another place.
std::string filling(const std::string& place) {
  return R"(fn f [N] (%x: f64[N]) -> (f64) {
  %n = dim_value dims [N] : i64
  %k = const 1 : i64
  %last = sub %n, %k : i64
  %w = for collects 0 %last, %x { (%j: i64, %y: f64[N])
    %i = add %j, %k : i64
    %a = get %y[)" +
         place + R"(] : f64
    %b = math sin %a : f64
    %z = set %y[%i] = %b : f64[N]
    yield %z
  } : f64[N]
  %r = nest (%q: N) -> keep[] sum {
    %c = get %w[%q] : f64
    %d = mul %c, %c : f64
    yield %d
  } : f64
  yield %r
}
)";
}

TEST(Residuals, WhatALoopFillsIsReadBehindIt) {
  const std::string f = filling("%j");
  GradCheck(f).dims({4}).check();
  EXPECT_EQ(saved(f, "f", "N"), " f64[N] ");
  // It is written later, or was before.
  for (const std::string place : {"%i", "%k", "%last"}) {
    const std::string other = filling(place);
    GradCheck(other).dims({4}).check();
    EXPECT_NE(saved(other, "f", "N"), " f64[N] ") << place;
  }
}

TEST(Residuals, ANestOfScalarWorkIsMadeAgain) {
  const std::string f = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %p = nest (%i: N) -> collect[i] {
    %a = get %x[%i] : f64
    %b = mul %a, %a : f64
    yield %b
  } : f64[N]
  %r = nest (%j: N) -> keep[] sum {
    %c = get %p[%j] : f64
    %d = mul %c, %c : f64
    yield %d
  } : f64
  yield %r
}
)";
  GradCheck(f).dims({3}).check();
  EXPECT_EQ(saved(f, "f", "N"), " f64[N] ");
}

/// What stands around arithmetic decides where an `fma` is formed, and so how it is rounded.
TEST(Residuals, WhatDecidesIsKeptWhereItsFloatsWouldBeMadeAgain) {
  const std::string f = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %zero = const 0.0 : f64
  %r = nest (%i: N) -> keep[] sum {
    %a = get %x[%i] : f64
    %b = mul %a, %a : f64
    %c = sub %b, %a : f64
    %d = cmp ge %c, %zero : bool
    %e = select %d, %b, %a : f64
    yield %e
  } : f64
  yield %r
}
)";
  GradCheck(f).dims({3}).check();
  EXPECT_NE(saved(f, "f", "N").find("bool[N]"), std::string::npos) << saved(f, "f", "N");
}

TEST(Residuals, ALoopOfLiteralTurnsKeepsArraysOfSoMany) {
  const std::string f = R"(fn f (%x: f64) -> (f64) {
  %n = const 5 : i64
  %r = for collects 0 %n, %x { (%i: i64, %a: f64)
    %b = math sin %a : f64
    yield %b
  } : f64
  yield %r
}
)";
  GradCheck(f).check();
  EXPECT_EQ(saved(f, "f"), " f64[5] ");
}

/// What decides is made again of differences, which round alone; of a product it is not.
TEST(Residuals, AComparisonOfADifferenceIsMadeAgain) {
  const auto chosen = [](const std::string& by) {
    return R"(fn f [N] (%x: f64[N]) -> (f64) {
  %r = nest (%i: N) -> keep[] sum {
    %z = const 0.5 : f64
    %a = get %x[%i] : f64
)" + by + R"(    %c = cmp lt %d, %z : bool
    %n = neg %a : f64
    %s = select %c, %n, %a : f64
    yield %s
  } : f64
  yield %r
}
)";
  };
  const std::string difference = "    %d = sub %a, %z : f64\n";
  EXPECT_EQ(saved(chosen(difference), "f", "N"), " f64[N] ");
  const std::string product = "    %p = mul %a, %a : f64\n    %d = sub %p, %z : f64\n";
  EXPECT_EQ(saved(chosen(product), "f", "N"), " bool[N] ");
}

/// A window over the edges of a row: where it is within is found out again, the middle of the window once.
TEST(Residuals, WhereAWindowIsWithinARowIsMadeAgain) {
  const std::string f = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %zero = const 0 : i64
  %seven = const 7 : i64
  %nought = const 0.0 : f64
  %r = nest (%i: N, %j: N, %k: N, %l: N) -> keep[] sum {
    %n = dim_value dims [N] : i64
    %a = mul %n, %n : i64
    %b = idiv %a, %seven : i64
    %half = idiv %b, %seven : i64
    %s = add %i, %k : i64
    %p = sub %s, %half : i64
    %t = add %j, %l : i64
    %q = sub %t, %half : i64
    %pl = cmp ge %p, %zero : bool
    %ph = cmp lt %p, %n : bool
    %ql = cmp ge %q, %zero : bool
    %qh = cmp lt %q, %n : bool
    %in = and %pl, %ph : bool
    %on = and %ql, %qh : bool
    %is = and %in, %on : bool
    %v = if %is {
      %y = get %x[%p] : f64
      %z = get %x[%q] : f64
      %w = mul %y, %z : f64
      yield %w
    } {
      yield %nought
    } : f64
    yield %v
  } : f64
  yield %r
}
)";
  GradCheck(f).dims({3}).check();
  EXPECT_EQ(saved(f, "f", "N").find("bool"), std::string::npos) << saved(f, "f", "N");
}

/// An index that a function is given is kept rather than one made of it: its caller has the index, and keeps
/// none.
TEST(Residuals, AnIndexMadeOfOneThatAFunctionIsGivenIsMadeAgain) {
  const std::string f = R"(fn held [N] (%x: f64[N], %i: i64) -> (f64) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %p = sub %i, %one : i64
  %q = max %p, %zero : i64
  %v = get %x[%q] : f64
  yield %v
}

fn f [N] (%x: f64[N]) -> (f64) {
  %r = nest (%i: N) -> keep[] sum {
    %a = call @held %x, %i dims [N] : f64
    %s = mul %a, %a : f64
    yield %s
  } : f64
  yield %r
}
)";
  GradCheck(f).dims({3}).check();
  EXPECT_EQ(saved(f, "f", "N").find("i64["), std::string::npos) << saved(f, "f", "N");
}

/// A caller has the parameter, and reads the part again: `index` is made in the function, or is a constant.
std::string partOfParameter(const std::string& index) {
  return R"(fn step [D] (%w: f64[4, D, D], %h: f64[D]) -> (f64[D]) {
)" + index +
         R"(  %m = get %w[%e] : f64[D, D]
  %r = nest (%i: D) -> collect[i] {
    %s = nest (%j: D) -> keep[] sum {
      %a = get %h[%j] : f64
      %b = get %m[%j, %i] : f64
      %p = mul %a, %b : f64
      yield %p
    } : f64
    %t = math sin %s : f64
    yield %t
  } : f64[D]
  yield %r
}

fn f [D] (%h: f64[D]) -> (f64) {
  %w = nest (%k: 4, %i: D, %j: D) -> collect[k, i, j] {
    %c = const 0.3 : f64
    %l = convert saturate %k : f64
    %p = mul %c, %l : f64
    yield %p
  } : f64[4, D, D]
  %n = const 5 : i64
  %r = for collects 0 %n, %h { (%t: i64, %x: f64[D])
    %y = call @step %w, %x dims [D] : f64[D]
    yield %y
  } : f64[D]
  %s = nest (%q: D) -> keep[] sum {
    %v = get %r[%q] : f64
    yield %v
  } : f64
  yield %s
}
)";
}

TEST(Residuals, APartOfAParameterIsReadAgainByWhoeverCalls) {
  const std::string constant = "  %e = const 2 : i64\n";
  GradCheck(partOfParameter(constant)).dims({3}).check();
  EXPECT_EQ(saved(partOfParameter(constant), "f", "D").find("D, D]"), std::string::npos);
  const std::string made = R"(  %z = const 0 : i64
  %v = get %h[%z] : f64
  %o = const 0.5 : f64
  %c = cmp lt %v, %o : bool
  %e = if %c {
    %one = const 1 : i64
    yield %one
  } {
    %three = const 3 : i64
    yield %three
  } : i64
)";
  GradCheck(partOfParameter(made)).dims({3}).check();
  EXPECT_EQ(saved(partOfParameter(made), "f", "D").find("[5, D, D]"), std::string::npos)
      << saved(partOfParameter(made), "f", "D");
}

TEST(Residuals, RecordsOfCallsLieInTheirCallersUpToSoManyLeaves) {
  GradCheck(callsByTwos(3), "f").check();
  EXPECT_EQ(expanded(callsByTwos(3)).find("Boxed"), std::string::npos);
  EXPECT_NE(expanded(callsByTwos(8)).find("Boxed"), std::string::npos);
}

TEST(Residuals, SecondOrderOfCallsByTwosHasCodeByTheLevel) {
  const std::string second = R"(fn h (%x: f64) -> (f64) keep {
  %one = const 1.0 : f64
  %y, %d = derivative reverse @g wrt [0] seeded [1] %x, %one : f64, f64
  yield %d
}
)";
  auto lines = [&](int levels) {
    const std::string text = expanded(callsByTwos(levels) + second);
    return static_cast<double>(std::count(text.begin(), text.end(), '\n'));
  };
  EXPECT_LE(lines(8), 1.5 * 2 * lines(4));
  EXPECT_LE(lines(16), 1.5 * 2 * lines(8));
}

TEST(Residuals, ARecordInACircleOfCallsIsBoxedWhereItWouldHoldItself) {
  const std::string circle = R"(fn f (%n: i64, %x: f64) -> (f64) {
  %s = math sin %x : f64
  %r = call @h %n, %s : f64
  yield %r
}
fn h (%n: i64, %x: f64) -> (f64) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %c = cmp gt %n, %zero : bool
  %r = if %c {
    %m = sub %n, %one : i64
    %e = math exp %x : f64
    %a = call @f %m, %e : f64
    yield %a
  } {
    yield %x
  } : f64
  yield %r
}
fn g (%n: i64, %x: f64) -> (f64) keep {
  %one = const 1.0 : f64
  %y, %d = derivative reverse @f wrt [1] seeded [1] %n, %x, %one : f64, f64
  yield %d
}
)";
  EXPECT_EQ(expanded(circle).find("Boxed"), std::string::npos) << "the branch is an enum already";
}
