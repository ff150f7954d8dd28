// The emulated device notices what is missing: without one of the statements that make copies valid a program
// gives another result.
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

class DeviceTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("MELIX_DEVICE", "emulated", 1);
    ASSERT_EQ(melix_devices_and_emulator.start(0), MELIX_OK);
    unsetenv("MELIX_DEVICE");
    options_.devices = {.emulator = true};
  }

  loops::Module lowered() {
    loops::Result result = loops::fromCore(program_.core, codegen::loopOptions(options_));
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

/// Takes the statement number `k` of those that make copies valid out of a module; false if it has no more.
bool takeOut(loops::Module& module, size_t k) {
  for (loops::Function& fn : module.functions)
    for (uint32_t r = 0; r < fn.regions.size(); ++r) {
      std::vector<StmtId>& stmts = fn.regions[loops::RegionId(r)].stmts;
      for (size_t s = 0; s < stmts.size(); ++s) {
        if (!makesValid(fn.stmts[stmts[s]].kind) || k-- > 0) continue;
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
    if (!takeOut(module, k)) break;
    const Outcome outcome = run(module, options_);
    EXPECT_EQ(outcome.error, "");
    noticed += outcome.result != expected;
  }
  EXPECT_GE(noticed, 4U);
}

} // namespace
} // namespace melix::jit
