// The emulated device notices what is missing: without one of the statements that make copies valid, or one
// of the barriers of a group, a program gives another result.
#include "jit/program.h"
#include "loops/pipeline.h"
#include "loops/text/verify.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace melix::jit {
namespace {

using loops::StmtId;
using loops::StmtKind;

/// Host and device write an array by turns.
constexpr const char* byTurns = R"(
fn twice [N] (%x: i64[N]) -> (i64[N]) on gpu {
  %0 = const 2 : i64
  %1 = nest (%i: N) -> collect[i] {
    %2 = get %x[%i] : i64
    %3 = mul %0, %2 : i64
    yield %3
  } : i64[N]
  yield %1
}
fn main () -> (i64) {
  %n = const 300 : i64
  bind_dim %n defines [n]
  %x = nest (%i: n) -> collect[i] {
    yield %i
  } : i64[n]
  %y = call @twice %x dims [n] : i64[n]
  %1 = const 1 : i64
  %z = nest (%k: n) -> collect[k] {
    %14 = get %y[%k] : i64
    %15 = add %14, %1 : i64
    yield %15
  } : i64[n]
  %w = call @twice %z dims [n] : i64[n]
  %18 = const 7 : i64
  %17 = const 5 : i64
  %19 = nest (%r: n) -> keep[] sum {
    %20 = get %w[%r] : i64
    yield %20
  } : i64
  %u = set %z[%17] = %18 : i64[n]
  %v = call @twice %u dims [n] : i64[n]
  %22 = nest (%q: n) -> keep[] sum {
    %23 = get %u[%q] : i64
    yield %23
  } : i64
  %26 = get %v[%17] : i64
  %27 = mul %18, %19 : i64
  %28 = add %22, %27 : i64
  %29 = add %28, %26 : i64
  yield %29
}
)";
constexpr int64_t expected = 1'350'010;

/// Rows whose sums and largest elements the threads of a group find together.
constexpr const char* rows = R"(
fn rows [M, N] (%x: f64[M, N]) -> (f64[M]) on gpu {
  %0 = nest (%i: M) -> collect[i] {
    %1 = nest (%j: N) -> keep[] sum lanes(64, j) {
      %2 = get %x[%i, %j] : f64
      yield %2
    } : f64
    %3 = nest (%k: N) -> keep[] max {
      %4 = get %x[%i, %k] : f64
      yield %4
    } : f64
    %5 = mul %1, %3 : f64
    yield %5
  } : f64[M]
  yield %0
}
fn main () -> (i64) {
  %m = const 9 : i64
  %n = const 170 : i64
  bind_dim %m defines [m]
  bind_dim %n defines [n]
  %13 = const 13 : i64
  %29 = const 29 : i64
  %x = nest (%i: m, %j: n) -> collect[i, j] {
    %1 = mul %j, %13 : i64
    %2 = add %i, %1 : i64
    %3 = irem %2, %29 : i64
    %4 = convert saturate %3 : f64
    yield %4
  } : f64[m, n]
  %y = call @rows %x dims [m, n] : f64[m]
  %z = nest (%k: m) -> keep[] sum {
    %5 = get %y[%k] : f64
    %6 = convert saturate %5 : i64
    yield %6
  } : i64
  yield %z
}
)";

void startEmulator(const char* seed) {
  setenv("MELIX_DEVICE", "emulated", 1);
  setenv("MELIX_DEVICE_SEED", seed, 1);
  ASSERT_EQ(melix_devices_and_emulator.start(0), MELIX_OK);
  unsetenv("MELIX_DEVICE");
  unsetenv("MELIX_DEVICE_SEED");
}

class DeviceTest : public testing::Test {
protected:
  void SetUp() override {
    startEmulator("");
    options_.devices = {.emulator = true};
  }

  loops::Module lowered() { return lowered(program_); }
  loops::Module lowered(const Program& program) {
    loops::Result result = loops::fromCore(program.core, codegen::loopOptions(options_));
    EXPECT_FALSE(result.error);
    EXPECT_EQ(loops::verify(result.module, {loops::State::CountsInserted}), "");
    return std::move(result.module);
  }

  Program program_{byTurns};
  codegen::Options options_;
};

/// Whether the host would read or write a copy that is not valid without this.
bool makesValid(StmtKind kind) {
  return kind == StmtKind::Acquire || kind == StmtKind::AcquireUpdate || kind == StmtKind::Fetch ||
         kind == StmtKind::Put;
}

/// Takes the statement number `k` of those for which `isMeant` holds out of a module; false if it has no
/// more.
template <class IsMeant>
bool takeOut(loops::Module& module, size_t k, const IsMeant& isMeant) {
  for (loops::Function& fn : module.functions)
    for (uint32_t r = 0; r < fn.regions.size(); ++r) {
      std::vector<StmtId>& stmts = fn.regions[loops::RegionId(r)].stmts;
      for (size_t s = 0; s < stmts.size(); ++s) {
        if (!isMeant(fn.stmts[stmts[s]].kind) || k-- > 0) continue;
        stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(s));
        return true;
      }
    }
  return false;
}

TEST_F(DeviceTest, HostAndDeviceWriteByTurns) {
  const Outcome outcome = run(lowered(), options_);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.result, expected);
  EXPECT_EQ(outcome.stats.liveBlocks, 0);
  EXPECT_EQ(melix_devices_and_emulator.stats()->liveBlocks, 0);
}

/// The analysis places some that a run does not need: of copies that are valid anyway, and where code runs
/// only without a device.
TEST_F(DeviceTest, AMissingAcquireIsNoticed) {
  size_t noticed = 0;
  for (size_t k = 0;; ++k) {
    loops::Module module = lowered();
    if (!takeOut(module, k, makesValid)) break;
    const Outcome outcome = run(module, options_);
    EXPECT_EQ(outcome.error, "");
    noticed += outcome.result != expected;
  }
  EXPECT_GE(noticed, 4U);
}

/// Those that are not: before the first iteration of a loop, which nothing stored before, and after the last.
TEST_F(DeviceTest, AMissingBarrierIsNoticed) {
  const Program program{rows};
  const int64_t whole = run(lowered(program), options_).result;
  size_t noticed = 0, unnoticed = 0;
  for (size_t k = 0;; ++k) {
    loops::Module module = lowered(program);
    if (!takeOut(module, k, [](StmtKind kind) { return kind == StmtKind::Barrier; })) break;
    bool differs = false;
    for (const char* seed : {"1", "2", "3", "4"}) {
      startEmulator(seed);
      const Outcome outcome = run(module, options_);
      EXPECT_EQ(outcome.error, "");
      differs |= outcome.result != whole;
    }
    (differs ? noticed : unnoticed) += 1;
  }
  EXPECT_GE(noticed, 4U);
  EXPECT_LE(unnoticed, 4U);
}

} // namespace
} // namespace melix::jit
