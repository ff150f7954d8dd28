// Footprints of terms: which operands vary with which axes, and whether they are the sides of a product.
#include "core/analysis/footprint.h"

#include "core/core_text.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"

namespace melix::core {
namespace {

/// A sum over %k, of what `ops` make of the axes %i, %j and %k, at each point of %i and %j.
struct Sum {
  TextModule text;
  FunctionId f;
  OpId nest;
  std::vector<ValueId> axes;

  explicit Sum(const std::string& ops)
      : text("fn f [N] (%x: f32[N, N], %y: f32[N, N], %z: f32[N, N, N], %b: i64[N]) -> (f32[N, N]) {\n"
             "  %r = nest (%i: N, %j: N, %k: N) -> keep[i, j] sum {\n" +
             ops + "    yield %v\n  } : f32[N, N]\n  yield %r\n}\n"),
        f(text.function("f")) {
    nest = fn().regions[fn().body].ops[0];
    const NestView view(fn(), fn().ops[nest]);
    axes.assign(view.axisParams().begin(), view.axisParams().end());
  }
  const Function& fn() const { return text.module.functions[f]; }
  Footprint footprint() const {
    return Footprints(text.module, f).of(nest, NestView(fn(), fn().ops[nest]).yields()[0]);
  }
  Sides sides() const { return sidesOf(text.module, fn(), nest); }
};

const std::string product = "    %a = get %x[%i, %k] : f32\n    %c = get %y[%k, %j] : f32\n";

TEST(Footprint, OfAProduct) {
  const Sum s(product + "    %v = mul %a, %c : f32\n");
  const Footprint term = s.footprint();
  ASSERT_EQ(term.operands.size(), 2u);
  EXPECT_EQ(term.operands[0], (Axes{s.axes[0], s.axes[2]}));
  EXPECT_EQ(term.operands[1], (Axes{s.axes[1], s.axes[2]}));
  EXPECT_TRUE(term.hasTwoSides());
  EXPECT_FALSE(term.within({s.axes[0], s.axes[2]}).hasTwoSides());
  EXPECT_EQ(s.sides().products, (std::vector<Sides::Product>{{1, 2}}));
}

TEST(Footprint, ADistanceIsAProductToo) {
  EXPECT_TRUE(Sum(product + "    %d = sub %a, %c : f32\n    %v = mul %d, %d : f32\n").sides().areTwo());
}

TEST(Footprint, DataVaryWithTheAxesOfTheirIndices) {
  const Sum s("    %p = get %b[%i] : i64\n    %a = get %x[%p, %k] : f32\n    %c = get %y[%k, %j] : f32\n"
              "    %v = mul %a, %c : f32\n");
  ASSERT_EQ(s.footprint().operands.size(), 2u) << "an index is no operand";
  EXPECT_TRUE(s.sides().areTwo());
}

TEST(Footprint, OneSideHoldsTheOther) {
  EXPECT_FALSE(Sum("    %a = get %z[%i, %j, %k] : f32\n    %c = get %y[%k, %j] : f32\n"
                   "    %v = mul %a, %c : f32\n")
                   .sides()
                   .areTwo());
  EXPECT_FALSE(Sum("    %a = get %x[%i, %j] : f32\n    %c = get %y[%k, %j] : f32\n"
                   "    %v = mul %a, %c : f32\n")
                   .sides()
                   .areTwo())
      << "only operands that vary with the reduced axis";
}

TEST(Footprint, ThirdOperandsDoNotHideAPair) {
  const Sum s("    %w = get %z[%i, %j, %k] : f32\n" + product +
              "    %p = mul %a, %c : f32\n    %v = mul %p, %w : f32\n");
  EXPECT_TRUE(s.footprint().hasTwoSides());
  EXPECT_TRUE(s.sides().areTwo());
}

TEST(Footprint, SumsInsideAreVisitedWithTheirPart) {
  const TextModule text(
      "fn f [N] (%x: f32[N, N], %y: f32[N, N]) -> (f32[N, N]) {\n"
      "  %r = nest (%i: N) -> collect[i] {\n    %row = nest (%j: N, %k: N) -> keep[j] sum {\n" +
      product +
      "      %v = mul %a, %c : f32\n      yield %v\n    } : f32[N]\n    yield %row\n"
      "  } : f32[N, N]\n  yield %r\n}\n");
  const Function& f = text.module.functions[text.function("f")];
  const OpId nest = f.regions[f.body].ops[0];
  size_t sums = 0;
  forEachSum(text.module, f, nest, [&](const SumInNest& sum) {
    ++sums;
    EXPECT_EQ(sum.part, f.regions[f.ops[nest].regions[0]].ops[0]);
    EXPECT_EQ(sum.reduced.size(), 1u);
    EXPECT_TRUE(sum.kept.hasTwoSides());
  });
  EXPECT_EQ(sums, 1u);
  EXPECT_EQ(sidesOf(text.module, f, nest).products, (std::vector<Sides::Product>{{1, 0}}))
      << "the other is inside";
}

} // namespace
} // namespace melix::core
