// What may be differentiated, what is refused, rules of the user's own, and known behaviours.

#include "core/order/verify.h"
#include "core/text/parse.h"
#include "transforms/derivatives/expand_derivatives.h"
#include "transforms/grad_check.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace melix;
using interp::Value;
using test::GradCheck;
using transforms::AdProblemKind;

/// Problems of a module that holds derivative ops.
static std::vector<transforms::AdProblem> problemsOf(const std::string& text) {
  Interner names;
  types::TypeStore types(names);
  core::Module m(types);
  EXPECT_EQ(core::parseModule(m, text), "");
  return transforms::expandDerivatives(m).problems;
}

static const char* gradOfF = R"(fn g (%x: f64) -> (f64, f64) keep {
  %one = const 1.0 : f64
  %y, %d = derivative reverse @f wrt [0] seeded [1] %x, %one : f64, f64
  yield %y, %d
}
)";

TEST(Expand, aFloatThatBecomesAnIntegerAndComesBackIsReported) {
  auto problems = problemsOf(std::string(R"(fn f (%x: f64) -> (f64) {
  %i = convert saturate %x : i64
  %y = convert saturate %i : f64
  %z = mul %y, %x : f64
  yield %z
}
)") + gradOfF);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, AdProblemKind::LostDerivative);
  EXPECT_EQ(problems[0].path.size(), 2u);
}

TEST(Expand, theSameThroughACall) {
  auto problems = problemsOf(std::string(R"(fn h (%x: f64) -> (i64) {
  %i = convert saturate %x : i64
  yield %i
}
fn f (%x: f64) -> (f64) {
  %i = call @h %x : i64
  %y = convert saturate %i : f64
  yield %y
}
)") + gradOfF);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].kind, AdProblemKind::LostDerivative);
}

TEST(Expand, whatOnlySelectsNeedsNoRemark) {
  auto problems = problemsOf(std::string(R"(fn f (%x: f64) -> (f64) {
  %i = convert saturate %x : i64
  %two = const 2 : i64
  %c = cmp gt %i, %two : bool
  %y = mul %x, %x : f64
  %z = select %c, %x, %y : f64
  yield %z
}
)") + gradOfF);
  EXPECT_TRUE(problems.empty());
}

TEST(Expand, stopGradientSaysItIsMeant) {
  auto problems = problemsOf(std::string(R"(fn f (%x: f64) -> (f64) {
  %s = stop_gradient %x : f64
  %i = convert saturate %s : i64
  %y = convert saturate %i : f64
  %z = mul %y, %x : f64
  yield %z
}
)") + gradOfF);
  EXPECT_TRUE(problems.empty());
}

TEST(Expand, aResultThatCannotDependIsReported) {
  auto problems = problemsOf(std::string(R"(fn f (%x: f64) -> (f64) {
  %y = const 2.0 : f64
  yield %y
}
)") + gradOfF);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, AdProblemKind::Independent);
}

TEST(Expand, outputInADifferentiatedFunctionIsReported) {
  auto problems = problemsOf(std::string(R"(fn f (%x: f64) -> (f64) {
  %s = const "hello" : str
  builtin print %s
  %y = mul %x, %x : f64
  yield %y
}
)") + gradOfF);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, AdProblemKind::Effect);
}

TEST(Expand, aRuleOfTheUsersOwnReplacesTheDerivative) {
  const std::string text = R"(fn rule (%x: f64, %t: f64) -> (f64, f64) {
  %two = const 2.0 : f64
  %four = const 4.0 : f64
  %y = mul %two, %x : f64
  %d = mul %four, %t : f64
  yield %y, %d
}
fn twice (%x: f64) -> (f64) jvp @rule {
  %two = const 2.0 : f64
  %y = mul %two, %x : f64
  yield %y
}
fn f (%x: f64) -> (f64) {
  %two = const 2.0 : f64
  %five = const 5.0 : f64
  %a = mul %two, %x : f64
  %b = call @twice %a : f64
  %y = mul %b, %five : f64
  yield %y
}
)";
  GradCheck c(text);
  c.orders(1);
  EXPECT_EQ(c.gradient(), std::vector<double>{40});
  GradCheck alone(text, "twice");
  alone.orders(1);
  EXPECT_EQ(alone.gradient(), std::vector<double>{4});
}

TEST(Expand, gradientsOfOneParameterOfSeveral) {
  GradCheck c("fn f (%x: f64, %n: i64, %y: f64) -> (f64) {\n  %p = mul %x, %y : f64\n  yield %p\n}\n");
  c.argument(0, Value::f64(3)).argument(1, Value::integer(7)).argument(2, Value::f64(4)).orders(1);
  EXPECT_EQ(c.gradient(), (std::vector<double>{4, 3}));
}

// --- known behaviours
// -----------------------------------------------------------------------------------------------

static std::vector<double> gradAt(const std::string& body, double x) {
  GradCheck c("fn f (%x: f64) -> (f64) {\n" + body + "  yield %r\n}\n");
  c.argument(0, Value::f64(x)).orders(1);
  return c.gradient();
}

TEST(Behaviour, reciprocal) {
  EXPECT_EQ(gradAt("  %c = const 3.0 : f64\n  %r = div %c, %x : f64\n", 2), std::vector<double>{-0.75});
}

TEST(Behaviour, cube) {
  EXPECT_EQ(gradAt("  %a = mul %x, %x : f64\n  %r = mul %a, %x : f64\n", 2), std::vector<double>{12});
}

TEST(Behaviour, branchTaken) {
  const std::string body =
      "  %two = const 2.0 : f64\n  %c = cmp lt %x, %two : bool\n"
      "  %r = if %c {\n    %three = const 3.0 : f64\n    %a = mul %three, %x : f64\n    yield %a\n"
      "  } {\n    %b = math sin %x : f64\n    yield %b\n  } : f64\n";
  EXPECT_EQ(gradAt(body, 1.72), std::vector<double>{3});
  EXPECT_DOUBLE_EQ(gradAt(body, 2.14)[0], -0.5389614493995114);
}

TEST(Behaviour, broadcast) {
  GradCheck c("fn f (%x: f64) -> (f64[2]) {\n  %r = array %x, %x : f64[2]\n  yield %r\n}\n");
  c.orders(1);
  EXPECT_EQ(c.gradient(), std::vector<double>{2});
}

TEST(Behaviour, dotProduct) {
  GradCheck c(
      "fn f [N] (%x: f64[N], %y: f64[N]) -> (f64) {\n  %r = nest (%i: N) -> keep[] sum {\n"
      "    %a = get %x[%i] : f64\n    %b = get %y[%i] : f64\n    %p = mul %a, %b : f64\n    yield %p\n"
      "  } : f64\n  yield %r\n}\n");
  c.dims({2}).argument(0, test::array64({1, 2})).argument(1, test::array64({3, 4})).orders(1);
  EXPECT_EQ(c.gradient(), (std::vector<double>{3, 4, 1, 2}));
}

TEST(Behaviour, perturbationsAreNotConfused) {
  // d/dx [x · d/dy (x y) at y = 2] at x = 1
  GradCheck c(R"(fn inner (%x: f64, %y: f64) -> (f64) {
  %p = mul %x, %y : f64
  yield %p
}
fn f (%x: f64) -> (f64) {
  %two = const 2.0 : f64
  %one = const 1.0 : f64
  %y, %d = derivative reverse @inner wrt [1] seeded [1] %x, %two, %one : f64, f64
  %r = mul %x, %d : f64
  yield %r
}
)");
  c.argument(0, Value::f64(1)).orders(1);
  EXPECT_EQ(c.gradient(), std::vector<double>{2});
}

TEST(Behaviour, thirdDerivative) {
  std::string text = "fn p (%x: f64) -> (f64) {\n  %c = const 4.0 : f64\n  %a = mul %x, %x : f64\n"
                     "  %b = mul %a, %x : f64\n  %r = mul %c, %b : f64\n  yield %r\n}\n";
  std::string previous = "p";
  for (std::string name : {"d1", "d2", "f"}) {
    text += "fn " + name +
            " (%x: f64) -> (f64) {\n  %one = const 1.0 : f64\n  %y, %d = derivative reverse @" + previous +
            " wrt [0] seeded [1] %x, %one : f64, f64\n  yield %d\n}\n";
    previous = name;
  }
  GradCheck c(text);
  c.orders(0).argument(0, Value::f64(1.234));
  EXPECT_DOUBLE_EQ(c.run("f", {Value::f64(1.234)}).values[0].asF64(), 24.0);
}

TEST(Behaviour, pullbacksMayBeUsedMoreThanOnce) {
  GradCheck c(R"(struct Kept {}
fn h (%x: f64) -> (f64) {
  %s = math sin %x : f64
  %y = mul %s, %x : f64
  yield %y
}
fn f (%x: f64) -> (f64) {
  %one = const 1.0 : f64
  %two = const 2.0 : f64
  %y, %k = derivative forward @h wrt [0] seeded [1] saved Kept %x : f64, Kept
  %a = derivative backward @h wrt [0] seeded [1] saved Kept %k, %one : f64
  %b = derivative backward @h wrt [0] seeded [1] saved Kept %k, %two : f64
  %r = add %a, %b : f64
  yield %r
}
)");
  c.orders(2).check();
  double x = 0.7;
  EXPECT_NEAR(c.run("f", {Value::f64(x)}).values[0].asF64(), 3 * (std::cos(x) * x + std::sin(x)), 1e-12);
}
