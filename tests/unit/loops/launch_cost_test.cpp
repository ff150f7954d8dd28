// How long launches are thought to take, from text: in proportion to sizes and lanes, in arithmetic that
// cannot fail.
#include "loops/kernels/launch_cost.h"

#include "loops/loops_text.h"

#include <map>

namespace melix::loops {
namespace {

using core::OpKind;

/// What the numbers of a function without branches are, for parameters that are given.
class Evaluator {
public:
  Evaluator(const Function& fn, const std::vector<int64_t>& params) : fn_(fn) {
    for (size_t k = 0; k < params.size(); ++k) values_[fn.params()[k]] = params[k];
    for (StmtId id : fn.regions[fn.body].stmts) statement(fn.stmts[id]);
  }
  int64_t of(ValueId v) const { return values_.at(v); }

private:
  void statement(const Stmt& s) {
    if (s.kind == StmtKind::Const) values_[s.results[0]] = static_cast<int64_t>(s.as<uint64_t>());
    if (s.kind != StmtKind::Scalar) return;
    const auto& attr = s.as<ScalarAttr>();
    int64_t& result = values_[s.results[0]];
    if (attr.op == OpKind::Select)
      result = of(s.operands[of(s.operands[0]) != 0 ? 1 : 2]);
    else if (attr.op == OpKind::Cmp && static_cast<ops::CmpKind>(attr.index) == ops::CmpKind::Lt)
      result = of(s.operands[0]) < of(s.operands[1]);
    else
      result = scalar(attr.op, of(s.operands[0]), of(s.operands[1]));
  }
  static int64_t scalar(OpKind op, int64_t a, int64_t b) {
    switch (op) {
    case OpKind::Add: return a + b;
    case OpKind::Sub: return a - b;
    case OpKind::Mul: return a * b;
    case OpKind::Min: return std::min(a, b);
    case OpKind::Max: return std::max(a, b);
    case OpKind::Shr: return a >> b;
    case OpKind::IDiv: return a / b;
    default: ADD_FAILURE() << "an op that may fail"; return 0;
    }
  }

  const Function& fn_;
  std::map<ValueId, int64_t> values_;
};

/// Nanoseconds of a launch of m turns of a kernel that has this body; %n, %d and memory at %x, %y are
/// captured.
int64_t workOf(const std::string& kernelBody, int64_t m, int64_t n, int64_t d = 0) {
  LoopsText loops(
      "fn @f(%m: i64, %n: i64, %d: i64, %x: data, %y: data) {\n  launch @k %m, %m, %n, %d, %x, %y\n"
      "  yield\n}\n\nkernel @k(%first: i64, %last: i64, %n: i64, %d: i64, %x: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n" +
      kernelBody + "  yield\n}\n");
  EXPECT_EQ(loops.read.error, "");
  estimateLaunchCost(loops.module());
  EXPECT_EQ(verify(loops.module(), {State::CountsInserted}), "");
  const Function& fn = loops.module().functions[FunctionId(0)];
  for (const Stmt& s : fn.stmts)
    if (s.kind == StmtKind::Launch) return Evaluator(fn, {m, n, d}).of(s.operands[1]);
  return -1;
}

std::string loop(const std::string& head, const std::string& body) {
  return "for " + head + "\n" + body + "yield\n}\n";
}
/// A copy of rows of %n numbers.
std::string rows(const std::string& lanes = "", const std::string& from = "%zero",
                 const std::string& to = "%n") {
  return loop("independent %first, %last { (%i)",
              loop("independent " + lanes + " " + from + ", " + to + " { (%j)",
                   "%v = load %x[%i*%n + %j*%one] : f32\nstore %y[%i*%n + %j*%one] = %v\n"));
}

TEST(EstimateWork, GrowsWithSizes) {
  const int64_t once = workOf(rows(), 1000, 500);
  EXPECT_GT(once, 100'000);
  EXPECT_LT(once, 2'000'000);
  EXPECT_NEAR(static_cast<double>(workOf(rows(), 2000, 500)), 2.0 * once, once * 0.01);
  EXPECT_NEAR(static_cast<double>(workOf(rows(), 1000, 1000)), 2.0 * once, once * 0.01);
  EXPECT_EQ(workOf(rows(), 0, 500), 0);
  EXPECT_EQ(workOf(rows("", "%d"), 1000, 500, 700), 0); // no turn
}

TEST(EstimateWork, LanesShareATurn) {
  const int64_t alone = workOf(rows(), 1000, 500), shared = workOf(rows("vector 16 interleave 2"), 1000, 500);
  EXPECT_NEAR(static_cast<double>(alone) / static_cast<double>(shared), 16, 1);
  // Places apart are read one by one.
  const std::string apart = loop("independent vector 16 interleave 2 %first, %last { (%i)",
                                 "%v = load %x[%i*%n] : f32\nstore %y[%i*%one] = %v\n");
  EXPECT_GT(workOf(apart, 1'000'000, 500), 5 * workOf(rows("vector 16 interleave 2"), 1000, 1000));
}

TEST(EstimateWork, LoopsWhoseEndsDifferAreThoseOfTheMiddle) {
  const int64_t full = workOf(rows(), 500, 500);
  EXPECT_NEAR(static_cast<double>(workOf(rows("", "%zero", "%i"), 500, 500)), 0.5 * full, full * 0.02);
  EXPECT_NEAR(static_cast<double>(workOf(rows("", "%i"), 500, 500)), 0.5 * full, full * 0.02);
}

TEST(EstimateWork, TurnsOfWhichNothingIsKnownAreFew) {
  const int64_t sixteen = workOf(rows(), 1000, 16);
  const std::string loaded =
      loop("independent %first, %last { (%i)",
           "%e = load %x[%i*%one] : i64\n" + loop("independent %zero, %e { (%j)",
                                                  "%v = load %x[%i*%n + %j*%one] : f32\n"
                                                  "store %y[%i*%n + %j*%one] = %v\n"));
  EXPECT_NEAR(static_cast<double>(workOf(loaded, 1000, 500)), sixteen, 0.1 * sixteen);
}

TEST(EstimateWork, OuterLoopsAreAskedForFirst) {
  std::string inside; // takes more statements than are worth it
  for (int k = 0; k < 80; ++k) {
    const std::string end = "%e" + std::to_string(k), from = k == 0 ? "%n" : "%e" + std::to_string(k - 1);
    inside += end + " = add " + from + ", %d : i64\n" +
              loop("independent %zero, " + end + " { (%j" + std::to_string(k) + ")",
                   "store %y[%j" + std::to_string(k) + "*%one] = %n\n");
  }
  const std::string body = "%end = max %last, %d : i64\n" + loop("independent %first, %end { (%i)", inside);
  const int64_t once = workOf(body, 1000, 5, 1);
  EXPECT_NEAR(static_cast<double>(workOf(body, 10'000, 5, 1)), 10.0 * once, once * 0.01);
}

TEST(EstimateWork, WhatNobodyUsesTakesNoTime) {
  auto turns = [](const std::string& op) {
    return loop("independent %first, %last { (%i)",
                "%v = load %x[%i*%one] : i64\n" + op + "store %y[%i*%one] = %v\n");
  };
  EXPECT_EQ(workOf(turns("%w = mul %v, %v : i64\n"), 1000, 1), workOf(turns(""), 1000, 1));
}

TEST(EstimateWork, NothingThatMayFailIsDoneAhead) {
  // The divisor may be zero where no turn runs.
  EXPECT_GE(workOf("%q = idiv %n, %d : i64\n" + rows("", "%zero", "%q"), 1000, 500, 0), 0);
  const int64_t half =
      workOf("%two = const 2 : i64\n%q = idiv %n, %two : i64\n" + rows("", "%zero", "%q"), 1000, 500);
  EXPECT_NEAR(static_cast<double>(half), workOf(rows(), 1000, 250), 5);
}

TEST(EstimateWork, OfBranchesTheDearestCounts) {
  auto branch = [](const std::string& yes, const std::string& no) {
    return "%w = load %x[%zero*%one] : i64\n%c = cmp lt %w, %d : bool\nif %c {\n" + yes + "yield\n} {\n" +
           no + "yield\n}\n";
  };
  const int64_t one = workOf(rows(), 1000, 500);
  EXPECT_NEAR(static_cast<double>(workOf(branch(rows(), ""), 1000, 500)), one, 5);
  EXPECT_NEAR(static_cast<double>(workOf(branch(rows(), "store %y[%one*%one] = %n\n"), 1000, 500)), one, 5);
}

TEST(EstimateWork, OfBranchesThatLaunchesKnowTheOneThatIsTaken) {
  const std::string branch = "%c = cmp lt %n, %d : bool\nif %c {\n" + rows() + "yield\n} {\nyield\n}\n";
  EXPECT_NEAR(static_cast<double>(workOf(branch, 1000, 500, 501)), workOf(rows(), 1000, 500), 5);
  EXPECT_LE(workOf(branch, 1000, 500, 500), 5);
}

TEST(EstimateWork, WhatIsComputedAgainIsThereAlready) {
  std::string many = "%q0 = mul %n, %d : i64\n";
  for (int k = 1; k < 40; ++k) {
    const std::string n = std::to_string(k);
    many += "%p" + n + " = mul %n, %d : i64\n%q" + n + " = add %q" + std::to_string(k - 1) + ", %p" + n +
            " : i64\n";
  }
  const double work = static_cast<double>(workOf(many + rows("", "%zero", "%q39"), 1000, 100, 5));
  EXPECT_NEAR(work, workOf(rows(), 1000, 20000), 50)
      << "more statements than are worth it, many of them the same";
}

TEST(EstimateWork, AChainWaitsForItself) {
  auto sum = [](const std::string& type) {
    return loop("independent %first, %last { (%i)",
                "%s0 = const 0 : " + type + "\n%s = for %zero, %n, %s0 : " + type +
                    " { (%j, %a)\n%v = load %x[%j*%one] : " + type + "\n%b = add %a, %v : " + type +
                    "\nyield %b\n}\nstore %y[%i*%one] = %s\n");
  };
  EXPECT_GT(workOf(sum("f64"), 1000, 500), workOf(sum("i64"), 1000, 500));
}

/// A launch of 1,000 turns, each of which makes a tree, computes a number of %n terms and stores one of
/// them.
int64_t workOfTrees(const std::string& stored, int64_t n) {
  LoopsText loops(
      "enum Tree { Leaf(), Node(left: Tree, right: Tree) }\n\n"
      "fn @f(%m: i64, %n: i64, %x: data, %y: data) {\n  launch @k %m, %m, %n, %x, %y\n  yield\n}\n\n"
      "chunk @k(%first: i64, %last: i64, %n: i64, %x: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n"
      "for independent %first, %last { (%i)\n%w = call @tree %i : word\n"
      "%s = for %zero, %n, %zero : i64 { (%j, %a)\n%v = load %x[%j*%one] : i64\n"
      "%b = add %a, %v : i64\nyield %b\n}\n" +
      stored +
      "yield\n}\n  yield\n}\n\n"
      "fn @tree(%i: i64) -> word {\n  %zero = const 0 : i64\n  %isLeaf = cmp le %i, %zero : bool\n"
      "  %w = if %isLeaf : word {\n    %leaf = const 0 : word\n    yield %leaf\n  } {\n"
      "    %one = const 1 : i64\n    %less = sub %i, %one : i64\n    %left = call @tree %less : word\n"
      "    %right = call @tree %less : word\n    %node = alloc_node Tree bytes 24 : word\n"
      "    %tag = const 1 : i32\n    store %node by 4 = %tag\n    store %node at 8 = %left\n"
      "    store %node at 16 = %right\n    yield %node\n  }\n  yield %w\n}\n");
  EXPECT_EQ(loops.read.error, "");
  estimateLaunchCost(loops.module());
  EXPECT_EQ(verify(loops.module(), {State::CountsInserted}), "");
  const Function& fn = loops.module().functions[FunctionId(0)];
  for (const Stmt& s : fn.stmts)
    if (s.kind == StmtKind::Launch) return Evaluator(fn, {1000, n, 0, 0}).of(s.operands[1]);
  return -1;
}

TEST(EstimateWork, BlocksThatAreLeftBehindCountAgainstIt) {
  const std::string tree = "store %y[%i*%one] = %w\n", number = "drop %w\nstore %y[%i*%one] = %s\n";
  EXPECT_LT(workOfTrees(tree, 10), 1000);
  EXPECT_GT(workOfTrees(number, 10), 30'000);
  EXPECT_GT(workOfTrees(tree, 1000), 30'000); // the terms are worth it
}

} // namespace
} // namespace melix::loops
