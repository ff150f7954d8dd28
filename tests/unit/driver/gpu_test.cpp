// What the runtime asks of the driver of GPUs, over a driver without one (tests/fake_cuda): which calls it
// makes, what a user reads when one of them fails, and what the cache of machine code keeps.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

namespace melix::driver {
namespace {

namespace fs = std::filesystem;
using Environment = std::vector<std::pair<std::string, std::string>>;
using Names = std::vector<std::string>;

constexpr const char* program = "let x = [for i in 0..len(arguments()) + 300: 1.0 * i]\n"
                                "var y = on gpu { [for i: 2 * x[i]] }\n"
                                "print(y[299])\n"
                                "for k in 0..3 { y = on gpu { [for i: y[i] + x[i]] } }\n"
                                "print(y[1], sum(y))\n";
const std::string printed = "598.0\n5.0 224250.0\n";

/// An executable with code for a GPU and, so that the driver of the tests can run its kernels, the emulator.
class Gpu : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(folder_);
    const harness::ProcessResult built = melix("build --with-emulator - -o " + folder_ + "/program", program);
    ASSERT_EQ(built.status, 0) << built.errors;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Environment environment(const Environment& more) const {
    Environment all = {{"LD_LIBRARY_PATH", std::string(FAKE_CUDA) + "/whole"},
                       {"MELIX_DEVICE_CACHE", folder_ + "/cache"},
                       {"MELIX_STATS", "1"}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  harness::ProcessResult run(const Environment& more = {}) const {
    return harness::runProcess({folder_ + "/program"}, {.folder = "", .environment = environment(more)});
  }
  harness::ProcessResult listed(const Environment& more) const {
    return harness::runProcess({MELIX_BINARY_DIR "/melix", "devices"},
                               {.folder = "", .environment = environment(more)});
  }
  /// The calls of a run, without those that ask the device what it is.
  Names callsOf(const Environment& more = {}) const {
    const std::string file = folder_ + "/calls";
    Environment all = more;
    all.push_back({"FAKE_CUDA_CALLS", file});
    EXPECT_EQ(run(all).output, printed);
    Names calls = harness::splitLines(harness::readText(file));
    fs::remove(file);
    calls.erase(calls.begin(), std::ranges::find(calls, "cuStreamCreate"));
    return calls;
  }
  Names filesOfCache() const {
    Names out;
    if (fs::exists(folder_ + "/cache"))
      for (const auto& entry : fs::directory_iterator(folder_ + "/cache"))
        out.push_back(entry.path().filename());
    return out;
  }

  const std::string folder_ = fs::temp_directory_path() / ("gpu_" + std::to_string(getpid()));
};

TEST_F(Gpu, CallsAreInTheOrderOfTheProgram) {
  const Names expected = {"cuStreamCreate",
                          "cuMemAlloc_v2", // the record of checks
                          "cuMemsetD8Async",
                          "cuMemAlloc_v2", // x, which is copied in once
                          "cuMemcpyHtoDAsync_v2",
                          "cuMemAlloc_v2", // y
                          "cuLinkCreate_v2",      "cuLinkAddData_v2",    "cuLinkComplete", "cuModuleLoadData",
                          "cuLinkDestroy",        "cuModuleGetFunction", "cuLaunchKernel",
                          "cuMemcpyDtoHAsync_v2", // y[299]
                          "cuStreamSynchronize",
                          "cuMemAlloc_v2",       // the next y; the one before is the memory of the one after
                          "cuModuleGetFunction", // the second kernel is in the same image
                          "cuLaunchKernel",      // and writes into y
                          "cuLaunchKernel",       "cuLaunchKernel",
                          "cuMemcpyDtoHAsync_v2", // y
                          "cuStreamSynchronize",  "cuMemFree_v2",        "cuMemFree_v2",   "cuMemFree_v2"};
  EXPECT_EQ(callsOf(), expected);
}

TEST_F(Gpu, MachineCodeIsMadeOnce) {
  auto links = [](const Names& calls) { return std::ranges::count(calls, "cuLinkCreate_v2"); };
  EXPECT_EQ(links(callsOf()), 1);
  ASSERT_EQ(filesOfCache().size(), 1U);
  EXPECT_EQ(links(callsOf()), 0);
  EXPECT_EQ(links(callsOf({{"FAKE_CUDA_CAPABILITY", "80"}})), 1) << "of another card";
  EXPECT_EQ(links(callsOf({{"FAKE_CUDA_VERSION", "12000"}})), 1) << "by another driver";
  EXPECT_EQ(filesOfCache().size(), 3U);
  for (const std::string& file : filesOfCache()) fs::resize_file(folder_ + "/cache/" + file, 1000);
  EXPECT_EQ(links(callsOf()), 1) << "of a file that is cut off";
  EXPECT_EQ(links(callsOf()), 0);
  EXPECT_EQ(links(callsOf({{"MELIX_DEVICE_CACHE", ""}})), 1) << "without a cache";
  EXPECT_EQ(links(callsOf({{"MELIX_DEVICE_CACHE", "/proc/nowhere"}})), 1) << "where none can be";
}

TEST_F(Gpu, ProgramsMayShareTheCache) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) threads.emplace_back([this] { EXPECT_EQ(run().output, printed); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(filesOfCache().size(), 1U) << "no file is left that is not whole";
}

/// The folder may be one of the user's.
TEST_F(Gpu, TheCacheLeavesOtherFilesAlone) {
  fs::create_directories(folder_ + "/cache");
  for (const char* name : {"thesis.doc", "0123456789abcdef0123456789abcdef"}) {
    std::ofstream(folder_ + "/cache/" + name);
    fs::resize_file(folder_ + "/cache/" + name, 900 << 20); // a hole
  }
  const std::string old = folder_ + "/cache/" + std::string(32, 'a') + ".cubin";
  std::ofstream(old) << "old";
  fs::resize_file(old, 1100 << 20);
  EXPECT_EQ(run().output, printed);
  const Names files = filesOfCache();
  EXPECT_EQ(files.size(), 3U) << "the two, and the new code in place of the old";
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(folder_ + "/cache/thesis.doc"));
}

/// Code and its memory are asked for when a kernel is launched: room is made for it as for arrays.
TEST_F(Gpu, ALaunchWithoutRoomForItsCodeMakesSome) {
  for (const char* call : {"cuLinkComplete", "cuModuleLoadData", "cuLaunchKernel"}) {
    fs::remove_all(folder_ + "/cache");
    const std::string full = std::string(call) + ":1";
    const harness::ProcessResult first = run({{"FAKE_CUDA_FULL", full}});
    EXPECT_EQ(first.status, 101) << call;
    EXPECT_NE(first.errors.find(
                  "panic: out of memory on gpu 0: the code of a kernel is asked for, 1.0 of 1.0 GiB free"),
              std::string::npos)
        << first.errors;
  }
  // An array that the launch does not need goes to the host.
  const std::string file = folder_ + "/spare";
  const char* text = "let x = [for i in 0..len(arguments()) + 300: 1.0 * i]\n"
                     "let z = on gpu { [for i: 3 * x[i]] }\n"
                     "let y = on gpu { [for i: 2 * x[i]] }\n"
                     "print(y[2], z[3])\n";
  ASSERT_EQ(melix("build --with-emulator - -o " + file, text).status, 0);
  const harness::ProcessResult spare = harness::runProcess(
      {file}, {.folder = "", .environment = environment({{"FAKE_CUDA_FULL", "cuLaunchKernel:2"}})});
  EXPECT_EQ(spare.output, "4.0 9.0\n") << spare.errors;
  const harness::ProcessResult lost = harness::runProcess(
      {file}, {.folder = "",
               .environment = environment(
                   {{"FAKE_CUDA_FULL", "cuLaunchKernel:2"}, {"FAKE_CUDA_FAILS", "cuMemcpyDtoHAsync_v2:1"}})});
  EXPECT_EQ(lost.output, "");
  EXPECT_NE(
      lost.errors.find("panic: gpu 0 has failed, and this process can use it no more: cuMemcpyDtoHAsync: "),
      std::string::npos)
      << lost.errors;
}

/// Machine code that an old driver does not take is made anew of PTX.
TEST_F(Gpu, CodeInTheExecutableThatIsRefusedIsMadeAnew) {
  if (std::system("command -v ptxas > /dev/null") != 0) GTEST_SKIP() << "no ptxas of the CUDA Toolkit";
  const std::string file = folder_ + "/old";
  ASSERT_EQ(melix("build --with-emulator --gpu-arch sm_80 - -o " + file, program).status, 0);
  const harness::ProcessResult run = harness::runProcess(
      {file}, {.folder = "",
               .environment =
                   environment({{"FAKE_CUDA_FAILS", "cuModuleLoadData:1"}, {"FAKE_CUDA_CAPABILITY", "86"}})});
  EXPECT_EQ(run.output, printed) << run.errors;
}

/// Whatever fails while the device is opened, this processor stands in.
TEST_F(Gpu, AFailureAtTheStartIsTold) {
  for (const char* call : {"cuDriverGetVersion", "cuInit", "cuDeviceGetCount", "cuDeviceGet",
                           "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute",
                           "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate"}) {
    const std::string fails = std::string(call) + ":1";
    const harness::ProcessResult usual = run({{"FAKE_CUDA_FAILS", fails}});
    EXPECT_EQ(usual.output, printed) << call;
    EXPECT_EQ(usual.status, 0) << call;
    const std::string name = std::string(call).substr(0, std::string(call).find("_v2"));
    EXPECT_TRUE(usual.errors.starts_with("melix: no GPU (" + name + ": ")) << usual.errors;
    const harness::ProcessResult wanted = run({{"FAKE_CUDA_FAILS", fails}, {"MELIX_DEVICE", "gpu"}});
    EXPECT_EQ(wanted.output, "") << call;
    EXPECT_EQ(wanted.status, 1) << call;
    EXPECT_TRUE(wanted.errors.starts_with("error: MELIX_DEVICE=gpu, and there is no GPU (" + name + ": "))
        << wanted.errors;
  }
}

/// Later failures are panics, at the place that asks for the device, and leave nothing behind.
TEST_F(Gpu, AFailureInTheMiddleIsAPanic) {
  for (const char* call : {"cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2", "cuLinkCreate_v2", "cuLinkAddData_v2",
                           "cuLinkComplete", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel",
                           "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"}) {
    fs::remove_all(folder_ + "/cache");
    const harness::ProcessResult run = this->run(
        {{"FAKE_CUDA_FAILS", std::string(call) + (call == std::string("cuMemAlloc_v2") ? ":2" : ":1")}});
    EXPECT_EQ(run.status, 101) << call;
    EXPECT_EQ(run.output, "") << call;
    EXPECT_NE(run.errors.find("panic: gpu 0 has failed, and this process can use it no more: "),
              std::string::npos)
        << run.errors;
    EXPECT_NE(run.errors.find("melix: live blocks 0,"), std::string::npos) << run.errors;
    EXPECT_NE(run.errors.find("on the device: live blocks 0,"), std::string::npos) << run.errors;
  }
  const harness::ProcessResult second = run({{"FAKE_CUDA_FAILS", "cuLaunchKernel:2"}});
  EXPECT_EQ(second.output, "598.0\n");
  EXPECT_NE(second.errors.find("cuLaunchKernel: unspecified launch failure; the last kernel is "),
            std::string::npos)
      << second.errors;
  EXPECT_NE(second.errors.find("<stdin>:4:"), std::string::npos) << second.errors;
}

TEST_F(Gpu, ADeviceWithoutMemoryLeftSaysHowMuchItHas) {
  const harness::ProcessResult run = this->run({{"FAKE_CUDA_MEMORY", "3000"}});
  EXPECT_EQ(run.status, 101);
  EXPECT_NE(run.errors.find("panic: out of memory on gpu 0: 1."), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find(" KiB asked for, 0.3 of 2.9 KiB free\n"), std::string::npos) << run.errors;
}

TEST_F(Gpu, DevicesAreListed) {
  const std::string line = "Fake GPU, compute capability 9.0, 1.0 ";
  EXPECT_EQ(listed({}).output, "gpu 0: " + line + "of 1.0 GiB free, driver for CUDA 13.0\n");
  EXPECT_EQ(listed({{"FAKE_CUDA_DEVICES", "2"}}).output,
            "gpu 0: " + line + "of 1.0 GiB free, driver for CUDA 13.0\n" + "gpu 1: " + line +
                "GiB, driver for CUDA 13.0\n");
  auto refused = [&](const char* variable, const std::string& value) {
    const harness::ProcessResult list = listed({{variable, value}});
    EXPECT_EQ(list.status, 1) << variable;
    EXPECT_EQ(list.output, "") << variable;
    return list.errors;
  };
  EXPECT_EQ(refused("FAKE_CUDA_DEVICES", "0"), "melix: no GPU (its driver shows none)\n");
  EXPECT_EQ(refused("FAKE_CUDA_VERSION", "10020"),
            "melix: no GPU (its driver is for CUDA 10.2, and Melix needs one for 11.0 or later)\n");
  EXPECT_EQ(refused("FAKE_CUDA_CAPABILITY", "75"),
            "melix: no GPU (Fake GPU has compute capability 7.5, and Melix needs 8.0 or more)\n");
  EXPECT_EQ(refused("LD_LIBRARY_PATH", std::string(FAKE_CUDA) + "/without_link"),
            "melix: no GPU (libcuda.so.1 has no function cuLinkCreate_v2)\n");
}

/// Who opens a driver can fork no more: a child sees whether there is a device, and tells it once.
TEST_F(Gpu, TestsOpenItInTheirProcesses) {
  const std::string file = folder_ + "/tests.mlx";
  std::ofstream(file) << "fn ones(n: int) -> f64[n] = on gpu { [for i in 0..n: 1.0] }\n"
                         "test \"a\" { let n = len(arguments()) + 3; assert ones(n)[0] < 5 or n > 2 }\n"
                         "test \"b\" { let n = len(arguments()) + 4; assert ones(n)[0] < 5 or n > 2 }\n";
  auto test = [&](const Environment& more) {
    return harness::runProcess({MELIX_BINARY_DIR "/melix", "test", file},
                               {.folder = "", .environment = environment(more)});
  };
  const harness::ProcessResult there = test({});
  EXPECT_TRUE(there.output.ends_with("2 passed, 0 failed\n")) << there.output << there.errors;
  EXPECT_EQ(there.errors.find("melix: no GPU"), std::string::npos) << there.errors;
  const harness::ProcessResult none = test({{"FAKE_CUDA_FAILS", "cuInit:1"}});
  EXPECT_TRUE(none.output.ends_with("2 passed, 0 failed\n")) << none.output << none.errors;
  EXPECT_EQ(none.errors.find("melix: no GPU ("), none.errors.rfind("melix: no GPU (")) << none.errors;
  EXPECT_NE(none.errors.find("melix: no GPU (cuInit: "), std::string::npos) << none.errors;
  const harness::ProcessResult ended = test({{"FAKE_CUDA_FAILS", "cuInit:abort"}});
  EXPECT_TRUE(ended.output.ends_with("2 passed, 0 failed\n")) << ended.output << ended.errors;
  EXPECT_NE(ended.errors.find("melix: no GPU (its driver ends a process that opens it): "), std::string::npos)
      << ended.errors;
  for (const char* word : {"gpu", "check"}) {
    const harness::ProcessResult refused =
        test({{"FAKE_CUDA_FAILS", "cuInit:abort"}, {"MELIX_DEVICE", word}});
    EXPECT_EQ(refused.status, 1) << word << refused.output;
    EXPECT_NE(refused.errors.find("there is no GPU: its driver ends a process that opens it"),
              std::string::npos)
        << refused.errors;
  }
  const harness::ProcessResult wanted = test({{"FAKE_CUDA_FAILS", "cuInit:1"}, {"MELIX_DEVICE", "gpu"}});
  EXPECT_EQ(wanted.status, 1);
  EXPECT_TRUE(wanted.output.starts_with("0 passed, 0 failed")) << wanted.output;
}

/// A launch that does nothing gives other elements than this processor.
TEST_F(Gpu, ADifferenceIsFoundByCheck) {
  const std::string file = folder_ + "/program.mlx";
  std::ofstream(file) << program;
  auto check = [&](const char* idle) {
    return harness::runProcess(
        {MELIX_BINARY_DIR "/melix", "run", file},
        {.folder = "", .environment = environment({{"MELIX_DEVICE", "check"}, {"FAKE_CUDA_IDLE", idle}})});
  };
  EXPECT_EQ(check("0").output, printed) << check("0").errors;
  const harness::ProcessResult first = check("1");
  EXPECT_EQ(first.status, 101);
  EXPECT_EQ(first.output, "");
  EXPECT_NE(first.errors.find(":2:9: panic: MELIX_DEVICE=check: `y`[0] is 0.0 on this processor and "),
            std::string::npos)
      << first.errors;
  EXPECT_EQ(check("2").output, "598.0\n");
}

/// `--no-host` leaves the processor's side out; `--gpu-arch` brings machine code, which is loaded as it is.
TEST_F(Gpu, ExecutablesHaveTheCodeThatIsAskedFor) {
  const std::string file = folder_ + "/alone";
  ASSERT_EQ(melix("build --no-host --with-emulator - -o " + file, program).status, 0);
  auto alone = [&](const Environment& more) {
    return harness::runProcess({file}, {.folder = "", .environment = environment(more)});
  };
  EXPECT_EQ(alone({}).output, printed);
  const harness::ProcessResult none = alone({{"FAKE_CUDA_DEVICES", "0"}});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.errors,
            "error: this program has no code for this processor instead of a GPU, and there is no GPU "
            "(its driver shows none)\n");
  EXPECT_EQ(alone({{"MELIX_DEVICE", "cpu"}}).status, 1);
  EXPECT_EQ(alone({{"MELIX_DEVICE", "emulated"}}).output, printed);
  for (const char* name : {"sm_70", "80", "sm_80b", "sm_"})
    EXPECT_EQ(melix(std::string("build --gpu-arch ") + name + " - -o " + file, program).status, 2) << name;
  if (std::system("command -v ptxas > /dev/null") != 0) GTEST_SKIP() << "no ptxas of the CUDA Toolkit";
  const harness::ProcessResult built =
      melix("build --with-emulator --gpu-arch sm_80,sm_90a - -o " + file, program);
  ASSERT_EQ(built.status, 0) << built.errors;
  const std::string calls = folder_ + "/calls_of_alone";
  EXPECT_EQ(alone({{"FAKE_CUDA_CALLS", calls}}).output, printed);
  EXPECT_EQ(harness::readText(calls).find("cuLink"), std::string::npos);
  const harness::ProcessResult later = alone({{"FAKE_CUDA_CALLS", calls}, {"FAKE_CUDA_CAPABILITY", "100"}});
  EXPECT_EQ(later.output, printed);
  EXPECT_NE(harness::readText(calls).find("cuLink"), std::string::npos) << "a card of another kind";
}

} // namespace
} // namespace melix::driver
