// The jvp rule of every scalar op and elementary function, and its transpose, by differences.

#include "transforms/derivatives/scalar_rules.h"
#include "transforms/grad_check.h"

#include <gtest/gtest.h>

#include <set>

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
         "  %r = " +
         c.op +
         " : f64\n"
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
      scalar(OpKind::Add, "%x, %y"),         scalar(OpKind::Sub, "%x, %y"),
      scalar(OpKind::Mul, "%x, %y"),         scalar(OpKind::Div, "%x, %y"),
      scalar(OpKind::Neg, "%x", 1),          scalar(OpKind::Fma, "%x, %y, %z", 3),
      scalar(OpKind::Sqrt, "%x", 1),         scalar(OpKind::Abs, "%x", 1),
      scalar(OpKind::Min, "%x, %y"),         scalar(OpKind::Max, "%x, %y"),
      scalar(OpKind::CopySign, "%x, %y", 1),
  };
  out.push_back(scalar(OpKind::Scale, "any %x, %y", 1));
  for (uint32_t k = 0; k < ops::directedCount; ++k) {
    const auto kind = static_cast<ops::DirectedKind>(k);
    const std::string name(ops::directedRow(kind).name);
    const unsigned arity = ops::directedArity(kind);
    out.push_back({name, "directed " + name + (arity == 1 ? " %x" : " %x, %y"), false,
                   static_cast<uint32_t>(OpKind::Directed), arity});
  }
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
      transforms::ruleMutation = {true, c.math, c.rule, at, -1};
      EXPECT_FALSE(failuresOf(c).empty())
          << c.name << ", operand " << at << ", is 0.1 % off and nobody notices";
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

/// Every structural rule at work; even sizes, because mutated indices are moved within pairs.
static const char* movesTangents = R"(enum Shape { Circle(f64), Rect(f64, f64) }
fn f [N] (%x: f64[N], %y: f64, %w: f64) -> (f64) {
  %n = dim_value dims [N] : i64
  %zero = const 0 : i64
  %one = const 1 : i64
  %less = cmp lt %y, %w : bool
  %sel = select %less, %y, %w : f64
  %dif = sub %sel, %w : f64
  %stack = array %y, %dif : f64[2]
  %pair = make %sel, %dif : (f64, f64)
  %shape = variant 1 %y, %w : Shape
  %arm = if %less {
    %p = mul %y, %y : f64
    yield %p
  } {
    %q = mul %w, %y : f64
    yield %q
  } : f64
  %area = match cases [0, 1] %shape {
   (%r: f64)
    yield %r
  } {
   (%ra: f64, %rb: f64)
    %rr = mul %ra, %rb : f64
    yield %rr
  } : f64
  %x1 = set %x[%one] = %arm : f64[N]
  %x2 = add_at %x1[%zero] += %area : f64[N]
  %s = for collects 0 %n, %dif {
   (%i: i64, %acc: f64)
    %v = get %x2[%i] : f64
    %m = mul %v, %acc : f64
    %a = add %m, %v : f64
    yield %a
  } : f64
  %sq = nest (%j: N) -> collect[j] {
    %vj = get %x2[%j] : f64
    %k = convert saturate %j : f64
    %e = mul %vj, %vj : f64
    %e2 = mul %e, %k : f64
    yield %e2
  } : f64[N]
  %both = nest (%b: N) -> collect[b] {
    %vb = get %x2[%b] : f64
    %wb = mul %vb, %y : f64
    %eb = make %vb, %wb : (f64, f64)
    yield %eb
  } : {(f64, f64)}[N]
  %of = get %both[%one].1 : f64
  %mx = nest (%l: N) -> keep[] max {
    %vl = get %x[%l] : f64
    yield %vl
  } : f64
  %l0 = list %s, %mx : List[f64]
  %first = get %l0<%zero> : f64
  %e0 = get %sq[%one] : f64
  %s0 = get %stack[%zero] : f64
  %p0 = get %pair.0 : f64
  %t1 = mul %first, %e0 : f64
  %t2 = mul %s0, %p0 : f64
  %t3 = add %t1, %t2 : f64
  %t4 = mul %t3, %mx : f64
  %t5 = mul %t4, %of : f64
  yield %t5
}
)";

/// The moves that the first text has no place for: shapes, lists that grow and shrink, calls, hidden sizes.
static const char* movesMore = R"(fn twice (%a: f64) -> (f64) {
  %t = add %a, %a : f64
  %t2 = mul %t, %a : f64
  yield %t2
}
fn f (%x: f64[4], %y: f64) -> (f64) {
  %one = const 1 : i64
  %two = const 2 : i64
  %grid = reshape %x : f64[2, 2]
  %corner = get %grid[%one, %one] : f64
  %called = call @twice %corner : f64
  %values = to_list %x : List[f64]
  %none = list : List[f64]
  %l1 = push %none, %called : List[f64]
  %l2 = push %l1, %y : List[f64]
  %array = to_array %l2 defines [M] : f64[M]
  %second = get %array[%one] : f64
  %same = cast_dims %array : f64[2]
  %first2 = nest (%k: 2) -> keep[] sum {
    %vk = get %same[%k] : f64
    %wk = mul %vk, %vk : f64
    yield %wk
  } : f64
  %last, %rest = pop %l2 : f64, List[f64]
  %row0 = get %values<%one> : f64
  %zero = const 0 : i64
  %packed = pack %array dims [M] : pack 1 f64[_]
  %open = unpack %packed defines [L] : f64[L]
  %seen = get %open[%zero] : f64
  %kept = black_box %seen : f64
  %shown = debug %kept : f64
  %count, %power = while %zero, %y {
   (%i: i64, %p: f64)
    %go = cmp lt %i, %two : bool
    yield %go
  } {
   (%j: i64, %q: f64)
    %j1 = add %j, %one : i64
    %q1 = mul %q, %row0 : f64
    yield %j1, %q1
  } : i64, f64
  %a = mul %second, %first2 : f64
  %b = mul %last, %shown : f64
  %c = add %a, %b : f64
  %d = mul %c, %power : f64
  yield %d
}
)";

TEST(StructuralRule, shapesListsCallsAndLoops) { GradCheck(movesMore).orders(1).check(); }

/// Whether one of the texts above has the op on some line.
static bool isTested(ops::OpKind kind) {
  std::string text(ops::opText(kind));
  for (const RuleCase& c : cases())
    if (!c.math && c.rule == static_cast<uint32_t>(kind)) return true;
  for (std::string lines : {movesTangents, movesMore})
    for (std::string before : {" = ", "\n    ", "\n  "})
      if (lines.find(before + text + " ") != std::string::npos) return true;
  return false;
}

TEST(Rules, everyOpThatCarriesATangentHasACase) {
  using ops::OpKind;
  // Gone before derivatives are made, or what they are made of; each elementary function has a case of its
  // own.
  const std::set<OpKind> elsewhere{OpKind::Closure, OpKind::Apply,   OpKind::Derivative,
                                   OpKind::Known,   OpKind::Capture, OpKind::Math};
  for (unsigned k = 0; k < ops::opCount; ++k) {
    auto kind = static_cast<OpKind>(k);
    if (ops::opLinearity(kind) == ops::LinearityKind::No) continue;
    EXPECT_NE(isTested(kind), elsewhere.contains(kind))
        << "`" << ops::opText(kind) << "` carries a tangent: give it a case here";
  }
}

static std::vector<std::string> failuresOfMoves() {
  std::vector<std::string> out;
  for (auto [y, w] : {std::pair(0.5, 0.9), std::pair(0.9, 0.5)}) {
    GradCheck check(movesTangents);
    check.dims({4}).orders(1).tolerance(1e-8);
    check.argument(1, interp::Value::f64(y)).argument(2, interp::Value::f64(w));
    for (const std::string& f : check.failures()) out.push_back(f);
  }
  return out;
}

TEST(Mutation, everyStructuralRuleIsNoticed) {
  for (const std::string& f : failuresOfMoves()) ADD_FAILURE() << f;
  static const char* texts[] = {
#define STRUCTURAL(Kind, Text) Text,
#include "transforms/derivatives/structural_rules.def"
  };
  for (unsigned k = 0; k < transforms::structuralRuleCount; ++k) {
    transforms::ruleMutation = {};
    transforms::ruleMutation.structural = static_cast<int>(k);
    EXPECT_FALSE(failuresOfMoves().empty()) << "nobody notices when it is wrong that " << texts[k];
    transforms::ruleMutation = {};
  }
}
