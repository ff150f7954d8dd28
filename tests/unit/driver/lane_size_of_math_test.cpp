// What a loop over an elementary function in lanes costs to compile: its code stays small.
#include "driver/melix_process.h"
#include "harness/ir_size.h"

#include <gtest/gtest.h>

namespace melix::driver {
namespace {

/// LLVM instructions of the kernel of a nest over this function, for a processor.
size_t instructionsOf(const std::string& function, const std::string& cpu) {
  const harness::ProcessResult shown =
      melix("show --stage llvm --cpu " + cpu +
            " -e 'fn main(n: int) { let all = [for i in 0..n: i as f32]; let x = black_box(all); "
            "let y = [for i: " +
            function + "(x[i])]; print(black_box(y)[0]) }'");
  EXPECT_EQ(shown.status, 0) << shown.errors;
  const size_t count = harness::instructionsOf(shown.output, "loop1");
  EXPECT_GT(count, 0u);
  return count;
}

TEST(LaneSizeOfMath, OfANestOverOne) {
  for (const char* cpu : {"native", "x86-64-v3"}) {
    EXPECT_LE(instructionsOf("exp", cpu), 115u) << cpu;
    EXPECT_LE(instructionsOf("tanh", cpu), 105u) << cpu;
    EXPECT_LE(instructionsOf("sin", cpu), 330u) << cpu;
  }
}

} // namespace
} // namespace melix::driver
