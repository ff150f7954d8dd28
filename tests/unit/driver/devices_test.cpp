// Blocks on a device, by the command: the words of MELIX_DEVICE, messages, where kernels run, which arrays
// are copied.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>

namespace melix::driver {
namespace {

/// A variable of the environment, as long as this lives.
class Variable {
public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

private:
  const char* name_;
};

constexpr const char* twoBlocks = "let x = [1.0, 2, 3]\n"
                                  "let y = on gpu { [for i: 2 * x[i]] }\n"
                                  "print(on gpu { [for i: y[i] + 1] })\n";
const std::string printed = "[3.0, 5.0, 7.0]\n";

bool hasDriver() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY);
  if (library) dlclose(library);
  return library != nullptr;
}

size_t timesIn(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Devices, AMissingGpuIsToldOnce) {
  const harness::ProcessResult run = melix("run -", twoBlocks);
  EXPECT_EQ(run.output, printed);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(timesIn(run.errors, "melix: no GPU ("), 1U) << run.errors;
  EXPECT_TRUE(run.errors.ends_with("): `on gpu` runs on this processor\n")) << run.errors;
  if (!hasDriver())
    EXPECT_TRUE(run.errors.starts_with("melix: no GPU (libcuda.so.1: cannot open shared object file)"));
  const Variable cpu("MELIX_DEVICE", "cpu");
  EXPECT_EQ(melix("run -", twoBlocks).errors, "");
}

TEST(Devices, AllTestsOfAFileTellItOnce) {
  const std::string file =
      std::filesystem::temp_directory_path() / ("devices_" + std::to_string(getpid()) + ".mlx");
  std::ofstream(file) << "test \"a\" { assert sum(on gpu { [1.0, 2] }) == 3 }\n"
                         "test \"b\" { assert sum(on gpu { [1.0, 3] }) == 4 }\n";
  const harness::ProcessResult run = melix("test " + file);
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_EQ(timesIn(run.output + run.errors, "melix: no GPU ("), 1U) << run.output << run.errors;
  const Variable unknown("MELIX_DEVICE", "tpu");
  const harness::ProcessResult refused = melix("test " + file);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.output, "");
  EXPECT_EQ(refused.errors, "error: MELIX_DEVICE is `gpu`, `cpu`, `emulated` or `check`, not `tpu`\n");
  std::filesystem::remove(file);
}

TEST(Devices, TheInterpreterSaysNothingAndThePromptOnce) {
  EXPECT_EQ(melix("run --interpret -", twoBlocks).errors, "");
  const harness::ProcessResult prompt = melix("repl", "let x = on gpu { [1.0, 2] }\non gpu { 2 * x }\n");
  EXPECT_EQ(prompt.output, "[2.0, 4.0]\n");
  EXPECT_EQ(prompt.errors, "melix: at the prompt `on gpu` runs on this processor\n");
}

TEST(Devices, OtherWordsAreErrorsBeforeTheFirstStatement) {
  const std::string program = std::string("print(\"begun\")\n") + twoBlocks;
  {
    const Variable unknown("MELIX_DEVICE", "tpu");
    const harness::ProcessResult run = melix("run -", program);
    EXPECT_EQ(run.output, "");
    EXPECT_EQ(run.errors, "error: MELIX_DEVICE is `gpu`, `cpu`, `emulated` or `check`, not `tpu`\n");
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(melix("run -e 'print(1)'").output, "1\n") << "a program without blocks on a device";
  }
  if (hasDriver()) return;
  const Variable gpu("MELIX_DEVICE", "gpu");
  const harness::ProcessResult run = melix("run -", program);
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(run.status, 1);
}

TEST(Devices, TheEmulatedDeviceRunsKernels) {
  const Variable emulated("MELIX_DEVICE", "emulated"), log("MELIX_DEVICE_LOG", "1"),
      stats("MELIX_STATS", "1");
  const harness::ProcessResult run = melix("run -", twoBlocks);
  EXPECT_EQ(run.output, printed);
  EXPECT_NE(
      run.errors.find("melix: device: 2 launches of 2 kernels, 1 copy in (0.0 kB), 1 out (0.0 kB), 1 wait,"),
      std::string::npos)
      << run.errors;
  EXPECT_NE(run.errors.find("on the device: live blocks 0, allocations 3,"), std::string::npos) << run.errors;
  const harness::ProcessResult whole =
      melix("run --device gpu -", "let x = [for i in 0..len(arguments()) + 9: 1.0 * i]\nprint(x)\n");
  EXPECT_EQ(whole.output, "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\n");
  EXPECT_NE(whole.errors.find("melix: device: 1 launch of 1 kernel,"), std::string::npos) << whole.errors;
  EXPECT_EQ(melix("run --device tpu -", twoBlocks).status, 2);
}

TEST(Devices, ExecutablesHaveTheEmulatorWhereItIsAskedFor) {
  const std::string folder = std::filesystem::temp_directory_path() / ("devices_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  EXPECT_EQ(melix("build - -o " + folder + "/plain", twoBlocks).status, 0);
  EXPECT_EQ(melix("build --with-emulator - -o " + folder + "/with", twoBlocks).status, 0);
  const Variable emulated("MELIX_DEVICE", "emulated"), log("MELIX_DEVICE_LOG", "1");
  const harness::ProcessResult plain = harness::runProcess({folder + "/plain"});
  EXPECT_EQ(plain.status, 1);
  EXPECT_EQ(plain.errors,
            "error: this program has no code for the emulator: `melix build --with-emulator` makes one "
            "that has\n");
  const harness::ProcessResult with = harness::runProcess({folder + "/with"});
  EXPECT_EQ(with.output, printed);
  EXPECT_NE(with.errors.find("2 launches"), std::string::npos) << with.errors;
  std::filesystem::remove_all(folder);
}

TEST(Devices, APanicInABlockShowsItsPlaceAndFunctionsOnce) {
  const std::string program = "fn look(t: f64[N], ids: int[M]) -> f64[M] = on gpu { [for i: t[ids[i]]] }\n"
                              "print(look([1.0, 2], [1, 7]))\n";
  const std::string told = "<stdin>:1:62: panic: index 7 is out of range for an axis of size 2\n"
                           "fn look(t: f64[N], ids: int[M]) -> f64[M] = on gpu { [for i: t[ids[i]]] }\n"
                           "  at look (<stdin>:1)\n"
                           "  at script (<stdin>:2)\n";
  for (const char* device : {"cpu", "emulated"})
    for (const char* how : {"run -", "run -O0 -", "run --interpret -", "run --device gpu -"}) {
      const Variable where("MELIX_DEVICE", device);
      const harness::ProcessResult run = melix(how, program);
      EXPECT_EQ(run.status, 101);
      EXPECT_EQ(run.errors, told) << how << device;
    }
}

/// The errors of a program on the emulated device, with the counts of its copies.
std::string counts(const std::string& program, const std::string& printed) {
  const Variable emulated("MELIX_DEVICE", "emulated"), log("MELIX_DEVICE_LOG", "1");
  const harness::ProcessResult run = melix("run -", program);
  EXPECT_EQ(run.output, printed) << run.errors;
  return run.errors;
}

TEST(Devices, OnlyWhatIsReadIsCopied) {
  const std::string told = counts(R"(
fn rows(t: f64[4, 1000], n: int) -> f64[_, 1000] = on gpu { [for k in 0..n: t[min(k, 3)]] }
fn main(n: int = 2) {
  let t: f64[4, 1000] = [for i in 0..4, j in 0..1000: 1.0 * i * j]
  print(sum(rows(t, n)))
}
)",
                                  "499500.0\n");
  EXPECT_NE(told.find("1 copy in (32.0 kB), 1 out (16.0 kB)"), std::string::npos) << told;
}

TEST(Devices, ArraysStayWhereTheyAre) {
  const std::string told = counts(R"(
struct Model[N] { w: f64[N], b: f64[N] }
fn main(n: int = 1000, steps: int = 100) {
  let x = [for i in 0..n: i as f64]
  var m = Model(w: x, b: [for i in 0..n: 0.0 as f64])
  var zero: f64[n] = zeros()
  for k in 0..steps {
    on gpu {
      m.w = [for i: 0.5 * m.w[i] + x[i]]
      let t = [for i: m.w[i] - m.b[i]]
      m.b = [for i: m.b[i] + 0.25 * t[i] + zero[i]]
    }
  }
  print(m.w[n - 1], m.b[n - 1])
}
)",
                                  "1998.0 1997.9999999991992\n");
  EXPECT_NE(told.find("100 launches of 1 kernel, 3 copies in (24.0 kB), 2 out (16.0 kB), 2 waits,"),
            std::string::npos)
      << told;
}

TEST(Devices, ANumberIsCopiedAlone) {
  const std::string told = counts(R"(
fn main(n: int = 100000) {
  var y = on gpu { [for i in 0..n: 1.0 * i] }
  for k in 0..5 {
    y[k] = y[n - 1 - k] + 1
    on gpu { y = [for i: y[i] + 1] }
  }
  print(y[3], y[99999])
}
)",
                                  "100002.0 100004.0\n");
  EXPECT_NE(told.find(" 5 copies in (0.0 kB), 7 out (0.0 kB)"), std::string::npos) << told;
}

TEST(Devices, SlicesAndRowsAreCopiedOnTheDevice) {
  const std::string told = counts(R"(
fn main(n: int = 100) {
  let x = [for i in 0..n, j in 0..n: (i - j) as f64]
  let s = on gpu {
    var y = [for i, j: x[i, j] * 2]
    y[5] = y[3]
    y[:, 7] = y[:, 4]
    var z: f64[n, n] = zeros()
    z[0..48, 0..10] = y[2..50, 10..20]
    let both = concat(y, z)
    let lit = [y[1], both[2]]
    [for i, j: both[i, j] + lit[1, j]]
  }
  print(sum(s))
}
)",
                                  "-1888080.0\n");
  EXPECT_NE(told.find(" 1 copy in (80.0 kB), 1 out (160.0 kB)"), std::string::npos) << told;
}

/// Three arrays of 40 kB in turn.
constexpr const char* threeArrays = R"(
fn main(n: int = 10000) {
  var x = [for i in 0..n: 1.0 * i]
  var y = [for i in 0..n: 2.0 * i]
  var z = [for i in 0..n: 3.0 * i]
  for k in 0..3 {
    on gpu { x = [for i: x[i] + y[i]] }
    on gpu { y = [for i: y[i] + z[i]] }
    on gpu { z = [for i: z[i] + x[i]] }
  }
  print(x[9], y[9], z[9])
}
)";

TEST(Devices, CopiesMakeRoomForOthers) {
  const std::string printed = "171.0 225.0 297.0\n";
  const std::string all = counts(threeArrays, printed);
  EXPECT_NE(all.find(" 3 copies in (120.0 kB), "), std::string::npos) << all;
  const Variable memory("MELIX_EMULATED_MEMORY", "130000"); // of three arrays
  const std::string few = counts(threeArrays, printed);
  EXPECT_EQ(few.find(" 3 copies in"), std::string::npos) << few;
}

TEST(Devices, ALaunchThatNeedsMoreThanThereIsPanics) {
  const Variable emulated("MELIX_DEVICE", "emulated"), memory("MELIX_EMULATED_MEMORY", "60000"),
      stats("MELIX_STATS", "1");
  const harness::ProcessResult run = melix("run -", threeArrays);
  EXPECT_EQ(run.status, 101);
  EXPECT_TRUE(run.errors.starts_with("<stdin>:7:18: panic: out of memory on gpu 0: ")) << run.errors;
  EXPECT_NE(run.errors.find(" KiB asked for, "), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find(" of 58.6 KiB free\n"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("live blocks 0, "), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("on the device: live blocks 0,"), std::string::npos) << run.errors;
}

TEST(Devices, TheEmulatorsVariablesAreNumbers) {
  const Variable emulated("MELIX_DEVICE", "emulated");
  for (const char* name : {"MELIX_DEVICE_SEED", "MELIX_EMULATED_MEMORY"})
    for (const char* word : {"many", "-1", "99999999999999999999", "1 "}) {
      const Variable wrong(name, word);
      const harness::ProcessResult run = melix("run -", twoBlocks);
      EXPECT_EQ(run.status, 2) << name << word;
      EXPECT_EQ(run.output, "");
    }
}

class OrderOfThreads : public testing::TestWithParam<const char*> {};

TEST_P(OrderOfThreads, IsNotSeen) {
  const Variable emulated("MELIX_DEVICE", "emulated");
  const std::string program =
      std::string(MELIX_SOURCE_DIR) + "/tests/programs/devices/" + GetParam() + ".mlx";
  const std::string wanted = melix("run " + program).output;
  EXPECT_NE(wanted, "");
  for (int seed = 0; seed < 20; ++seed) {
    const Variable order("MELIX_DEVICE_SEED", std::to_string(seed).c_str());
    EXPECT_EQ(melix("run " + program).output, wanted) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, OrderOfThreads,
                         testing::Values("residence", "shared_arrays", "gradients", "groups", "group_memory",
                                         "tiles"),
                         [](const auto& program) { return std::string(program.param); });

TEST(Devices, KernelsAreDeviceFunctionsAndHostLoopsAreNot) {
  const Variable emulated("MELIX_DEVICE", "emulated");
  const std::string text = melix("show --stage loops -", R"(
fn plain(x: f64[N]) -> f64[N] = on gpu { [for i: x[i] * x[i]] }
fn checked(x: f64[N], at: int[N]) -> f64[N] = on gpu { [for i: x[at[i]]] }
fn filtered(x: f64[N]) -> f64[_] = on gpu { [for v in x if v > 1: v] }
fn total(x: f64[N]) -> f64 = on gpu { sum(x) }
fn texts(x: f64[N]) -> str[N] = on gpu { [for i: if x[i] > 1 { "many" } else { "few" }] }
let x = [for i in 0..len(arguments()) + 9: 1.0 * i]
let at = [for i in 0..len(x): i % 3]
print(plain(x), checked(x, at), filtered(x), total(x), texts(x))
)")
                               .output;
  EXPECT_EQ(timesIn(text, "\ndevice @"), 3U) << text;
  for (const char* name : {"plain", "checked", "total"})
    EXPECT_NE(text.find(std::string("device @") + name), std::string::npos) << name;
}

TEST(Devices, WhatRunsWhereIsExplained) {
  const std::string program = R"(
fn fib(n: int) -> int = if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
let n = len(arguments()) + 9
let x = [for i in 0..n: 1.0 * i]
on gpu {
  var y = [for i: 2 * x[i]]
  y[3] = sum(y)
  let kept = [for v in y if v > 2: v]
  var xs: List[f64] = []
  for i in 0..n { xs.push(y[i] * 2) }
  let texts = [for i: "{y[i]}"]
  for i in 0..n { print(i) }
  print(y, kept, xs, texts, fib(n))
}
)";
  EXPECT_EQ(melix("explain-device -", program).output, R"(<stdin>:2: on the host: recursion (2 times)
<stdin>:4: the host writes `x`
<stdin>:6: a map, a thread a point
<stdin>:7: a total, 32 threads a block of 8192 terms
<stdin>:7: the host reads an array
<stdin>:7: the host writes elements of `y`
<stdin>:8: on the host: a filter, whose size is known when it has run
<stdin>:8: the host reads `y`
<stdin>:10: on the host: a List that grows
<stdin>:11: on the host: texts
<stdin>:12: on the host: a loop with a function of the runtime, as for output
)");
  EXPECT_EQ(melix("explain-device --count -", program).output,
            "2 on the device, 2 on the host\n"
            "  1 on the host: a filter, whose size is known when it has run\n"
            "  1 on the host: texts\n");
  EXPECT_TRUE(melix("explain-device -", "print(1)\n").output.starts_with("nothing of this program runs"));
}

/// The library's sort names its arrays `ids` and `x`.
TEST(Devices, ASortIsOfTheHostAndOnlyNamesOfTheProgramAreTold) {
  const harness::ProcessResult run = melix("explain-device -", "fn main(n: int = 100) {\n"
                                                               "  let v = [for i in 0..n: i * 37 % 101]\n"
                                                               "  on gpu { print(sort(2 * v)[0]) }\n"
                                                               "}\n");
  EXPECT_NE(run.output.find("<stdin>:3: on the host: a sort\n"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("`ids`"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("`x`"), std::string::npos) << run.output;
}

TEST(Devices, ALoopWhoseCallsLaunchFurtherInIsNotOfTheHost) {
  const std::string text = melix("explain-device -", R"(
fn inner(x: f64[N], n: int) -> f64[N] = if n <= 0 { x } else { let y = [for i: 2 * x[i]]; inner(y, n - 1) }
fn outer(x: f64[N], n: int) -> f64[N] = if n > 9 { outer(x, n - 2) } else { inner(inner(x, n), n - 1) }
var x = [for i in 0..len(arguments()) + 9: 1.0 * i]
on gpu { for k in 0..3 { x = outer(x, k) } }
print(x)
)")
                               .output;
  EXPECT_NE(text.find("<stdin>:2: a map, a thread a point"), std::string::npos) << text;
  EXPECT_EQ(text.find("on the host"), std::string::npos) << text;
}

TEST(Devices, CopiesAndWaitsAreLoggedWithTheirPlaces) {
  const Variable emulated("MELIX_DEVICE", "emulated"), log("MELIX_DEVICE_LOG", "2");
  const std::string errors = melix("run -", twoBlocks).errors;
  EXPECT_TRUE(errors.starts_with("melix: device: <stdin>:2:18: 1 copy in (0.0 kB)\n"
                                 "melix: device: <stdin>:3:7: 1 copy out (0.0 kB), 1 wait\n"
                                 "melix: device: 2 launches of 2 kernels,"))
      << errors;
}

TEST(Devices, BothSidesAreComparedWhereThatIsAskedFor) {
  const Variable check("MELIX_DEVICE", "check"), stats("MELIX_STATS", "1");
  const harness::ProcessResult run = melix("run -", twoBlocks);
  EXPECT_EQ(run.output, printed);
  EXPECT_NE(run.errors.find("on the device: live blocks 0, allocations 3"), std::string::npos) << run.errors;
  const harness::ProcessResult prints = melix("run -", "print(1)\non gpu { print(2) }\n");
  EXPECT_EQ(prints.output, "1\n2\n");
  EXPECT_TRUE(
      prints.errors.starts_with("melix: <stdin>:2: a block with input, output or `debug` is not checked\n"))
      << prints.errors;
}

} // namespace
} // namespace melix::driver
