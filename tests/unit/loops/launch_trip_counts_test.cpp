// What launches tell of the turns of kernels, from text.
#include "loops/kernels/launch_trip_counts.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// Of a kernel that is launched so.
Function launched(const std::string& launches) {
  Function kernel;
  textAfter("fn @f(%n: i64) {\n  %a = const 96 : i64\n  %b = const 160 : i64\n  %none = const 0 : i64\n  "
            "%less = const -4 : i64\n" +
                launches + "  yield\n}\n\nkernel @k(%first: i64, %last: i64) {\n  yield\n}\n",
            [&](Module& module) {
              inferLaunchTripCounts(module);
              kernel = module.functions[FunctionId(1)];
            });
  return kernel;
}

TEST(TurnsOfLaunches, AreMultiplesOfWhatAllAreMultiplesOf) {
  const std::string a = "  launch @k %a, %n\n", b = "  launch @k %b, %n\n", none = "  launch @k %none, %n\n",
                    some = "  launch @k %n, %n\n";
  EXPECT_EQ(launched(a).tripCount.tripCountMultipleOf, 96U);
  EXPECT_EQ(launched(a + b).tripCount.tripCountMultipleOf, 32U);
  EXPECT_EQ(launched(a + none).tripCount.tripCountMultipleOf, 96U);
  EXPECT_EQ(launched(a + some).tripCount.tripCountMultipleOf, 1U);
  EXPECT_EQ(launched(some + none).tripCount.tripCountMultipleOf, 1U);
  EXPECT_EQ(launched("").tripCount.tripCountMultipleOf, 1U);
  EXPECT_EQ(launched(a + "  launch @k %less, %n\n").tripCount.tripCountMultipleOf, 96U) << "as none";
}

} // namespace
} // namespace melix::loops
