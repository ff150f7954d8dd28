// Scalars, calls and control flow in compiled code.
#include "jit/program.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

int64_t resultOf(std::string_view text) {
  Outcome outcome = run(text);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.status, MELIX_OK) << outcome.panic;
  EXPECT_EQ(outcome.stats.liveBlocks, 0);
  return outcome.result;
}

TEST(Scalars, AddsAndCalls) {
  EXPECT_EQ(resultOf(R"(
fn square (%x: i64) -> (i64) {
  %r = mul %x, %x : i64
  yield %r
}
fn main () -> (i64) {
  %a = const 6 : i64
  %b = call @square %a : i64
  %c = add %b, %a : i64
  yield %c
}
)"),
            42);
}

} // namespace
} // namespace melix::jit
