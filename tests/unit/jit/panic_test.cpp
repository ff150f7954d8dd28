// Panics: message, trace, memory.
#include "jit/program.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace melix::jit {
namespace {

TEST(Panics, NameTheNumbersAndFreeEverything) {
  Outcome outcome = run(R"(
fn main () -> (i64) {
  %x = zero : i64[10]
  %i = const 12 : i64
  check index "" %i dims [10]
  %v = get %x[%i] : i64
  yield %v
}
)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.status, MELIX_PANIC);
  EXPECT_EQ(outcome.stats.liveBlocks, 0);
  EXPECT_NE(outcome.panic.find("index 12 is out of range for an axis of size 10"), std::string::npos)
      << outcome.panic;
}

TEST(Panics, OfAKernelAreThoseOfTheLowestIndex) {
  const char* text = R"(
fn main () -> (i64) {
  %n = const 100000 : i64
  %x = nest (%i: 100000) -> collect[i] {
    %k = const 99000 : i64
    %y = mul %i, %i : i64
    %z = irem %y, %k : i64
    check index "" %i dims [70000]
    yield %z
  } : i64[100000]
  %v = get %x[%n] : i64
  yield %v
}
)";
  for (const char* threads : {"1", "2", "3"}) {
    setenv("MELIX_THREADS", threads, 1);
    melix_pool_stop();
    Outcome outcome = run(text);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.status, MELIX_PANIC);
    EXPECT_EQ(outcome.stats.liveBlocks, 0);
    EXPECT_NE(outcome.panic.find("index 70000 is out of range for an axis of size 70000"), std::string::npos)
        << outcome.panic;
  }
  unsetenv("MELIX_THREADS");
  melix_pool_stop();
}

TEST(Panics, RecursionWithoutEnd) {
  setenv("MELIX_STACK", "16M", 1);
  Outcome outcome = run(R"(
fn down (%n: i64) -> (i64) {
  %one = const 1 : i64
  %m = add %n, %one : i64
  %r = call @down %m : i64
  %s = add %r, %one : i64
  yield %s
}
fn main () -> (i64) {
  %zero = const 0 : i64
  %r = call @down %zero : i64
  yield %r
}
)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.status, MELIX_PANIC);
  EXPECT_NE(outcome.panic.find("stack"), std::string::npos) << outcome.panic;
  unsetenv("MELIX_STACK");
}

TEST(Threads, GiveTheSameBits) {
  const char* text = R"(
fn main () -> (i64) {
  %x = nest (%i: 300, %j: 400) -> collect[i, j] {
    %one = const 1.0 : f64
    %k = const 7 : i64
    %p = mul %i, %k : i64
    %q = add %p, %j : i64
    %f = convert saturate %q : f64
    %g = add %f, %one : f64
    %h = div %one, %g : f64
    yield %h
  } : f64[300, 400]
  %r = nest (%a: 300, %b: 400) -> keep[a] sum lanes(32, b) {
    %v = get %x[%a, %b] : f64
    yield %v
  } : f64[300]
  %s = nest (%c: 300) -> keep[] sum chain {
    %w = get %r[%c] : f64
    yield %w
  } : f64
  %bits = bitcast %s : u64
  %out = convert wrap %bits : i64
  yield %out
}
)";
  std::vector<int64_t> results;
  for (const char* threads : {"1", "2", "3"}) {
    setenv("MELIX_THREADS", threads, 1);
    melix_pool_stop();
    Outcome outcome = run(text);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.status, MELIX_OK);
    EXPECT_EQ(outcome.stats.liveBlocks, 0);
    results.push_back(outcome.result);
  }
  unsetenv("MELIX_THREADS");
  melix_pool_stop();
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

} // namespace
} // namespace melix::jit
