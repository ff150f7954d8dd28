// MELIX_LANES, which leaves batching out.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

namespace melix::driver {
namespace {

constexpr const char* rows = "fn steps(x: f64[D], w: f64[D, D]) -> f64[D] {\n"
                             "  var h = x\n"
                             "  for t in 0..3 { h = tanh(h @ w) }\n"
                             "  h\n"
                             "}\n"
                             "fn main(d: int = 16) {\n"
                             "  let xs = [for b in 0..8, j in 0..d: (b * j) as f64]\n"
                             "  print(sum([for b: steps(xs[b], eye())]))\n"
                             "}\n";

harness::ProcessResult melixWith(const char* lanes, const std::string& arguments) {
  setenv("MELIX_LANES", lanes, 1);
  harness::ProcessResult run = melix(arguments, rows);
  unsetenv("MELIX_LANES");
  return run;
}

TEST(Batching, IsLeftOut) {
  EXPECT_NE(melix("explain-batching -", rows).output.find("one loop for all examples"), std::string::npos);
  EXPECT_EQ(melixWith("off", "explain-batching -").output, "nothing here is batched\n");
  EXPECT_EQ(melixWith("off", "run -").output, melix("run -", rows).output);
}

TEST(Batching, OtherValuesAreErrors) {
  for (const char* command : {"run -", "build - -o /dev/null", "explain-batching -"}) {
    const harness::ProcessResult run = melixWith("8", command);
    EXPECT_EQ(run.status, 2) << command;
    EXPECT_NE(run.errors.find("MELIX_LANES is `off` or is not set, not `8`"), std::string::npos)
        << run.errors;
  }
}

} // namespace
} // namespace melix::driver
