// Sums that go into the branches which give their factors, from text.
#include "loops/index_sets/sink_fma_into_branch.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A sum over %k of what `chosen` gives as %x and %y, with `between` in front of the sum.
std::string sunk(const std::string& chosen, const std::string& between = "") {
  return textAfter("kernel @p(%first: i64, %last: i64, %n: i64, %e: data, %w: data, %r: data) {\n"
                   "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %begun = const 0.0 : f32\n"
                   "  for independent %first, %last { (%i)\n"
                   "    %s = for %zero, %n, %begun : f32 { (%k, %c)\n      %m = cmp lt %k, %i : bool\n" +
                       chosen + between +
                       "      %t = fma %x, %y, %c : f32\n      yield %t\n    }\n"
                       "    store %r[%i*%one] = %s\n    yield\n  }\n  yield\n}\n",
                   [](Module& module) {
                     for (Function& fn : module.functions) sinkFmaIntoBranch(module, fn);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}
const std::string masked = "      %x, %y = if %m : f32, f32 {\n        %a = load %e[%k*%one] : f32\n"
                           "        %b = load %w[%k*%one] : f32\n        yield %a, %b\n      } {\n"
                           "        %p = const 0.0 : f32\n        %q = const -0.0 : f32\n"
                           "        yield %p, %q\n      }\n";
bool isSunk(const std::string& text) {
  return text.find(" = fma %a, %b, %c") != std::string::npos && text.find("yield %c") != std::string::npos;
}

TEST(SinkSums, IntoTheBranchThatGivesTheFactors) {
  EXPECT_TRUE(isSunk(sunk(masked))) << sunk(masked);
  EXPECT_TRUE(isSunk(sunk(masked, "      %d = load %r[%k*%one] : f32\n")));
}

TEST(SinkSums, NotPastWhatWrites) {
  EXPECT_FALSE(isSunk(sunk(masked, "      store %r[%k*%one] = %begun\n")));
}

TEST(SinkSums, IntoBranchesWithinBranches) {
  const std::string nested = "      %x, %y = if %m : f32, f32 {\n        %g = cmp gt %k, %zero : bool\n"
                             "        %u, %v = if %g : f32, f32 {\n          %a = load %e[%k*%one] : f32\n"
                             "          %b = load %w[%k*%one] : f32\n          yield %a, %b\n        } {\n"
                             "          %p = const 0.0 : f32\n          %q = const -0.0 : f32\n"
                             "          yield %p, %q\n        }\n        yield %u, %v\n      } {\n"
                             "        %p2 = const 0.0 : f32\n        %q2 = const -0.0 : f32\n"
                             "        yield %p2, %q2\n      }\n";
  const std::string text = sunk(nested);
  EXPECT_TRUE(isSunk(text)) << text;
  EXPECT_EQ(text.find("fma %u"), std::string::npos) << text;
}

TEST(SinkSums, OtherConstantsAreAdded) {
  std::string other = masked;
  other.replace(other.find("const -0.0"), 10, "const 0.0");
  const std::string text = sunk(other);
  EXPECT_EQ(text.find("yield %c"), std::string::npos) << "+0 is added to what may be -0";
}

} // namespace
} // namespace melix::loops
