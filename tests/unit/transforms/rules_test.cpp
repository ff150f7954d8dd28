// The jvp rule of every scalar op and elementary function, and its transpose, by differences.

#include "transforms/ad_rules.h"
#include "transforms/grad_check.h"

#include <gtest/gtest.h>

using namespace melix;
using test::GradCheck;

namespace {

struct RuleCase {
  std::string name, op;
  bool math = false;
  uint32_t rule = 0;
  uint32_t operands = 2; ///< that carry a derivative
};

std::string textOf(const RuleCase& c) {
  // Arguments of inverse functions stay inside their domain; the square makes second derivatives visible.
  return "fn f (%x0: f64, %y0: f64, %z0: f64) -> (f64) {\n"
         "  %half = const 0.5 : f64\n"
         "  %x = mul %x0, %half : f64\n"
         "  %y = mul %y0, %half : f64\n"
         "  %z = mul %z0, %half : f64\n"
         "  %less = cmp lt %x, %y : bool\n"
         "  %r = " + c.op + " : f64\n"
         "  %q = mul %r, %r : f64\n"
         "  %s = add %q, %r : f64\n"
         "  yield %s\n"
         "}\n";
}

RuleCase scalar(ops::OpKind kind, std::string operands, uint32_t count = 2) {
  std::string text(ops::opText(kind));
  return {text, text + " " + operands, false, static_cast<uint32_t>(kind), count};
}

std::vector<RuleCase> cases() {
  using ops::OpKind;
  std::vector<RuleCase> out{
      scalar(OpKind::Add, "%x, %y"),      scalar(OpKind::Sub, "%x, %y"),  scalar(OpKind::Mul, "%x, %y"),
      scalar(OpKind::Div, "%x, %y"),      scalar(OpKind::Neg, "%x", 1),   scalar(OpKind::Fma, "%x, %y, %z", 3),
      scalar(OpKind::Sqrt, "%x", 1),      scalar(OpKind::Abs, "%x", 1),   scalar(OpKind::Min, "%x, %y"),
      scalar(OpKind::Max, "%x, %y"),      scalar(OpKind::CopySign, "%x, %y", 1),
  };
  RuleCase select = scalar(OpKind::Select, "%less, %x, %y");
  out.push_back(select);
  for (uint32_t k = 0; k < ops::mathCount; ++k) {
    auto kind = static_cast<ops::MathKind>(k);
    std::string name(ops::mathName(kind));
    unsigned arity = ops::mathArity(kind);
    out.push_back({name, "math " + name + (arity == 1 ? " %x" : " %x, %y"), true, k, arity});
  }
  return out;
}

class ScalarRule : public testing::TestWithParam<RuleCase> {};

} // namespace

TEST_P(ScalarRule, agreesWithDifferences) { GradCheck(textOf(GetParam())).check(); }

INSTANTIATE_TEST_SUITE_P(rules, ScalarRule, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

/// Both sides of a choice, so that each operand's rule is seen.
static std::vector<std::string> failuresOf(const RuleCase& c) {
  std::vector<std::string> out;
  for (double x : {0.4, 1.1}) {
    GradCheck check(textOf(c));
    check.orders(1).tolerance(1e-8).argument(0, interp::Value::f64(x)).argument(1, interp::Value::f64(0.8));
    for (const std::string& f : check.failures()) out.push_back(f);
  }
  return out;
}

TEST(Mutation, everyScalarRuleIsNoticed) {
  for (const RuleCase& c : cases()) {
    EXPECT_TRUE(failuresOf(c).empty()) << c.name;
    for (uint32_t operand = 0; operand < c.operands; ++operand) {
      uint32_t at = c.name == "select" ? operand + 1 : operand;
      transforms::ruleMutation = {true, c.math, c.rule, at};
      EXPECT_FALSE(failuresOf(c).empty()) << c.name << ", operand " << at << ", is 0.1 % off and nobody notices";
      transforms::ruleMutation = {};
    }
  }
}

TEST(ScalarRule, slopeOfAbsIsZeroAtTheKink) {
  GradCheck c("fn f (%x: f64) -> (f64) {\n  %r = abs %x : f64\n  yield %r\n}\n");
  c.argument(0, interp::Value::f64(0)).orders(1);
  EXPECT_EQ(c.gradient(), std::vector<double>{0});
}

TEST(ScalarRule, maxAtATieFollowsTheFirst) {
  GradCheck c("fn f (%x: f64, %y: f64) -> (f64) {\n  %r = max %x, %y : f64\n  yield %r\n}\n");
  c.argument(0, interp::Value::f64(1)).argument(1, interp::Value::f64(1)).orders(1);
  EXPECT_EQ(c.gradient(), (std::vector<double>{1, 0}));
}

TEST(ScalarRule, powerOfZeroWithExponentZero) {
  GradCheck c("fn f (%x: f64, %y: f64) -> (f64) {\n  %r = math pow %x, %y : f64\n  yield %r\n}\n");
  c.argument(0, interp::Value::f64(0)).argument(1, interp::Value::f64(0)).orders(1);
  EXPECT_EQ(c.gradient(), (std::vector<double>{0, 0}));
}

TEST(ScalarRule, conversionsBetweenFloatsAreLinear) {
  GradCheck c("fn f (%x: f64) -> (f64) {\n"
              "  %n = convert saturate %x : f32\n"
              "  %w = convert saturate %n : f64\n"
              "  %r = mul %w, %w : f64\n"
              "  yield %r\n}\n");
  c.argument(0, interp::Value::f64(0.5)).orders(1);
  EXPECT_EQ(c.gradient(), std::vector<double>{1});
}
