// Arrays that lie in place in the nodes of an enum: who copies them.
#include "jit/program.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

constexpr int64_t nodes = 100;

/// The blocks that the program makes when `main` is these statements, `%c` being a chain of a hundred nodes.
int64_t blocksOf(const std::string& statements) {
  const Outcome outcome = run(R"(
enum Chain { End(), Link(x: f64[32], k: i64, rest: Chain) }
fn made (%n: i64) -> (Chain) {
  %end = variant 0 : Chain
  %c = for collects 0 %n, %end { (%i: i64, %rest: Chain)
    %v = convert saturate %i : f64
    %x = nest (%j: 32) -> collect[j] {
      yield %v
    } : f64[32]
    %link = variant 1 %x, %i, %rest : Chain
    yield %link
  } : Chain
  yield %c
}
fn find (%c: Chain, %k: i64) -> (f64[32]) {
  %r = match cases [0, 1] %c {
    %zero = const 0.0 : f64
    %zeros = nest (%j: 32) -> collect[j] {
      yield %zero
    } : f64[32]
    yield %zeros
  } { (%x: f64[32], %own: i64, %rest: Chain)
    %is = cmp eq %own, %k : bool
    %s = if %is {
      yield %x
    } {
      %found = call @find %rest, %k : f64[32]
      yield %found
    } : f64[32]
    yield %s
  } : f64[32]
  yield %r
}
fn longer (%c: Chain) -> (Chain) {
  %r = match cases [0, 1] %c {
    %end = variant 0 : Chain
    yield %end
  } { (%x: f64[32], %k: i64, %rest: Chain)
    %others = call @longer %rest : Chain
    %link = variant 1 %x, %k, %others : Chain
    yield %link
  } : Chain
  yield %r
}
fn total (%c: Chain) -> (f64) {
  %r = match cases [0, 1] %c {
    %zero = const 0.0 : f64
    yield %zero
  } { (%x: f64[32], %k: i64, %rest: Chain)
    %own = nest (%j: 32) -> keep[] sum {
      %v = get %x[%j] : f64
      yield %v
    } : f64
    %others = call @total %rest : f64
    %sum = add %own, %others : f64
    yield %sum
  } : f64
  yield %r
}
fn main () -> (i64) {
  %n = const 100 : i64
  %zero = const 0 : i64
  %made = call @made %n : Chain
  %c = black_box %made : Chain
)" + statements + R"(
  yield %zero
}
)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.status, MELIX_OK) << outcome.panic;
  EXPECT_EQ(outcome.stats.liveBlocks, 0);
  return outcome.stats.allocations;
}

TEST(Nodes, HoldArraysInPlace) { EXPECT_EQ(blocksOf(""), nodes); }

TEST(Nodes, PayloadsAreReadWhereTheyLie) {
  EXPECT_EQ(blocksOf("  %s = call @total %c : f64\n  %t = black_box %s : f64"), nodes);
}

TEST(Nodes, APayloadIsCopiedInTheArmThatTakesIt) {
  EXPECT_EQ(blocksOf("  %x = call @find %c, %zero : f64[32]\n  %y = black_box %x : f64[32]"), nodes + 1);
}

TEST(Nodes, APayloadGoesFromNodeToNode) {
  EXPECT_EQ(blocksOf("  %d = call @longer %c : Chain\n  %e = black_box %d : Chain"), 2 * nodes);
}

} // namespace
} // namespace melix::jit
