// From Core text to Loops: where arrays lie, in what callers give, in rows of a sweep, in frames.
#include "loops/lowered.h"

namespace melix::loops {
namespace {

constexpr std::string_view rows = R"(
fn row [N] (%x: f64[N], %k: i64) -> (f64[N]) {
  %r = nest (%i: N) -> collect[i] {
    %v = get %x[%i] : f64
    %f = convert saturate %k : f64
    %w = mul %v, %f : f64
    yield %w
  } : f64[N]
  yield %r
}
fn again [N] (%y: f64[N], %k: i64) -> (f64[N]) {
  %a = call @row %y, %k dims [N] : f64[N]
  %b = call @row %a, %k dims [N] : f64[N]
  yield %b
}
fn nested [N, M] (%z: f64[N]) -> (f64[M, N]) {
  %m = nest (%j: M) -> collect[j] {
    %c = call @again %z, %j dims [N] : f64[N]
    yield %c
  } : f64[M, N]
  yield %m
}
fn looped [N] (%u: f64[N]) -> (f64) {
  %three = const 3 : i64
  %n = for collects 1 %three defines [K] { (%l: i64)
    %d = call @row %u, %l dims [N] : f64[N]
    yield %d
  } : f64[K, N]
  %zero = const 0 : i64
  %e = get %n[%zero, %zero] : f64
  yield %e
}
)";

TEST(Destinations, AFunctionWritesItsArrayWhereTheCallerCollectsIt) {
  Lowered lowered(rows);
  ASSERT_FALSE(lowered.result->error) << lowered.result->error->what;
  EXPECT_EQ(lowered.function("row.dest.0").modes.back(), ModeKind::Dest);
  EXPECT_TRUE(lowered.function("row.dest.0").results.empty());
  for (const char* key : {"nested", "looped"}) {
    EXPECT_EQ(lowered.text(key).find("copy"), std::string::npos) << lowered.text(key);
    EXPECT_EQ(countOf(lowered.function(key), StmtKind::AllocArray), 1u) << key;
  }
  EXPECT_EQ(countOf(lowered.function("row.dest.0"), StmtKind::AllocArray), 0u);
  // What is only needed on the way has memory of its own.
  EXPECT_EQ(countOf(lowered.function("again.dest.0"), StmtKind::AllocArray), 0u);
  EXPECT_NE(lowered.text("again.dest.0").find("call @row "), std::string::npos);
}

/// A stack of copied rows, under another name of its size, is written where the caller stacks it.
TEST(Destinations, ALoopStacksWhereTheCallerCollectsIt) {
  Lowered lowered(R"(
fn shifted [N, M] (%x: f64[N, M], %v: f64) -> (f64[N, M]) {
  %n = dim_value dims [N] : i64
  %zero = const 0 : i64
  %y, %s = for collects 1 %n, %x defines [K] { (%i: i64, %z: f64[N, M])
    %row = get %z[%i] : f64[M]
    %w = set %z[%i, %zero] = %v : f64[N, M]
    yield %w, %row
  } : f64[N, M], f64[K, M]
  %r = cast_dims %s : f64[N, M]
  yield %r
}
fn twice [N, M] (%u: f64[N, M], %v: f64) -> (f64[N, M], f64[N, M]) {
  %a = call @shifted %u, %v dims [N, M] : f64[N, M]
  yield %a, %a
}
fn stacked [N, M, L] (%t: f64[N, M]) -> (f64[L, N, M]) {
  %m = nest (%j: L) -> collect[j] {
    %f = convert saturate %j : f64
    %c = call @shifted %t, %f dims [N, M] : f64[N, M]
    yield %c
  } : f64[L, N, M]
  yield %m
}
)");
  ASSERT_FALSE(lowered.result->error) << lowered.result->error->what;
  EXPECT_EQ(countOf(lowered.function("shifted.dest.0"), StmtKind::AllocArray), 0u)
      << lowered.text("shifted.dest.0");
  EXPECT_EQ(countOf(lowered.function("shifted"), StmtKind::AllocArray), 1u) << lowered.text("shifted");
  EXPECT_EQ(countOf(lowered.function("stacked"), StmtKind::AllocArray), 1u) << lowered.text("stacked");
  // What two results hold lies in memory of its own.
  EXPECT_NE(lowered.text("twice").find("call @shifted "), std::string::npos) << lowered.text("twice");
}

/// How many statements of a kind stand in loops of the function, and run at every point.
size_t countInLoops(const Function& fn, StmtKind kind, RegionId region, bool inLoop = false) {
  size_t count = 0;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    count += inLoop && s.kind == kind;
    if (s.kind == StmtKind::If) continue;
    for (RegionId inner : s.regions)
      count += countInLoops(fn, kind, inner, inLoop || s.kind == StmtKind::For);
  }
  return count;
}

TEST(Rows, ABlockOfOnePointIsMadeOnceInASweep) {
  Lowered lowered(R"(
fn f [N, M] (%x: f64[N, M]) -> (f64[N, M]) {
  %y = nest (%i: N) -> collect[i] {
    %s, %e = nest (%j: M) -> keep[] sum, collect[j] {
      %a = get %x[%i, %j] : f64
      %b = mul %a, %a : f64
      yield %b, %b
    } : f64, f64[M]
    %r = nest (%k: M) -> collect[k] {
      %c = get %e[%k] : f64
      %d = div %c, %s : f64
      yield %d
    } : f64[M]
    yield %r
  } : f64[N, M]
  yield %y
}
)");
  size_t inLoops = 0, all = 0;
  for (const Function& fn : lowered.result->module.functions) {
    inLoops += countInLoops(fn, StmtKind::AllocArray, fn.body);
    all += countOf(fn, StmtKind::AllocArray);
  }
  EXPECT_EQ(inLoops, 0u);
  EXPECT_GE(all, 2u);
}

/// What a row of zeros has added to it is of this point alone.
TEST(Rows, ARowOfZerosIsClearedAtEveryPoint) {
  Lowered lowered(R"(
fn f [N, M] (%x: i64[N]) -> (f64[N]) {
  %one = const 1.0 : f64
  %y = nest (%i: N) -> collect[i] {
    %z = zero : f64[M]
    %k = get %x[%i] : i64
    check index "" %k dims [M]
    %w = add_at %z[%k] += %one : f64[M]
    %s = nest (%j: M) -> keep[] sum {
      %a = get %w[%j] : f64
      %b = mul %a, %a : f64
      yield %b
    } : f64
    yield %s
  } : f64[N]
  yield %y
}
)");
  size_t inLoops = 0, cleared = 0;
  for (const Function& fn : lowered.result->module.functions) {
    inLoops += countInLoops(fn, StmtKind::AllocArray, fn.body);
    cleared += countInLoops(fn, StmtKind::ZeroBytes, fn.body);
  }
  EXPECT_EQ(inLoops, 0u);
  EXPECT_EQ(cleared, 1u);
}

TEST(Frames, ASmallArrayThatCalleesOnlyReadLiesInTheFrame) {
  Lowered lowered(R"(
fn first (%x: f64[3]) -> (f64) {
  %zero = const 0 : i64
  %r = get %x[%zero] : f64
  yield %r
}
fn outer (%y: f64[3]) -> (f64) {
  %s = call @first %y : f64
  yield %s
}
fn keeps (%z: f64[3]) -> ((f64[3], f64[3])) {
  %l = make %z, %z : (f64[3], f64[3])
  yield %l
}
fn f (%a: f64, %b: f64) -> (f64, (f64[3], f64[3])) {
  %p = array %a, %b, %a : f64[3]
  %t = call @outer %p : f64
  %q = array %b, %b, %a : f64[3]
  %k = call @keeps %q : (f64[3], f64[3])
  yield %t, %k
}
)");
  const Function& f = lowered.function("f");
  EXPECT_EQ(countOf(f, StmtKind::FrameArray), 1u) << lowered.text("f");
  EXPECT_EQ(countOf(f, StmtKind::AllocArray), 1u) << lowered.text("f");
}

TEST(Frames, WhatBlocksOfASumLeaveLiesInTheFrame) {
  const std::string sum = R"( [N] (%x: f32[N], %n: i64) -> (f32) {
  %s = nest (%i: N) -> keep[] sum lanes(64, i) {
    %a = get %x[%i] : f32
    yield %a
  } : f32
)";
  Lowered lowered("fn total" + sum + "  yield %s\n}\nfn again" + sum +
                  "  %m = call @again %x, %n dims [N] : f32\n  %t = add %s, %m : f32\n  yield %t\n}\n");
  EXPECT_EQ(countOf(lowered.function("total"), StmtKind::FrameArray), 1u) << lowered.text("total");
  EXPECT_EQ(countOf(lowered.function("total"), StmtKind::AllocArray), 0u) << lowered.text("total");
  EXPECT_EQ(countOf(lowered.function("again"), StmtKind::FrameArray), 0u) << "it calls itself";
}

/// 64 numbers in each frame would cost most of the depth; three cost nothing.
TEST(Frames, RecursionKeepsItsFramesSmall) {
  Lowered lowered(R"(
fn down (%n: i64) -> (f64) {
  %one = const 1 : i64
  %z = zero : f64[64]
  %p = zero : f64[3]
  check index "" %n dims [3]
  %a = get %z[%n] : f64
  %b = get %p[%n] : f64
  %m = sub %n, %one : i64
  %r = call @down %m : f64
  %s = add %r, %a : f64
  %t = add %s, %b : f64
  yield %t
}
)");
  const Function& down = lowered.function("down");
  EXPECT_EQ(countOf(down, StmtKind::FrameArray), 1u) << lowered.text("down");
  EXPECT_EQ(countOf(down, StmtKind::AllocArray), 1u) << lowered.text("down");
}

TEST(Frames, WhatIsReturnedOrLargeIsABlock) {
  Lowered lowered(R"(
fn f (%a: f64, %i: i64) -> (f64[3], f64) {
  %p = array %a, %a, %a : f64[3]
  %z = zero : f64[65]
  %r = get %z[%i] : f64
  yield %p, %r
}
)");
  EXPECT_EQ(countOf(lowered.function("f"), StmtKind::FrameArray), 0u) << lowered.text("f");
}

} // namespace
} // namespace melix::loops
