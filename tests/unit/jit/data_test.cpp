// Strings, lists, enums, packs and what they hold.
#include "jit/program.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

Outcome fine(std::string_view text) {
  Outcome outcome = run(text);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.status, MELIX_OK) << outcome.panic;
  EXPECT_EQ(outcome.stats.liveBlocks, 0);
  return outcome;
}

TEST(Strings, AreJoinedComparedAndPrinted) {
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %a = const "hello" : str
  %b = const " world" : str
  %c = builtin str_concat %a, %b : str
  %u = builtin print %c, %a : ()
  %n = length %c : i64
  %same = cmp eq %c, %a : bool
  %less = cmp lt %b, %a : bool
  %u2 = builtin print %b : ()
  %f = format "" quoted %c : str
  %u3 = builtin print %f : ()
  %hundred = const 100 : i64
  %ten = const 10 : i64
  %x = convert wrap %same : i64
  %y = convert wrap %less : i64
  %r1 = mul %x, %hundred : i64
  %r2 = mul %y, %ten : i64
  %r3 = add %r1, %r2 : i64
  %r4 = mul %n, %hundred : i64
  %r5 = add %r3, %r4 : i64
  yield %r5
}
)");
  EXPECT_EQ(outcome.result, 1110);
  EXPECT_EQ(outcome.output, "hello world hello\n world\n\"hello world\"\n");
}

TEST(Lists, GrowInPlace) {
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %n = const 1000 : i64
  %e = list : List[i64]
  %r = for collects 0 %n, %e { (%i: i64, %xs: List[i64])
    %ys = push %xs, %i : List[i64]
    yield %ys
  } : List[i64]
  %zero = const 0 : i64
  %v, %rest = pop %r : i64, List[i64]
  %more = set %rest<%zero> = %v : List[i64]
  %a = to_array %more defines [D] : i64[D]
  %s = nest (%k: D) -> keep[] sum {
    %x = get %a[%k] : i64
    yield %x
  } : i64
  %first = get %more<%zero> : i64
  %all = add %s, %first : i64
  yield %all
}
)");
  EXPECT_EQ(outcome.result, 999 * 998 / 2 + 999 + 999);
  EXPECT_LT(outcome.stats.allocations, 12);
}

TEST(Lists, HoldCountedValues) {
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %a = const "a" : str
  %b = const "b" : str
  %ab = builtin str_concat %a, %b : str
  %ba = builtin str_concat %b, %a : str
  %xs = list %ab, %ba, %ab : List[str]
  %one = const 1 : i64
  %ys = set %xs<%one> = %ab : List[str]
  %text = format "" %ys : str
  %u = builtin print %text : ()
  %old = format "" %xs : str
  %u2 = builtin print %old : ()
  %n = length %ys : i64
  yield %n
}
)");
  EXPECT_EQ(outcome.result, 3);
  EXPECT_EQ(outcome.output, "[\"ab\", \"ab\", \"ab\"]\n[\"ab\", \"ba\", \"ab\"]\n");
}

TEST(Lists, OfArraysOfDifferentSizesAreChangedInPlace) {
  // xs[0][k] = k for each k: the inner array is updated where it is.
  Outcome outcome = fine(R"(
fn main () -> (i64) {
  %n = const 50 : i64
  %x = zero : i64[50]
  %p = pack %x dims [50] : pack 1 i64[_]
  %y = zero : i64[3]
  %q = pack %y dims [3] : pack 1 i64[_]
  %xs = list %p, %q : List[pack 1 i64[_]]
  %zero = const 0 : i64
  %r = for collects 0 %n, %xs { (%i: i64, %ys: List[pack 1 i64[_]])
    %rest = get %ys<%zero> : pack 1 i64[_]
    %array = unpack %rest defines [K] : i64[K]
    %k = dim_value dims [K] : i64
    %v = get %array[%i] : i64
    %one = const 1 : i64
    %w = add %v, %one : i64
    %z = push %ys, %rest : List[pack 1 i64[_]]
    yield %z
  } : List[pack 1 i64[_]]
  %m = length %r : i64
  %text = format "" %q : str
  %u = builtin print %text : ()
  yield %m
}
)");
  EXPECT_EQ(outcome.result, 52);
  EXPECT_EQ(outcome.output, "[0, 0, 0]\n");
}

constexpr const char* tree = R"(
enum Tree { Leaf(), Node(left: Tree, value: i64, right: Tree) }
fn insert (%t: Tree, %v: i64) -> (Tree) {
  %r = match cases [0, 1] %t {
    %l = variant 0 : Tree
    %l2 = variant 0 : Tree
    %n = variant 1 %l, %v, %l2 : Tree
    yield %n
  } { (%left: Tree, %x: i64, %right: Tree)
    %c = cmp lt %v, %x : bool
    %s = if %c {
      %a = call @insert %left, %v : Tree
      %n1 = variant 1 %a, %x, %right : Tree
      yield %n1
    } {
      %b = call @insert %right, %v : Tree
      %n2 = variant 1 %left, %x, %b : Tree
      yield %n2
    } : Tree
    yield %s
  } : Tree
  yield %r
}
fn sum (%t3: Tree) -> (i64) {
  %r3 = match cases [0, 1] %t3 {
    %zero = const 0 : i64
    yield %zero
  } { (%left3: Tree, %x3: i64, %right3: Tree)
    %a3 = call @sum %left3 : i64
    %b3 = call @sum %right3 : i64
    %c3 = add %a3, %b3 : i64
    %d3 = add %c3, %x3 : i64
    yield %d3
  } : i64
  yield %r3
}
)";

TEST(Enums, RecursiveTrees) {
  Outcome outcome = fine(std::string(tree) + R"(
fn main () -> (i64) {
  %n = const 100 : i64
  %k = const 37 : i64
  %e = variant 0 : Tree
  %t = for collects 0 %n, %e { (%i: i64, %s: Tree)
    %p = mul %i, %k : i64
    %q = irem %p, %n : i64
    %u = call @insert %s, %q : Tree
    yield %u
  } : Tree
  %r = call @sum %t : i64
  %two = const 2 : i64
  %three = variant 0 : Tree
  %small = call @insert %three, %two : Tree
  %text = format "" %small : str
  %unit = builtin print %text : ()
  yield %r
}
)");
  EXPECT_EQ(outcome.result, 4950);
  EXPECT_EQ(outcome.output, "Node(left: Leaf, value: 2, right: Leaf)\n");
}

} // namespace
} // namespace melix::jit
