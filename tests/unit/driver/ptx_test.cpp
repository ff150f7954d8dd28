// Kernels as the assembly of a GPU: `show --stage ptx`, and what ptxas of NVIDIA says to it where that is
// installed.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace melix::driver {
namespace {

namespace fs = std::filesystem;

const std::string root = MELIX_SOURCE_DIR "/";

std::string ptxOf(const std::string& file, const std::string& options = "") {
  const harness::ProcessResult shown = melix("show --stage ptx " + options + " " + root + file);
  EXPECT_EQ(shown.status, 0) << shown.errors;
  return shown.output;
}

size_t entriesIn(const std::string& ptx) {
  size_t count = 0;
  for (size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at + 1)) ++count;
  return count;
}

/// The assembler of the CUDA Toolkit; empty if there is none.
std::string findAssembler() {
  std::vector<fs::path> folders;
  if (const char* home = getenv("CUDA_HOME")) folders.push_back(fs::path(home) / "bin");
  const char* path = getenv("PATH");
  std::string rest = path ? path : "";
  for (size_t end = 0; end != std::string::npos; rest.erase(0, end + 1)) {
    end = rest.find(':');
    folders.push_back(rest.substr(0, end));
    if (end == std::string::npos) break;
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders)
    if (fs::exists(folder / "ptxas")) return folder / "ptxas";
  return "";
}

TEST(Ptx, KernelsAreEntriesThatCallNobody) {
  const std::string ptx = ptxOf("tests/programs/devices/first.mlx");
  EXPECT_NE(ptx.find(".version 7.0"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find(".target sm_80"), std::string::npos);
  EXPECT_EQ(entriesIn(ptx), 2U);
  EXPECT_EQ(ptx.find(".extern"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("ld.global"), std::string::npos) << ptx;
}

TEST(Ptx, MoreRunsThereIfTheWholeProgramDoes) {
  EXPECT_GT(entriesIn(ptxOf("tests/programs/devices/first.mlx", "--device gpu")), 2U);
  EXPECT_GT(entriesIn(ptxOf("tests/programs/devices/first.mlx", "-O0 --device gpu")), 2U);
}

TEST(Ptx, AProgramWithoutKernelsOfADeviceSaysSo) {
  const harness::ProcessResult shown = melix("show --stage ptx -e 'print(1)'");
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.output, "// no kernel of this program runs on a GPU\n");
}

class AssembledPtx : public testing::TestWithParam<const char*> {};

TEST_P(AssembledPtx, IsTakenForAllCardsOfTheToolkit) {
  const std::string assembler = findAssembler();
  if (assembler.empty()) GTEST_SKIP() << "there is no ptxas";
  const std::string file = fs::temp_directory_path() / ("ptx_" + std::to_string(getpid()) + ".ptx");
  for (const char* options : {"--device gpu", "-O0 --device gpu"}) {
    const std::string ptx = ptxOf(GetParam(), options);
    EXPECT_GT(entriesIn(ptx), 0U);
    std::ofstream(file) << ptx;
    for (const char* card : {"sm_80", "sm_90a"}) {
      const harness::ProcessResult run =
          harness::runProcess({assembler, "-arch", card, "-o", "/dev/null", file});
      EXPECT_EQ(run.status, 0) << card << " " << options << "\n" << run.output << run.errors;
    }
  }
  fs::remove(file);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, AssembledPtx,
    testing::Values("tests/programs/devices/training.mlx", "tests/programs/devices/sizes.mlx",
                    "tests/programs/devices/residence.mlx", "tests/programs/devices/groups.mlx",
                    "tests/programs/devices/group_memory.mlx", "tests/programs/devices/tiles.mlx",
                    "tests/bench/subjects/math.mlx", "tests/bench/subjects/digits.mlx",
                    "tests/bench/subjects/numbers.mlx"),
    [](const auto& program) { return fs::path(program.param).stem().string(); });

} // namespace
} // namespace melix::driver
