// What is summed before it is added at places that indices choose, and where.
#include "transforms/accumulation/preaggregate_scatter.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// A nest over `axes` with %i and %j among them, which adds at places of %h.
struct Adding {
  std::string axes = "%i: 2, %j: 3";
  std::string body; ///< from the accumulator %a to %b
  std::vector<int64_t> shape;

  std::string text() const {
    std::string array = "f32[";
    for (size_t k = 0; k < shape.size(); ++k) array += (k > 0 ? ", " : "") + std::to_string(shape[k]);
    array += "]";
    std::string adds = body;
    for (size_t at; (at = adds.find("ACC")) != std::string::npos;) adds.replace(at, 3, "acc " + array);
    return "fn f (%at: i64[2], %x: f32[2, 3], %h: " + array + ") -> (" + array + ") {\n  %z = zero : i64\n" +
           "  %r = nest (" + axes + ") -> accs (%a = %h) {\n" + adds + "    yield %b\n  } : " + array +
           "\n  yield %r\n}\n";
  }
  std::vector<Value> arguments() const {
    const std::vector<int64_t> at{2, 1};
    const std::vector<int64_t> two{2};
    size_t size = 1;
    for (int64_t n : shape) size *= static_cast<size_t>(n);
    return {Value::array(types::TypeKind::I64, two, at.data()),
            Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}),
            Value::floats(std::vector<float>(size, 0.5F), shape)};
  }
};

const std::string reads = "    %p = get %at[%i] : i64\n    %v = get %x[%i, %j] : f32\n";

/// What the pass makes of it; the numbers are whole, and the results keep their bits.
struct Scattered : PassText {
  explicit Scattered(const Adding& adding) : PassText(adding.text()) {
    apply([](core::Module& m) { preaggregateScatter(m); }, adding.arguments());
  }
  /// Nests that sum, those that collect, and those that add.
  std::string nests() const {
    return std::to_string(count(" sum")) + " " + std::to_string(count("collect[")) + " " +
           std::to_string(count("-> accs"));
  }
};

TEST(SumBeforeScatter, TermsOfOnePlaceAreSummedAhead) {
  const Scattered m({.body = reads + "    %b = add_at %a[%p] += %v : ACC\n", .shape = {4}});
  EXPECT_EQ(m.nests(), "1 0 1") << m.text();
}

TEST(SumBeforeScatter, AxesThatAreIndicesAreRows) {
  const Scattered m(
      {.axes = "%j: 3, %i: 2", .body = reads + "    %b = add_at %a[%p, %j] += %v : ACC\n", .shape = {4, 3}});
  EXPECT_EQ(m.nests(), "0 0 2") << m.text();
  const Scattered same({.body = reads + "    %b = add_at %a[%p, %j] += %v : ACC\n", .shape = {4, 3}});
  EXPECT_EQ(same.nests(), "0 0 1") << same.text();
}

TEST(SumBeforeScatter, WholeRowsThatAreSumsAreAnArray) {
  const std::string row = R"(    %p = get %at[%i] : i64
    %s = nest (%k: 3, %l: 99) -> keep[k] sum {
      %v = get %x[%i, %k] : f32
      yield %v
    } : f32[3]
    %b = add_at %a[%p] += %s : ACC
)";
  const Scattered m({.axes = "%i: 2", .body = row, .shape = {4, 3}});
  EXPECT_EQ(m.nests(), "1 1 2") << m.text();
}

TEST(SumBeforeScatter, WhereDataSaysHowManyItIsSummedAtEachPoint) {
  const std::string inner = R"(    %n = get %at[%i] : i64
    bind_dim %n defines [n]
    %b = nest (%k: n) -> accs (%c = %a) {
      %p = add %n, %k : i64
      %v = get %x[%i, %j] : f32
      %d = add_at %c[%p] += %v : ACC
      yield %d
    } : ACC
)";
  const Scattered m({.body = inner, .shape = {4}});
  EXPECT_EQ(m.nests(), "1 0 2") << m.text();
  EXPECT_EQ(m.count("keep[] sum"), 1u) << m.text();
}

TEST(SumBeforeScatter, WhatIsDearIsKeptForWhatIsFurtherIn) {
  const std::string inner = R"(    %v = get %x[%i, %j] : f32
    %e = math exp %v : f32
    %b = nest (%k: 2) -> accs (%c = %a) {
      %p = get %at[%k] : i64
      %d = add_at %c[%p, %j] += %e : ACC
      yield %d
    } : ACC
)";
  const Scattered m({.body = inner, .shape = {4, 3}});
  EXPECT_EQ(m.nests(), "1 1 2") << m.text();
  EXPECT_EQ(m.count("math exp"), 1u) << m.text();
}

/// A loop for each point would run for each element of the row: the nest keeps its result.
TEST(SumBeforeScatter, WhatOnePointComputesForARowIsNotComputedForItsElements) {
  const std::string row = R"(    %n = const 3 : i64
    %m = for collects 1 %n defines [n] { (%t: i64)
      %v = get %x[%i, %t] : f32
      %e = math exp %v : f32
      yield %e
    } : f32[n]
    %s = nest (%k: 3, %l: n) -> keep[k] sum {
      %v$1 = get %m[%l] : f32
      yield %v$1
    } : f32[3]
    %b = add_at %a += %s : ACC
)";
  const Scattered m({.axes = "%i: 2", .body = row, .shape = {3}});
  EXPECT_EQ(m.nests(), "1 0 1") << m.text();
}

/// An add of a term of three where `condition` holds.
std::string under(const std::string& condition) {
  return "    %p = get %at[%i] : i64\n" + condition + R"(
    %b = if %c {
      %v = get %x[%i, %j] : f32
      %d = add_at %a[%p] += %v : ACC
      yield %d
    } {
      yield %a
    } : ACC
)";
}

TEST(SumBeforeScatter, APlaceIsAddedToOnlyIfTheConditionHoldsThere) {
  const Scattered m({.body = under("    %c = cmp lt %p, %i : bool"), .shape = {4}});
  EXPECT_EQ(m.nests(), "1 0 1") << m.text();
  EXPECT_EQ(m.count("if "), 2u) << m.text();
}

TEST(SumBeforeScatter, NotWhereNoTermMayReachAPlaceThatMayNotExist) {
  const Scattered m({.body = under("    %c = cmp lt %p, %j : bool"), .shape = {4}});
  EXPECT_EQ(m.nests(), "0 0 1") << m.text();
}

TEST(SumBeforeScatter, OfNoTermsNothingIsAdded) {
  const Scattered m({.axes = "%i: 2, %j: 0",
                     .body =
                         "    %p = const 9 : i64\n    %q = add %p, %i : i64\n    %v = get %x[%i, %j] : f32\n"
                         "    %b = add_at %a[%q] += %v : ACC\n",
                     .shape = {4}});
  EXPECT_EQ(m.count("if "), 0u) << m.text();
}

} // namespace
} // namespace melix::transforms
