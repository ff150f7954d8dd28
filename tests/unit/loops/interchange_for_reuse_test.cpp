// Which loop of points goes next to the columns of a sum, from text.
#include "loops/tiles/interchange_for_reuse.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// Points %t, %h and %e around a sum over %d of the row %x[%t] times `shared`; the loop over %h begins as
/// `heads` says.
std::string ordered(const std::string& shared, const std::string& heads = "independent %zero, %n",
                    const std::string& beside = "") {
  return textAfter(
      "kernel @p(%0: i64, %1: i64, %n: i64, %m: i64, %k: i64, %x: data, %w: data, %r: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %nought = const 0.0 : f32\n"
      "  %p = mul %n, %m : i64\n  for independent %0, %1 { (%t)\n    %q = mul %t, %k : i64\n" +
          beside + "    for " + heads +
          " { (%h)\n      %z = const 0 : i64\n      for independent %z, %m { (%e)\n"
          "        %s = for %zero, %k, %nought : f32 { (%d, %c)\n"
          "          %a = load %x[%q*%one + %d*%one] : f32\n          %b = load %w[" +
          shared +
          "] : f32\n          %f = fma %a, %b, %c : f32\n          yield %f\n        }\n"
          "        store %r[%t*%p + %h*%m + %e*%one] = %s\n        yield\n      }\n      yield\n    }\n"
          "    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        for (Function& fn : module.functions) interchangeForReuse(module, fn);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
/// Whether the loop over %t stands in that over %h.
bool isInside(const std::string& text) { return text.find("(%h)") < text.find("(%t)"); }

TEST(OrderRows, PointsThatShareWhatColumnsReadGoNextToThem) {
  const std::string text = ordered("%d*%p + %h*%m + %e*%one");
  EXPECT_TRUE(isInside(text)) << text;
  EXPECT_LT(text.find("(%t)"), text.find("(%e)")) << text;
  EXPECT_GT(text.find("mul %t, %k"), text.find("(%t)")) << "numbers go along: " << text;
  EXPECT_LT(text.find("mul %t, %k"), text.find("(%e)")) << "and stay in front of the columns: " << text;
  EXPECT_TRUE(isInside(ordered("%h*%p + %e*%k + %d*%one"))) << "columns apart";
}

TEST(OrderRows, NotWhereTheLoopAroundTheColumnsSharesIt) {
  EXPECT_FALSE(isInside(ordered("%d*%m + %e*%one"))) << "of all points";
  EXPECT_FALSE(isInside(ordered("%t*%p + %d*%m + %e*%one"))) << "batches are %t";
}

TEST(OrderRows, NotWhereNobodySharesIt) {
  EXPECT_FALSE(isInside(ordered("%t*%p + %h*%m + %d*%n + %e*%one")));
}

TEST(OrderRows, NotOfLoopsWhoseEndsDifferOrThatHoldMore) {
  EXPECT_FALSE(isInside(ordered("%d*%p + %h*%m + %e*%one", "independent %zero, %t")));
  EXPECT_FALSE(isInside(ordered("%d*%p + %h*%m + %e*%one", "%zero, %n"))) << "one after another";
  EXPECT_FALSE(isInside(
      ordered("%d*%p + %h*%m + %e*%one", "independent %zero, %n", "    store %r[%t*%one] = %nought\n")));
}

} // namespace
} // namespace melix::loops
