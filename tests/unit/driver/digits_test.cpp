// The main job: examples/digits.mlx trains, with the same bits from every way to run it, and fails well.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

namespace melix::driver {
namespace {

const std::string program = MELIX_SOURCE_DIR "/examples/digits.mlx";
const std::string table = MELIX_SOURCE_DIR "/examples/data/digits.csv";
/// Of the second epoch, computed in any order of sums: one example of 360 more or less.
constexpr double secondAccuracy = 0.8167, oneExample = 0.003;

class Digits : public testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static std::string lastLine(const std::string& text) {
    std::vector<std::string> lines = harness::splitLines(text);
    return lines.empty() ? "" : lines.back();
  }
  /// The accuracy on the last epoch's line.
  static double accuracy(const std::string& output) {
    size_t at = output.rfind("test accuracy ");
    return at == std::string::npos ? -1 : std::stod(output.substr(at + 14));
  }
  std::vector<std::string> rows() { return harness::splitLines(harness::readText(table)); }
  std::string written(const std::vector<std::string>& lines) {
    std::string path = folder + "/table.csv";
    std::ofstream stream(path);
    for (const std::string& line : lines) stream << line << '\n';
    return path;
  }
  std::string run(const std::string& data, const std::string& more) {
    harness::ProcessResult r = melix("run " + program + " --data " + data + " " + more);
    EXPECT_EQ(r.status, 0) << r.errors;
    return r.output;
  }

  std::string folder =
      (std::filesystem::temp_directory_path() / ("melix_digits_" + std::to_string(getpid()))).string();
};

TEST_F(Digits, ThirtyEpochsReadNineOfTenDigitsOfOtherWriters) {
  std::string output = run(table, "");
  EXPECT_GE(accuracy(output), 0.88) << output;
  const std::vector<std::string> lines = harness::splitLines(output);
  ASSERT_EQ(lines.size(), 30u + 20u + 1u) << output; // epochs, two rows of pictures, the weights
  EXPECT_EQ(lines[30], "what the network reads, and how sure it is:");
  EXPECT_TRUE(lines[39].starts_with("reads 2 (")) << lines[39];
  EXPECT_TRUE(lines[40].starts_with("some of its ")) << lines[40];
}

TEST_F(Digits, EveryWayToRunGivesTheSameBits) {
  const std::string output = run(table, "--epochs 2");
  EXPECT_NEAR(accuracy(output), secondAccuracy, oneExample) << output;
  const std::string weightsOfTwoEpochs = lastLine(output); // FNV-1a over the bits of every leaf
  ASSERT_EQ(weightsOfTwoEpochs.find("weights "), 0u) << output;
  std::string executable = folder + "/digits";
  ASSERT_EQ(melix("build " + program + " -o " + executable).status, 0);
  for (const char* threads : {"1", "2", "3"}) {
    harness::ProcessResult r = harness::runProcess({"/bin/sh", "-c",
                                                    "MELIX_STATS=1 MELIX_THREADS=" + std::string(threads) +
                                                        " " + executable + " --epochs 2 --data " + table});
    EXPECT_EQ(lastLine(r.output), weightsOfTwoEpochs) << threads << " threads\n" << r.errors;
    EXPECT_NE(r.errors.find("live blocks 0"), std::string::npos) << r.errors;
  }
  EXPECT_EQ(lastLine(melix("run --interpret " + program + " --epochs 2 --data " + table).output),
            weightsOfTwoEpochs);
}

TEST_F(Digits, ShuffledLabelsTeachNothing) {
  std::vector<std::string> lines = rows();
  std::vector<std::string> labels;
  for (const std::string& line : lines) labels.push_back(line.substr(line.rfind(',')));
  std::shuffle(labels.begin(), labels.end(), std::mt19937(7));
  for (size_t k = 0; k < lines.size(); ++k) lines[k] = lines[k].substr(0, lines[k].rfind(',')) + labels[k];
  EXPECT_LT(accuracy(run(written(lines), "")), 0.2);
}

TEST_F(Digits, AnotherNumberOfRowsRunsTooUnlessThereAreTooFew) {
  std::vector<std::string> lines = rows();
  lines.resize(701);
  EXPECT_GT(accuracy(run(written(lines), "--epochs 3")), 0.3);
  lines.resize(361);
  run(written(lines), "--epochs 1");
  lines.resize(360);
  harness::ProcessResult r = melix("run " + program + " --data " + written(lines));
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.errors.find("360 rows, but 360 are for testing, so at least 361 are needed"), std::string::npos)
      << r.errors;
}

} // namespace
} // namespace melix::driver
