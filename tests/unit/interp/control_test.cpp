// Control flow, calls, panics, ownership.
#include "interp/run_text.h"

namespace melix::interp {
namespace {

TEST(Interp, LoopsCarryValues) {
  Running m(R"(fn f (%n: i64) -> (i64) {
  %0 = const 0 : i64
  %1 = for collects 0 %n, %0 { (%i: i64, %s: i64)
    %t = add %s, %i : i64
    yield %t
  } : i64
  yield %1
}
)");
  EXPECT_EQ(m.run({Value::integer(10)})[0].asInteger(), 45);
  EXPECT_EQ(m.run({Value::integer(-3)})[0].asInteger(), 0);
}

TEST(Interp, LoopsCollectRows) {
  Running m(R"(fn f [N] (%n: i64, %x: f32[N]) -> (f32[K, N], f32[N]) defines [K] {
  %a, %b = for collects 1 %n, %x defines [K$1] { (%i: i64, %s: f32[N])
    %c = const 0 : i64
    %v = convert saturate %i : f32
    %t = set %s[%c] = %v : f32[N]
    yield %t, %s
  } : f32[N], f32[K$1, N]
  yield %b, %a dims [K$1]
}
)");
  RunResult r = m.raw({Value::integer(3), Value::floats(std::vector<float>{9, 8})});
  ASSERT_FALSE(r.panicked) << r.panic.message;
  EXPECT_EQ(r.dims, std::vector<int64_t>{3});
  EXPECT_EQ(floatsOf(r.values[0]), (std::vector<float>{9, 8, 0, 8, 1, 8}));
  EXPECT_EQ(floatsOf(r.values[1]), (std::vector<float>{2, 8}));
}

TEST(Interp, CarriesMaySwap) {
  Running m(R"(fn f (%n: i64, %a: i64, %b: i64) -> (i64, i64) {
  %0, %1 = for collects 0 %n, %a, %b { (%i: i64, %x: i64, %y: i64)
    %s = add %x, %y : i64
    yield %y, %s
  } : i64, i64
  yield %0, %1
}
)");
  EXPECT_EQ(m.run({Value::integer(10), Value::integer(0), Value::integer(1)})[0].asInteger(), 55);
}

TEST(Interp, EnumsMatchAndRecurse) {
  Running m(R"(enum Tree { Leaf(i64), Node(Tree, Tree) }
fn build (%n: i64) -> (Tree) {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %c = cmp gt %n, %0 : bool
  %r = if %c {
    %m = sub %n, %1 : i64
    %a = call @build %m : Tree
    %t = variant 1 %a, %a : Tree
    yield %t
  } {
    %t$1 = variant 0 %1 : Tree
    yield %t$1
  } : Tree
  yield %r
}
fn total (%t: Tree) -> (i64) {
  %r = match cases [0, 1] %t { (%v: i64)
    yield %v
  } { (%a: Tree, %b: Tree)
    %x = call @total %a : i64
    %y = call @total %b : i64
    %s = add %x, %y : i64
    yield %s
  } : i64
  yield %r
}
fn f (%n: i64) -> (i64) {
  %t = call @build %n : Tree
  %s = call @total %t : i64
  yield %s
}
)");
  int64_t before = liveObjects();
  EXPECT_EQ(m.run({Value::integer(10)})[0].asInteger(), 1024);
  EXPECT_EQ(liveObjects(), before);
}

const char* const recursion = R"(fn f (%n: i64) -> (i64) {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %c = cmp gt %n, %0 : bool
  %r = if %c {
    %m = sub %n, %1 : i64
    %a = call @f %m : i64
    %b = add %a, %1 : i64
    yield %b
  } {
    yield %0
  } : i64
  yield %r
}
)";

TEST(Interp, DeepRecursionWorksUpToTheLimit) {
  Running m(recursion);
  EXPECT_EQ(m.run({Value::integer(400000)})[0].asInteger(), 400000);
  RunResult r = m.raw({Value::integer(100000000)});
  EXPECT_TRUE(r.panicked);
  EXPECT_EQ(r.panic.message, "stack overflow: recursion without end?");
}

TEST(Interp, TheHostBoundsRecursion) {
  Hooks hooks;
  hooks.stackBytes = 4 << 20;
  Running m(recursion, std::move(hooks));
  EXPECT_EQ(m.run({Value::integer(1000)})[0].asInteger(), 1000);
  RunResult r = m.raw({Value::integer(100000)});
  EXPECT_TRUE(r.panicked);
  EXPECT_EQ(r.panic.message, "stack overflow: recursion without end?");
}

TEST(Interp, TheHostEndsNestsToo) {
  int asked = 0;
  Hooks hooks;
  hooks.interrupted = [&] { return ++asked == 3; };
  Running m(R"(fn f [N] () -> (i64) {
  %s = nest (%i: N) -> keep[] sum {
    yield %i
  } : i64
  yield %s
}
)",
            std::move(hooks));
  RunResult r = m.raw({}, {int64_t(1) << 40});
  EXPECT_TRUE(r.panicked);
  EXPECT_EQ(r.panic.message, "interrupted");
}

TEST(Interp, PanicsSayWhyAndFreeEverything) {
  Running m(R"(fn g [N] (%x: f32[N], %i: i64) -> (f32) {
  check index "" %i dims [N]
  %v = get %x[%i] : f32
  yield %v
}
fn f [N] (%x: f32[N], %i: i64) -> (f32) {
  %y = nest (%a: N) -> collect[a] {
    %w = call @g %x, %i dims [N] : f32
    yield %w
  } : f32[N]
  %v = call @g %y, %i dims [N] : f32
  yield %v
}
)");
  int64_t before = liveObjects();
  {
    std::vector<Value> args{Value::floats(std::vector<float>{1, 2, 3}), Value::integer(3)};
    RunResult r = m.raw(std::move(args));
    EXPECT_TRUE(r.panicked);
    EXPECT_EQ(r.panic.message, "index 3 is out of range for an axis of size 3");
    ASSERT_EQ(r.panic.trace.size(), 2u);
    EXPECT_EQ(r.panic.trace[0].function, "g");
    EXPECT_EQ(r.panic.trace[1].function, "f");
  }
  EXPECT_EQ(liveObjects(), before);
}

TEST(Interp, UpdatesOfTheOnlyOwnerAreInPlace) {
  Running m(R"(fn f [N] (%x: f32[N], %n: i64) -> (f32[N]) {
  %one = const 1.0 : f32
  %r = for collects 0 %n, %x { (%i: i64, %s: f32[N])
    %c = cmp ge %i, %i : bool
    %t = if %c {
      %u = add_at %s[%i] += %one : f32[N]
      yield %u
    } {
      yield %s
    } : f32[N]
    yield %t
  } : f32[N]
  yield %r
}
)");
  constexpr int64_t n = 1 << 12;
  Value zeros = Value::floats(std::vector<float>(n));
  int64_t before = arrayBytesMade();
  std::vector<Value> r = m.run({zeros, Value::integer(n)});
  EXPECT_EQ(r[0].asFloats()[n - 1], 1.0f);
  EXPECT_LE(arrayBytesMade() - before, 2 * n * 4) << "one copy of what the caller keeps, none a step";
}

TEST(Interp, ValuesPassedByValueAreNotChanged) {
  Running m(R"(fn f [N] (%x: f32[N], %i: i64, %v: f32) -> (f32[N], f32[N]) {
  %y = set %x[%i] = %v : f32[N]
  yield %x, %y
}
)");
  std::vector<Value> r = m.run({Value::floats(std::vector<float>{1, 2}), Value::integer(0), Value::f32(7)});
  EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(floatsOf(r[1]), (std::vector<float>{7, 2}));
}

} // namespace
} // namespace melix::interp
