// The example networks train on little data, with the same numbers from every way to run them; where the
// programs and data that lie beside the checkout are there, these do too.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace melix::driver {
namespace {

const std::string examples = MELIX_SOURCE_DIR "/examples/", shared = MELIX_SOURCE_DIR "/../shared/";

/// Handwritten digits of 8x8 pixels, each three times as wide and high and with a border, as files like
/// MNIST's.
const char* const digitsLikeMnist = R"(use csv, idx
fn main(table: str, to: str, count: int) -> Result {
  let rows: u8[?N, 65] = csv.read(table)?
  let images = [for n in 0..count, y in 0..28, x in 0..28:
    if min(x, y) >= 2 and max(x, y) < 26 { 15 * rows[n, 8 * ((y - 2) / 3) + (x - 2) / 3] } else { 0 }]
  idx.write("{to}/train-images-idx3-ubyte.gz", images)?
  idx.write("{to}/train-labels-idx1-ubyte.gz", [for n in 0..count: rows[n, 64]])
})";

/// In place of the `main` of chargpt.mlx: a small network, a few steps on one text; loss before and after,
/// and what it writes then.
const char* const trainingOfGpt = R"(
fn main(steps: int, rate: f64 = 1e-2) -> Result {
  let text = "the cat sat on the mat. the dog sat on the log. "
  let codes = [for c in text.bytes: if c as int >= 97 { c as i32 - 95 } else if c as int == 46 { 1 } else { 0 }]
  var p: Gpt[28, 64, 2, 8, 2, 4, 16] = nn.init(key(1))
  var opt = optim.adam(p, rate: rate)
  let rows = [for b in 0..4, t in 0..12: codes[5 * b + t]]
  let next = [for b in 0..4, t in 0..12: codes[5 * b + t + 1]]
  let before = loss(p, rows, next)
  for _ in progress(0..steps, "train") {
    let (l, g) = value_and_grad(loss)(p, rows, next)
    optim.step(&opt, &p, g)
    progress.note("loss {l:.4}")
  }
  print("{before:.5}", "{loss(p, rows, next):.5}", array(sample(p, key(2), codes[0..3], 5)))
  Ok()
}
)";

class Training : public testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void makeDigits(int count) {
    harness::ProcessResult r = melix(
        "run - " + examples + "data/digits.csv " + folder + " " + std::to_string(count), digitsLikeMnist);
    ASSERT_EQ(r.status, 0) << r.errors;
  }

  /// Runs a program, from a file or (`-`) from `code`, in one of the ways there are; an executable is made by
  /// `build`.
  harness::ProcessResult run(const std::string& mode, const std::string& program,
                             const std::string& arguments, const std::string& code = "") {
    if (mode != "build") return melix("run " + mode + " " + program + " " + arguments, code);
    harness::ProcessResult built = melix("build " + program + " -o " + folder + "/made", code);
    return built.status == 0 ? harness::runProcess({"/bin/sh", "-c", folder + "/made " + arguments}) : built;
  }

  /// The numbers of the losses that a training tells behind its bars.
  std::vector<std::string> losses(const harness::ProcessResult& r) {
    EXPECT_EQ(r.status, 0) << r.errors;
    std::vector<std::string> out;
    for (const std::string& line : harness::splitLines(r.errors))
      if (size_t at = line.find("loss "); at != std::string::npos && line.find("100 %") != std::string::npos)
        out.push_back(line.substr(at + 5));
    return out;
  }

  const std::string folder =
      (std::filesystem::temp_directory_path() / ("melix_training_" + std::to_string(getpid()))).string();
};

TEST_F(Training, AConvolutionalNetworkLearnsDigits) {
  makeDigits(32);
  std::vector<std::string> told = losses(run("", examples + "convnet.mlx", folder + " --epochs 6"));
  ASSERT_EQ(told.size(), 6u);
  EXPECT_LT(std::stod(told.back()), std::stod(told.front()) - 0.05);
}

TEST_F(Training, AConvolutionalNetworkIsTheSameInEveryMode) {
  makeDigits(1);
  // With few channels, for the interpreter takes its time.
  const std::string wide = "c1: Conv[5, 1, 8], c2: Conv[5, 8, 16], w: f32[4, 4, 16, 10]";
  std::string code = harness::readText(examples + "convnet.mlx");
  ASSERT_NE(code.find(wide), std::string::npos);
  code.replace(code.find(wide), wide.size(), "c1: Conv[5, 1, 2], c2: Conv[5, 2, 2], w: f32[4, 4, 2, 10]");
  const std::string arguments = folder + " --epochs 1";
  std::vector<std::string> expected = losses(run("", "-", arguments, code));
  ASSERT_EQ(expected.size(), 1u);
  for (const char* mode : {"-O0", "--interpret", "build"})
    EXPECT_EQ(losses(run(mode, "-", arguments, code)), expected);
}

TEST_F(Training, ATransformerLearnsAText) {
  std::string code = harness::readText(examples + "chargpt.mlx");
  const size_t itsMain = code.find("\n/// Trains on the text");
  ASSERT_NE(itsMain, std::string::npos);
  code = code.substr(0, itsMain) + trainingOfGpt;
  harness::ProcessResult trained = run("", "-", "150", code);
  EXPECT_EQ(trained.status, 0) << trained.errors;
  std::vector<std::string> words = harness::splitWords(trained.output);
  ASSERT_GE(words.size(), 3u);
  EXPECT_GT(std::stod(words[0]), 2.5);
  EXPECT_LT(std::stod(words[1]), 1.0);
  const std::string expected = run("", "-", "2", code).output;
  for (const char* mode : {"-O0", "--interpret", "build"}) {
    harness::ProcessResult r = run(mode, "-", "2", code);
    EXPECT_EQ(r.output, expected) << mode << r.errors;
  }
}

TEST_F(Training, ATransformerWritesAfterTheTextOfAFile) {
  std::ofstream(folder + "/text.txt")
      << "the cat sat on the mat. the dog sat on the log. the cat sat on the dog.";
  const std::string arguments = " --steps 20 --count 30 --data " + folder + "/text.txt";
  harness::ProcessResult trained = run("", examples + "chargpt.mlx", arguments);
  EXPECT_EQ(trained.status, 0) << trained.errors;
  const std::vector<std::string> lines = harness::splitLines(trained.output);
  ASSERT_EQ(lines.size(), 4u) << trained.output;
  EXPECT_EQ(lines[0], "71 letters, 14 of them different");
  EXPECT_LT(std::stod(lines[2].substr(lines[2].rfind(' '))), std::stod(lines[1].substr(lines[1].rfind(' '))));
  EXPECT_EQ(lines[3].size(), 31u); // the first letter of the text, and what follows it
  std::ofstream(folder + "/text.txt") << "short";
  harness::ProcessResult refused = run("", examples + "chargpt.mlx", arguments);
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.errors.find("5 letters, but at least 65 are needed"), std::string::npos)
      << refused.errors;
}

TEST_F(Training, TheProgramsBesideTheCheckoutTrainOnMnist) {
  const std::string programs = shared + "programs/", data = shared + "data/mnist/";
  if (!std::filesystem::exists(programs + "convnet.mlx") || !std::filesystem::exists(data))
    GTEST_SKIP() << "the programs or MNIST are not beside the checkout";
  const char* firstImages = R"(use idx
fn main(from: str, to: str) -> Result {
  let images: u8[?N, 28, 28] = idx.read("{from}/train-images-idx3-ubyte.gz")?
  let labels: u8[N] = idx.read("{from}/train-labels-idx1-ubyte.gz")?
  print(N, "{mean(images as f32 / 255):.4}")
  idx.write("{to}/train-images-idx3-ubyte.gz", images[0..96])?
  idx.write("{to}/train-labels-idx1-ubyte.gz", labels[0..96])
})";
  harness::ProcessResult cut = melix("run - " + data + " " + folder, firstImages);
  EXPECT_EQ(cut.output, "60000 0.1307\n") << cut.errors;
  std::vector<std::string> told = losses(run("", programs + "convnet.mlx", folder));
  ASSERT_EQ(told.size(), 3u);
  EXPECT_LT(std::stod(told.back()), std::stod(told.front()));
  harness::ProcessResult gpt =
      run("", "-", "20", harness::readText(programs + "chargpt.mlx") + trainingOfGpt);
  std::vector<std::string> words = harness::splitWords(gpt.output);
  ASSERT_GE(words.size(), 2u) << gpt.errors;
  EXPECT_LT(std::stod(words[1]), std::stod(words[0]) - 0.5);
}

} // namespace
} // namespace melix::driver
