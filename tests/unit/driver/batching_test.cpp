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

TEST(Batching, HasTiles) {
  for (const char* lanes : {"1", "3", "1000"})
    EXPECT_EQ(melixWith(lanes, "run -").output, melix("run -", rows).output) << lanes;
}

/// Rows of no array are stored by the tile.
TEST(Batching, NeedsTheMemoryOfATile) {
  setenv("MELIX_STATS", "1", 1);
  const std::string errors =
      melix("run -", "fn steps(x: f32[D], w: f32[D, D]) -> f32[D] {\n"
                     "  var h = x\n"
                     "  for t in 0..3 { h = tanh(h @ w) }\n"
                     "  h\n"
                     "}\n"
                     "fn main(n: int = 400_000, d: int = 16) {\n"
                     "  let w: f32[d, d] = 0.1 * normal(key(2)) as f32[d, d]\n"
                     "  print(sum(for i in 0..n: sum(steps(normal(fold_in(key(1), i)) as f32[d], w)^2)))\n"
                     "}\n")
          .errors;
  unsetenv("MELIX_STATS");
  const size_t at = errors.find("peak ");
  ASSERT_NE(at, std::string::npos) << errors;
  EXPECT_LT(std::stoll(errors.substr(at + 5)), 10'000'000) << errors; // all rows have 25 MB
}

TEST(Batching, TellsOfTablesAndTiles) {
  const std::string told = melix("explain-batching -", "fn main(n: int = 9, d: int = 16) {\n"
                                                       "  let w: f32[d, d] = eye()\n"
                                                       "  let x: f32[n, d] = ones()\n"
                                                       "  let at = [for i in 0..n: i * 2 % n]\n"
                                                       "  print([for i in 0..n: tanh(x[at[i]] @ w)])\n"
                                                       "  print(sum(for i in 0..n: {\n"
                                                       "    let h: f32[d] = normal(fold_in(key(1), i))\n"
                                                       "    sum(tanh(h @ w))\n"
                                                       "  }))\n"
                                                       "}\n")
                               .output;
  EXPECT_NE(told.find(":5: each row that examples look up is multiplied once"), std::string::npos) << told;
  EXPECT_NE(told.find(":6: examples are batched in tiles: they stand in no array"), std::string::npos)
      << told;
}

TEST(Batching, OtherValuesAreErrors) {
  for (const char* command : {"run -", "build - -o /dev/null", "explain-batching -"}) {
    const harness::ProcessResult run = melixWith("0", command);
    EXPECT_EQ(run.status, 2) << command;
    EXPECT_NE(run.errors.find("MELIX_LANES is `off`, a number of rows from 1, or is not set, not `0`"),
              std::string::npos)
        << run.errors;
  }
}

} // namespace
} // namespace melix::driver
