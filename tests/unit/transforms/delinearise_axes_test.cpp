// Axes that are divided become two, where sums are products by that.
#include "transforms/axis_splitting/delinearise_axes.h"

#include "transforms/accumulation/delinearise_accumulators.h"
#include "transforms/pass_text.h"
#include "transforms/predication/version_nests.h"

#include <array>

namespace melix::transforms {
namespace {

using interp::Value;

/// The axes of the first nest, behind the pass.
template <class Pass>
std::string axesAfter(const std::string& text, Pass pass, const std::vector<Value>& args = {}) {
  PassText m(text);
  m.apply(pass, args);
  const std::string out = m.text();
  const size_t begin = out.find("nest (");
  return out.substr(begin + 5, out.find(")", begin) - begin - 4);
}
std::string split(const std::string& text, const std::vector<Value>& args = {}) {
  return axesAfter(text, delineariseAxes, args);
}

/// Rows of %v with weights %w that the quotients of its columns choose.
std::string heads(const std::string& sizes, const std::string& extent, const std::string& divisor) {
  return "fn f [" + sizes + "] (%w: f32[H, 2, 3], %v: f32[3, " + extent + "], %e: i64) -> (f32[2, " + extent +
         "]) keep {\n" + divisor + "  %o = nest (%t: 2, %d: " + extent +
         ") -> collect[t, d] {\n    %s = nest (%u: 3) -> keep[] sum {\n      %h = idiv %d, %by : i64\n"
         "      check index \"out of range\" %h dims [H]\n      %a = get %w[%h, %t, %u] : f32\n"
         "      %b = get %v[%u, %d] : f32\n      %p = mul %a, %b : f32\n      yield %p\n    } : f32\n"
         "    yield %s\n  } : f32[2, " +
         extent + "]\n  yield %o\n}\n";
}
const char* const bySize = "  %by = dim_value dims [E] : i64\n";
const char* const byNumber = "  %zero = const 0 : i64\n  %by = add %e, %zero : i64\n";

Value numbers(std::vector<int64_t> shape) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  std::vector<float> out;
  for (int64_t k = 0; k < size; ++k) out.push_back(static_cast<float>((7 * k) % 5) - 2);
  return Value::floats(out, shape);
}
std::vector<Value> arguments(int64_t keys, int64_t columns, int64_t e) {
  return {numbers({keys, 2, 3}), numbers({3, columns}), Value::integer(e)};
}

TEST(SplitAxes, OfExtentsThatAreProducts) {
  EXPECT_EQ(split(heads("H, E", "H*E", bySize)), "(%t: 2, %d: H, %d$1: E)");
  EXPECT_EQ(split(heads("H", "12*H", "  %by = const 6 : i64\n")), "(%t: 2, %d: 2*H, %d$1: 6)");
  EXPECT_EQ(split(heads("H", "8", "  %by = const 4 : i64\n"), arguments(2, 8, 0)), "(%t: 2, %d: 2, %d$1: 4)");
}

TEST(SplitAxes, NotOfOthers) {
  EXPECT_EQ(split(heads("H, D, E", "D", bySize)), "(%t: 2, %d: D)");
  EXPECT_EQ(split(heads("H", "9", "  %by = const 4 : i64\n")), "(%t: 2, %d: 9)");
  EXPECT_EQ(split(heads("H", "4", "  %by = const 4 : i64\n")), "(%t: 2, %d: 4)") << "a quotient of 0";
}

/// Heads that share keys have a row of their own beside the quotient.
TEST(SplitAxes, NotWhereEachSideHasAnAxisOfItsOwn) {
  EXPECT_EQ(
      split("fn f (%q: f32[4, 5, 3], %k: f32[2, 6, 3]) -> (f32[4, 5, 6]) {\n  %by = const 2 : i64\n"
            "  %s = nest (%h: 4, %t: 5, %u: 6, %e: 3) -> keep[h, t, u] sum {\n    %g = idiv %h, %by : i64\n"
            "    %a = get %q[%h, %t, %e] : f32\n    %b = get %k[%g, %u, %e] : f32\n"
            "    %p = mul %a, %b : f32\n    yield %p\n  } : f32[4, 5, 6]\n  yield %s\n}\n"),
      "(%h: 4, %t: 5, %u: 6, %e: 3)");
}

/// A patch of an image by one index, by quotients and remainders of quotients and by those of multiples.
std::string patches(const std::string& indices) {
  return "fn f [C] (%x: f32[3, 2, C], %w: f32[6*C]) -> (f32) {\n  %c = dim_value dims [C] : i64\n"
         "  %two = const 2 : i64\n  %all = dim_value dims [2*C] : i64\n"
         "  %s = nest (%p: 6*C) -> keep[] sum {\n" +
         indices +
         "    %k = irem %p, %c : i64\n    %a = get %x[%i, %j, %k] : f32\n    %b = get %w[%p] : f32\n"
         "    %y = mul %a, %b : f32\n    yield %y\n  } : f32\n  yield %s\n}\n";
}
TEST(SplitAxes, AgainAndAgain) {
  const std::string quotients =
      "    %q = idiv %p, %c : i64\n    %i = idiv %q, %two : i64\n    %j = irem %q, %two : i64\n";
  const std::string multiples =
      "    %i = idiv %p, %all : i64\n    %r = irem %p, %all : i64\n    %j = idiv %r, %c : i64\n";
  const std::vector<Value> args = {numbers({3, 2, 5}), numbers({30})};
  EXPECT_EQ(split(patches(quotients), args), "(%p: 3, %p$1: 2, %p$2: C)");
  EXPECT_EQ(split(patches(multiples), args), "(%p: 3, %p$1: 2, %p$2: C)");
}

TEST(SplitAxes, OfAccumulatorsAndResultsInAnotherOrder) {
  const std::string text =
      "fn f [H, E] (%w: f32[H, 3], %v: f32[3, H*E]) -> (f32[H*E, 2], f32[H, 3]) keep {\n"
      "  %by = dim_value dims [E] : i64\n  %z = zero : f32[H, 3]\n"
      "  %o, %g = nest (%t: 2, %d: H*E) -> collect[d, t] accs (%acc = %z) {\n    %h = idiv %d, %by : i64\n"
      "    %s, %n = nest (%u: 3) -> keep[] sum accs (%a = %acc) {\n      %x = get %w[%h, %u] : f32\n"
      "      %y = get %v[%u, %d] : f32\n      %p = mul %x, %y : f32\n"
      "      %m = add_at %a[%h, %u] += %y : acc f32[H, 3]\n      yield %p, %m\n"
      "    } : f32, acc f32[H, 3]\n    yield %s, %n\n  } : f32[H*E, 2], f32[H, 3]\n  yield %o, %g\n}\n";
  EXPECT_EQ(split(text, {numbers({2, 3}), numbers({3, 8})}), "(%t: 2, %d: H, %d$1: E)");
}

// --- extents of which only the run knows that they are products

TEST(VersionAxes, IsAskedInFront) {
  for (auto [keys, columns, e] : std::vector<std::array<int64_t, 3>>{
           {3, 6, 2}, {3, 5, 2}, {4, 6, 2}, {2, 6, 2}, {1, 0, 3}, {2, 6, 0}, {2, 6, -3}, {1, 3, 1 << 30}}) {
    PassText m(heads("H, D", "D", byNumber));
    m.apply(versionAxes, arguments(keys, columns, e));
    m.apply(delineariseAxes, arguments(keys, columns, e));
    EXPECT_NE(m.text().find("f32[2, H*divisor]"), std::string::npos) << m.text();
  }
}

TEST(VersionAxes, NotOfKnownExtentsNorWhereAxesAreNoBetterTwo) {
  PassText product(heads("H, E", "H*E", bySize));
  product.apply(versionAxes);
  EXPECT_EQ(product.count("if "), 0U);
  PassText alone("fn f [D] (%x: f32[D], %e: i64) -> (f32) {\n  %s = nest (%d: D) -> keep[] sum {\n"
                 "    %q = idiv %d, %e : i64\n    %a = get %x[%q] : f32\n    yield %a\n  } : f32\n"
                 "  yield %s\n}\n");
  alone.apply(versionAxes);
  EXPECT_EQ(alone.count("if "), 0U);
}

// --- places of accumulators

std::string places(const std::string& index) {
  return "fn f [H, E] (%v: f32[H, E]) -> (f32[H*E, 2]) keep {\n  %z = zero : f32[H*E, 2]\n"
         "  %by = dim_value dims [E] : i64\n"
         "  %g = nest (%h: H, %e: E) -> accs (%a = %z) {\n    %first = mul %h, %by : i64\n" +
         index +
         "    %x = get %v[%h, %e] : f32\n    %n = nest (%t: 2) -> accs (%b = %a) {\n"
         "      %m = add_at %b[%d, %t] += %x : acc f32[H*E, 2]\n      yield %m\n    } : acc f32[H*E, 2]\n"
         "    yield %n\n  } : f32[H*E, 2]\n  yield %g\n}\n";
}

TEST(SplitPlaces, OfMultiplesAndAnAxis) {
  PassText m(places("    %d = add %first, %e : i64\n"));
  m.apply(delineariseAccumulators, {numbers({3, 4})});
  EXPECT_NE(m.text().find("[%h, %e, %t] += %x : acc f32[H, E, 2]"), std::string::npos) << m.text();
}

TEST(SplitPlaces, NotOfOtherSums) {
  PassText m(
      places("    %one = const 1 : i64\n    %r = irem %e, %one : i64\n    %d = add %first, %r : i64\n"));
  m.apply(delineariseAccumulators, {numbers({3, 4})});
  EXPECT_EQ(m.count("reshape"), 0U) << m.text();
}

/// A multiple that may be any number may wrap to what is in range.
TEST(SplitPlaces, NotOfMultiplesThatAreNoIndex) {
  PassText m(places("    %q = irem %h, %by : i64\n    %f = mul %q, %by : i64\n    %d = add %f, %e : i64\n"));
  m.apply(delineariseAccumulators);
  EXPECT_EQ(m.count("reshape"), 0U) << m.text();
}

/// By two or three, results of an axis of their own are short.
TEST(SplitAxes, NotByFewWhereResultsKeepTheAxis) {
  EXPECT_EQ(split(heads("H", "6*H", "  %by = const 2 : i64\n")), "(%t: 2, %d: 6*H)");
}

} // namespace
} // namespace melix::transforms
