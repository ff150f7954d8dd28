// Products of what a mask made zero.
#include "transforms/predication/predicate_by_zero_factor.h"

#include "transforms/pass_text.h"

#include <cmath>

namespace melix::transforms {
namespace {

using interp::Value;

/// Rows of %x under a mask %m of t and u, else %z, of which `row` makes the weights %w; their product with
/// %v.
std::string weighted(const std::string& mask, const std::string& row, const std::string& otherwise = "0.0",
                     const std::string& read = "%u$1, %e") {
  return "fn f (%x: f32[3, 3], %v: f32[3, 2]) -> (f32[3, 2]) {\n"
         "  %s = nest (%t: 3, %u: 3) -> collect[t, u] {\n" +
         mask + "    %c = get %x[%t, %u] : f32\n    %z = const " + otherwise +
         " : f32\n    %q = select %m, %c, %z : f32\n    yield %q\n  } : f32[3, 3]\n" + row +
         "  %y = nest (%i: 3, %e: 2, %u$1: 3) -> keep[i, e] sum {\n    %a = get %w[%i, %u$1] : f32\n"
         "    %b = get %v[" +
         read + "] : f32\n    %p = mul %a, %b : f32\n    yield %p\n  } : f32[3, 2]\n  yield %y\n}\n";
}
const char* const before = "    %m = cmp le %u, %t : bool\n";
const std::string same = "  %w = nest (%r: 3, %k: 3) -> collect[r, k] {\n    %g = get %s[%r, %k] : f32\n"
                         "    yield %g\n  } : f32[3, 3]\n";
/// What is left of the greatest of a row, by what it is together.
const std::string quotients =
    "  %w = nest (%r: 3) -> collect[r] {\n    %h = nest (%n: 3) -> keep[] max {\n"
    "      %g = get %s[%r, %n] : f32\n      yield %g\n    } : f32\n"
    "    %d, %o = nest (%k: 3) -> keep[] sum, collect[k] {\n      %g$1 = get %s[%r, %k] : f32\n"
    "      %j = sub %g$1, %h : f32\n      %exp = math exp %j : f32\n      yield %exp, %exp\n    } : f32, "
    "f32[3]\n"
    "    %l = nest (%f: 3) -> collect[f] {\n      %g$2 = get %o[%f] : f32\n      %q$1 = div %g$2, %d : f32\n"
    "      yield %q$1\n    } : f32[3]\n    yield %l\n  } : f32[3, 3]\n";

/// With these numbers in the array, whatever the pass does the values are the same.
PassText masked(const std::string& text, float odd = 1) {
  PassText m(text);
  const std::vector<float> x{1, 2, -3, 4, 5, 6, 7, odd, 9}, v{1, -2, 3, odd, -5, 6};
  m.apply(predicateByZeroFactor,
          {Value::floats(x, std::vector<int64_t>{3, 3}), Value::floats(v, std::vector<int64_t>{3, 2})});
  return m;
}
bool isMasked(const std::string& text) { return masked(text).count(" = if ") == 1; }

TEST(MaskZeros, OfWhatAMaskChooses) {
  EXPECT_TRUE(isMasked(weighted(before, same)));
  const PassText m = masked(weighted(before, same));
  EXPECT_EQ(m.count("keep[] and"), 1u) << "all of the other factor is finite: " << m.text();
  for (float odd : {INFINITY, -INFINITY, NAN, -0.0F}) masked(weighted(before, same), odd);
}

TEST(MaskZeros, OfExponentialsOfMinusInfinity) {
  PassText m(weighted(before, quotients, "0xff800000"));
  predicateByZeroFactor(m.module);
  m.expectVerified();
  EXPECT_EQ(m.count(" = if "), 1u) << m.text();
  EXPECT_EQ(m.count("bool[3]"), 1u) << "rows without a greatest one";
  EXPECT_FALSE(isMasked(weighted(before, quotients, "-9.0"))) << "small is not nothing";
}

TEST(MaskZeros, OfBands) {
  EXPECT_EQ(
      masked(
          weighted("    %m$1 = cmp le %u, %t : bool\n    %one = const 1 : i64\n    %d$1 = sub %t, %u : i64\n"
                   "    %m$2 = cmp le %d$1, %one : bool\n    %m = and %m$1, %m$2 : bool\n",
                   same))
          .count(" = or "),
      2u);
}

/// Sums by k of a factor that the body chooses by a condition, times elements of %v.
std::string chosen(const std::string& sizes, const std::string& condition,
                   const std::string& read = "%k, %j") {
  return "fn f [N] (%x: f32[N, N], %v: f32[N, 2]) -> (f32[N, 2]) {\n  %y = nest (" + sizes +
         ") -> keep[i, j] sum {\n    %m = cmp " + condition +
         " : bool\n    %q = if %m {\n      %a = get %x[%i, %k] : f32\n      yield %a\n    } {\n"
         "      %z = const 0.0 : f32\n      yield %z\n    } : f32\n    %b = get %v[" +
         read + "] : f32\n    %p = mul %q, %b : f32\n    yield %p\n  } : f32[N, 2]\n  yield %y\n}\n";
}

TEST(MaskZeros, OfFactorsThatTheBodyChooses) {
  const std::string text = chosen("%i: N, %j: 2, %k: N", "ge %k, %i");
  const PassText m = masked(text);
  EXPECT_EQ(m.count("-> keep[i, j] sum") + m.count("-> keep[i$1, j$1] sum"), 2u) << m.text();
  EXPECT_EQ(m.count("keep[] and"), 1u) << "all of the other factor is finite: " << m.text();
  EXPECT_EQ(m.count(" = if "), 3u) << m.text();
  for (float odd : {INFINITY, -INFINITY, NAN, -0.0F}) masked(text, odd);
  EXPECT_EQ(masked(chosen("%i: N, %j: 2, %k: N", "ge %j, %i")).count("keep[] and"), 0u)
      << "no axis of the sum";
  EXPECT_EQ(masked(chosen("%i: N, %j: 2, %k: N", "ge %k, %i", "%i, %j")).count("keep[] and"), 0u)
      << "the other factor does not vary with the sum";
  std::string shown = text;
  shown.replace(shown.find("      yield %a"), 14, "      %shown = debug %a : f32\n      yield %shown");
  EXPECT_EQ(masked(shown).count("keep[] and"), 0u) << "an effect is not copied";
}

TEST(MaskZeros, OthersStay) {
  EXPECT_FALSE(isMasked(weighted("    %n = get %x[%u, %t] : f32\n    %l$1 = const 0.0 : f32\n"
                                 "    %m = cmp lt %n, %l$1 : bool\n",
                                 same)))
      << "data decide";
  EXPECT_FALSE(isMasked(weighted(before, same, "1.0"))) << "not zero";
  EXPECT_FALSE(isMasked(weighted("    %one = const 1 : i64\n    %m = cmp le %t, %one : bool\n", same)))
      << "no term tells it apart";
  EXPECT_FALSE(isMasked(weighted(before, "  %zero = const 0 : i64\n" + same, "0.0", "%u$1, %zero")))
      << "of the other factor a part is read: all of it may be more than the product";
}

TEST(MaskZeros, AsksOnlySizesThatAreKnown) {
  const std::string mask = "    %n = dim_value dims [n] : i64\n    %l$1 = add %t, %n : i64\n"
                           "    %m = cmp lt %u, %l$1 : bool\n",
                    bind = "bind_dim %one defines [n]\n";
  std::string outside = weighted(mask, same);
  outside.insert(outside.find("  %s = nest"), "  %one = const 1 : i64\n  " + bind);
  EXPECT_TRUE(isMasked(outside));
  EXPECT_FALSE(isMasked(weighted("    %one = const 1 : i64\n    " + bind + mask, same))) << "a size of a row";
}

} // namespace
} // namespace melix::transforms
