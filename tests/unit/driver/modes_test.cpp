// Every mode runs the same Core: sums of floats, of which each order gives other bits, print the same
// whatever runs them and with any number of threads (rule 19).
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace melix::driver {
namespace {

/// Sums whose bits depend on their order: of all shapes, of products, in derivatives, of more than one block.
const char* const sums = R"(fn value(i: int) -> f32 = ((i * 7919 % 1009) as f32 - 37.3) / 37.3
fn energy(w: f32[N, M]) -> f32 = sum((w @ transpose(w)) ^ 2) / (N * M) as f32
fn hash(x: f32[N]) -> u32 = {
  var h: u32 = 17
  for v in x { h = h * 16777619 + bits(v) }
  h
}
fn told() -> str {
  let x = [for i in 0..90, j in 0..101: value(101 * i + j)]
  let long = [for i in 0..20000: value(i)]
  let few = [for i in 0..5000, c in 0..3: value(3 * i + c)]
  let weights = [0.3, 0.7, 1.1]
  let rows = hash([for i: sum(for j: x[i, j])])
  let columns = hash([for j: sum(for i: x[i, j] * x[i, 0])])
  let product = transpose(x) @ x
  let slopes = grad(energy)(x)
  let mixed = sum(for i, c: few[i, c] * weights[c])
  "{bits(sum(x))} {rows} {columns} {bits(sum(long))} {bits(sum(long * long))} {bits(mixed)} {bits(sum(product))} {bits(sum(slopes))} {bits(prod(1 + few / 65536))} {bits(sum(exp(-x * x)))}"
}
)";

class Modes : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("melix_modes_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(file()) << sums << "print(told())\n";
    expected_ = melix("run " + file()).output;
    ASSERT_FALSE(expected_.empty());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const char* name = "sums.mlx") const { return (folder_ / name).string(); }
  void expectSame(const std::string& arguments) const {
    const harness::ProcessResult r = melix(arguments + " " + file());
    EXPECT_EQ(r.output, expected_) << arguments << "\n" << r.errors;
  }

  std::filesystem::path folder_;
  std::string expected_;
};

TEST_F(Modes, CompiledInterpretedAndUnoptimisedPrintTheSame) {
  expectSame("run -O0");
  expectSame("run --interpret");
}

TEST_F(Modes, AnyNumberOfThreadsPrintsTheSame) {
  for (const char* threads : {"1", "2", "3", "7"}) {
    setenv("MELIX_THREADS", threads, 1);
    expectSame("run");
    expectSame("run -O0");
  }
  unsetenv("MELIX_THREADS");
}

TEST_F(Modes, ExecutablesPrintTheSame) {
  const std::string program = file("program");
  for (const char* how : {"build", "build -O0"}) {
    EXPECT_EQ(melix(std::string(how) + " -o " + program + " " + file()).status, 0);
    EXPECT_EQ(harness::runProcess({program}).output, expected_) << how;
  }
}

TEST_F(Modes, TestsAndThePromptComputeTheSame) {
  std::string wanted = expected_;
  wanted.pop_back();
  std::ofstream(file("tests.mlx")) << sums << "test \"bits\" {\n  assert told() == \"" << wanted << "\"\n}\n";
  const harness::ProcessResult tested = melix("test " + file("tests.mlx"));
  EXPECT_EQ(tested.status, 0) << tested.output << tested.errors;
  const harness::ProcessResult typed = melix("repl", std::string(sums) + "\nprint(told())\n");
  EXPECT_NE(typed.output.find(wanted), std::string::npos) << typed.output << typed.errors;
}

} // namespace
} // namespace melix::driver
