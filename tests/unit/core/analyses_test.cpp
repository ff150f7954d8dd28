// Analyses that are kept: until the function changes, and a change that raises no version is found.
#include "core/analysis/access.h"
#include "core/analysis/check_analyses.h"
#include "core/analysis/ranges.h"
#include "core/core_text.h"
#include "core/ir/build.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"

namespace melix::core {
namespace {

constexpr const char* text = R"(fn f (%a: f32) -> (f32) {
  %s = add %a, %a : f32
  %u = mul %s, %a : f32
  yield %u
}
fn g (%a: f32) -> (f32) {
  %s = call @f %a : f32
  yield %s
}
)";

struct AnalysesTest : testing::Test {
  TextModule m{text};
  Module& module = m.module;
  FunctionId f = m.function("f"), g = m.function("g");
  Op& op(FunctionId id, size_t k) {
    Function& fn = module.functions[id];
    return fn.ops[fn.regions[fn.body].ops[k]];
  }
};

TEST_F(AnalysesTest, KeptWhileTheVersionIsTheSame) {
  const auto first = analysis<Uses>(module, f);
  EXPECT_EQ(first, analysis<Uses>(module, f));
  EXPECT_NE(first, analysis<Uses>(module, g));
  module.functions[g].version.raise();
  EXPECT_EQ(first, analysis<Uses>(module, f));
  module.functions[f].version.raise();
  const auto second = analysis<Uses>(module, f);
  EXPECT_NE(first, second);
  EXPECT_EQ(*first, *second); // nothing had changed
}

TEST_F(AnalysesTest, AResultThatIsHeldStays) {
  const auto held = analysis<Uses>(module, f);
  const ValueId a = module.functions[f].params()[0];
  LiveUses uses(module, f);
  uses.change(module.functions[f].regions[module.functions[f].body].ops[1],
              [&](Op& op) { op.operands[0] = a; });
  EXPECT_EQ(held->count(a), 3u);
  EXPECT_EQ(uses.count(a), 4u);
  EXPECT_EQ(analysis<Uses>(module, f)->count(a), 4u);
}

TEST_F(AnalysesTest, BuildersRaiseVersions) {
  const Version::State before = module.functions[f].version.state();
  Builder b(module, f, module.functions[f].body, {});
  b.integer(1);
  EXPECT_NE(before, module.functions[f].version.state());
}

TEST_F(AnalysesTest, ACopyIsAnotherFunction) {
  const Function copy = module.functions[f];
  EXPECT_NE(copy.version.state(), module.functions[f].version.state());
}

TEST_F(AnalysesTest, EffectsFollowAChange) {
  EXPECT_FALSE(Effects(module).ofFunction(g).any());
  op(f, 0).kind = OpKind::Panic;
  op(f, 0).operands.clear();
  module.functions[f].version.raise();
  EXPECT_TRUE(Effects(module).ofFunction(g).any());
}

TEST_F(AnalysesTest, ASilentChangeIsFound) {
  module.analyses->checks = Analyses::Checks::On;
  analysis<Uses>(module, f);
  EXPECT_EQ(checkAnalyses(module, "a pass"), "");
  op(f, 1).operands[0] = module.functions[f].params()[0];
  const std::string found = checkAnalyses(module, "a pass");
  EXPECT_NE(found.find("a pass"), std::string::npos) << found;
  EXPECT_NE(found.find("`f`"), std::string::npos) << found;
}

TEST_F(AnalysesTest, AChangeOfTextAloneIsFound) {
  module.analyses->checks = Analyses::Checks::On;
  EXPECT_EQ(checkAnalyses(module, "a pass"), "");
  op(f, 1).kind = OpKind::Sub;
  EXPECT_NE(checkAnalyses(module, "a pass"), "");
}

} // namespace
} // namespace melix::core
