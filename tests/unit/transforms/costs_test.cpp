// What values cost, and when they are computed again instead of kept.
#include "core/ir/nest.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

/// The cost of the body of `f`.
Cost costOf(std::string_view ops) {
  PassText m("fn f [N] (%x: f32[N], %i: i64, %c: bool) -> () {\n" + std::string(ops) + "  yield\n}\n");
  m.expectVerified();
  const core::Function& f = m.module.functions[core::findFunction(m.module, "f")];
  return Costs(m.module, f).ofRegion(f.body);
}

TEST(Costs, ArithmeticCountsAndReadsDo) {
  const Cost c = costOf("  %a = get %x[%i] : f32\n  %b = mul %a, %a : f32\n  %d = div %b, %a : f32\n");
  EXPECT_EQ(c.flops, 1 + quotientFlops);
  EXPECT_EQ(c.reads, 1u);
  EXPECT_EQ(c.bytes, 4u);
  EXPECT_FALSE(isExpensive(c));
  EXPECT_TRUE(mayRepeat(c, 1, Storage::Array));
  EXPECT_FALSE(mayRepeat(c, 1, Storage::PerPoint));
  EXPECT_FALSE(mayRepeat(c, 1000000000000, Storage::Array));
}

TEST(Costs, AnElementaryFunctionIsDearAndMayRepeatOnce) {
  const Cost c = costOf("  %a = get %x[%i] : f32\n  %b = math exp %a : f32\n");
  EXPECT_TRUE(isExpensive(c));
  EXPECT_TRUE(mayRepeat(c, 1, Storage::Array));
  EXPECT_FALSE(mayRepeat(c, 2, Storage::Array));
  EXPECT_FALSE(mayRepeat(c, 1, Storage::PerPoint));
}

TEST(Costs, OneBranchOfSeveralRuns) {
  const Cost c = costOf(R"(  %a = get %x[%i] : f32
  %r = if %c {
    %b = math exp %a : f32
    yield %b
  } {
    %d = math log %a : f32
    yield %d
  } : f32
)");
  EXPECT_EQ(c.flops, mathFlops);
}

TEST(Costs, ASmallNestIsItsPointsAndALargeOneASweep) {
  const Cost few = costOf(R"(  %s = nest (%k: 3) -> keep[] sum {
    %a = get %x[%k] : f32
    %b = mul %a, %a : f32
    yield %b
  } : f32
)");
  EXPECT_EQ(few.flops, 3u);
  EXPECT_FALSE(few.unbounded);
  const Cost many = costOf(R"(  %s = nest (%k: N) -> keep[] sum {
    %a = get %x[%k] : f32
    yield %a
  } : f32
)");
  EXPECT_TRUE(many.unbounded);
  EXPECT_FALSE(mayRepeat(many, 1, Storage::Array));
  EXPECT_TRUE(mayRepeat(many, 0, Storage::PerPoint));
}

} // namespace
} // namespace melix::transforms
