// Arrays that a function updates where its caller has them.
#include "loops/loops_text.h"
#include "loops/ownership/stack_allocation.h"
#include "loops/ownership/update_in_place.h"

namespace melix::loops {
namespace {

/// What the pass makes of functions; both are well formed.
std::string updated(std::string_view before) {
  return textAfter(before, [](Module& module) {
    updateInPlace(module);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}
void expectKept(std::string_view text) { EXPECT_EQ(updated(text), text); }

/// A function that puts a value into an array.
const std::string put = R"(fn @put(own %p: data, %v: f64) -> data {
  %one = const 1 : i64
  %u = ensure_unique %p : data
  store %u[%one*%one] = %v
  yield %u
}
)";
const std::string replaceStmt = R"(fn @put(inout %p: data, %v: f64) {
  %one = const 1 : i64
  store %p[%one*%one] = %v
  yield
}
)";

TEST(UpdateInPlace, TheCallerMakesItUnique) {
  EXPECT_EQ(updated(put + R"(
fn @f(own %x: data, %v: f64) -> f64 {
  %one = const 1 : i64
  %r = call @put %x, %v : data
  %a = load %r[%one*%one] : f64
  drop %r
  yield %a
}
)"),
            replaceStmt + R"(
fn @f(own %x: data, %v: f64) -> f64 {
  %one = const 1 : i64
  %r = ensure_unique %x : data
  call @put %r, %v
  %a = load %r[%one*%one] : f64
  drop %r
  yield %a
}
)");
}

TEST(UpdateInPlace, WhatTheCallerReadsLaterIsCopied) {
  EXPECT_EQ(updated(put + R"(
fn @f(%x: data, %v: f64) -> data, f64 {
  %one = const 1 : i64
  retain %x
  %r = call @put %x, %v : data
  %a = load %x[%one*%one] : f64
  yield %r, %a
}
)"),
            replaceStmt + R"(
fn @f(%x: data, %v: f64) -> data, f64 {
  %one = const 1 : i64
  retain %x
  %r = ensure_unique %x : data
  call @put %r, %v
  %a = load %x[%one*%one] : f64
  yield %r, %a
}
)");
}

TEST(UpdateInPlace, GoesUpThroughCallsAndLoops) {
  EXPECT_EQ(updated(put + R"(
fn @fill(own %x: data, %n: i64, %v: f64) -> i64, data {
  %zero = const 0 : i64
  %first = call @put %x, %v : data
  %all = for %zero, %n, %first : data { (%i, %c)
    %next = call @put %c, %v : data
    yield %next
  }
  yield %n, %all
}

fn @f(own %x: data, %n: i64, %v: f64) -> data, i64 {
  %m, %r = call @fill %x, %n, %v : i64, data
  yield %r, %m
}
)"),
            replaceStmt + R"(
fn @fill(inout %x: data, %n: i64, %v: f64) -> i64 {
  %zero = const 0 : i64
  call @put %x, %v
  for %zero, %n { (%i)
    call @put %x, %v
    yield
  }
  yield %n
}

fn @f(inout %x: data, %n: i64, %v: f64) -> i64 {
  %m = call @fill %x, %n, %v : i64
  yield %m
}
)");
}

TEST(UpdateInPlace, TwoThatAreGivenBackTheOtherWayRound) {
  EXPECT_EQ(updated(R"(fn @both(own %a: data, own %b: data, %v: f64) -> data, f64, data {
  %one = const 1 : i64
  %x = ensure_unique %a : data
  %y = ensure_unique %b : data
  store %x[%one*%one] = %v
  %w = load %y[%one*%one] : f64
  store %y = %v
  yield %y, %w, %x
}

fn @f(own %a: data, own %b: data, %v: f64) -> data, f64, data {
  %second, %w, %first = call @both %a, %b, %v : data, f64, data
  retain %first
  %third, %u, %fourth = call @both %first, %first, %v : data, f64, data
  drop %second
  yield %third, %u, %fourth
}
)"),
            R"(fn @both(inout %a: data, inout %b: data, %v: f64) -> f64 {
  %one = const 1 : i64
  store %a[%one*%one] = %v
  %w = load %b[%one*%one] : f64
  store %b = %v
  yield %w
}

fn @f(own %a: data, own %b: data, %v: f64) -> data, f64, data {
  %first = ensure_unique %a : data
  %second = ensure_unique %b : data
  %w = call @both %first, %second, %v : f64
  retain %first
  %fourth = ensure_unique %first : data
  %third = ensure_unique %first : data
  %u = call @both %fourth, %third, %v : f64
  drop %second
  yield %third, %u, %fourth
}
)");
}

TEST(UpdateInPlace, InABranchOfTheCaller) {
  EXPECT_EQ(updated(put + R"(
fn @f(%c: bool, own %x: data, %v: f64) -> data {
  %r = if %c : data {
    %s = call @put %x, %v : data
    yield %s
  } {
    yield %x
  }
  yield %r
}
)"),
            replaceStmt + R"(
fn @f(%c: bool, own %x: data, %v: f64) -> data {
  %r = if %c : data {
    %s = ensure_unique %x : data
    call @put %s, %v
    yield %s
  } {
    yield %x
  }
  yield %r
}
)");
}

TEST(UpdateInPlace, GivenBackOnOnePathOnly) {
  expectKept(R"(fn @f(%c: bool, own %p: data, %v: f64, own %q: data) -> data {
  %one = const 1 : i64
  %u = ensure_unique %p : data
  store %u[%one*%one] = %v
  %r = if %c : data {
    drop %q
    yield %u
  } {
    drop %u
    yield %q
  }
  yield %r
}
)");
}

TEST(UpdateInPlace, UpdatedOnOnePathOnly) {
  expectKept(R"(fn @f(%n: i64, own %p: data, %v: f64) -> data {
  %zero = const 0 : i64
  %r = for %zero, %n, %p : data { (%i, %c)
    %u = ensure_unique %c : data
    store %u = %v
    yield %u
  }
  yield %r
}
)");
}

TEST(UpdateInPlace, HeldElsewhere) {
  expectKept(R"(fn @stored(own %p: data, %v: f64, %to: address) -> data {
  %one = const 1 : i64
  %u = ensure_unique %p : data
  store %u[%one*%one] = %v
  retain %u
  store %to = %u
  yield %u
}

fn @twice(own %p: data, %v: f64) -> data, data {
  %one = const 1 : i64
  %u = ensure_unique %p : data
  store %u[%one*%one] = %v
  retain %u
  yield %u, %u
}

fn @lent(own %p: data, %v: f64) -> data, data {
  %one = const 1 : i64
  %u = ensure_unique %p : data
  store %u[%one*%one] = %v
  %s = call @same %u : data
  yield %u, %s
}

fn @same(%p: data) -> data {
  retain %p
  yield %p
}

fn @dropped(own %p: data, %v: f64) -> f64 {
  %one = const 1 : i64
  %u = ensure_unique %p : data
  store %u[%one*%one] = %v
  %w = load %u : f64
  drop %u
  yield %w
}
)");
}

TEST(UpdateInPlace, ASwapInALoopIsNotOneBlock) {
  expectKept(R"(fn @f(%n: i64, own %p: data, own %q: data, %v: f64) -> data, data {
  %zero = const 0 : i64
  %u = ensure_unique %p : data
  store %u = %v
  %w = ensure_unique %q : data
  store %w = %v
  %r, %s = for %zero, %n, %u, %w : data, data { (%i, %a, %b)
    yield %b, %a
  }
  yield %r, %s
}
)");
}

TEST(UpdateInPlace, WhatCallsItselfWithItStays) {
  expectKept(R"(fn @f(%n: i64, own %p: data, %v: f64) -> data {
  %zero = const 0 : i64
  %u = ensure_unique %p : data
  store %u = %v
  %more = cmp lt %zero, %n : bool
  %r = if %more : data {
    %s = call @f %zero, %u, %v : data
    yield %s
  } {
    yield %u
  }
  yield %r
}
)");
}

/// The caller stands in front of what it calls, and is called by it.
TEST(UpdateInPlace, RecursionThatPassesSomethingElse) {
  EXPECT_EQ(updated(R"(fn @f(own %x: data, %n: i64, %v: f64) -> data {
  %r = call @g %x, %n, %v : data
  yield %r
}

fn @g(own %p: data, %n: i64, %v: f64) -> data {
  %u = ensure_unique %p : data
  store %u = %v
  %a = alloc f64 %n : data
  %b = call @f %a, %n, %v : data
  drop %b
  yield %u
}
)"),
            R"(fn @f(inout %x: data, %n: i64, %v: f64) {
  call @g %x, %n, %v
  yield
}

fn @g(inout %p: data, %n: i64, %v: f64) {
  store %p = %v
  %a = alloc f64 %n : data
  %b = ensure_unique %a : data
  call @f %b, %n, %v
  drop %b
  yield
}
)");
}

TEST(UpdateInPlace, ExportedFunctionsKeepTheirForm) {
  expectKept(R"(fn @put(own %p: data, %v: f64) -> data exported {
  %u = ensure_unique %p : data
  store %u = %v
  yield %u
}
)");
}

TEST(UpdateInPlace, ABlockOfTheCallerLiesInItsFrame) {
  EXPECT_EQ(textAfter(put + R"(
fn @f(%v: f64) -> f64 {
  %three = const 3 : i64
  %one = const 1 : i64
  %a = alloc f64 zeroed %three : data
  %r = call @put %a, %v : data
  %w = load %r[%one*%one] : f64
  drop %r
  yield %w
}
)",
                      [](Module& module) {
                        updateInPlace(module);
                        promoteToStack(module);
                        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                      }),
            replaceStmt + R"(
fn @f(%v: f64) -> f64 {
  %three = const 3 : i64
  %one = const 1 : i64
  %a = frame f64 bytes 24 zeroed : data
  call @put %a, %v
  %w = load %a[%one*%one] : f64
  yield %w
}
)");
}

// --- what an `inout` promises

std::string problemOf(const std::string& text) {
  LoopsText loops(text);
  EXPECT_EQ(loops.read.error.empty() ? loops.text() : loops.read.error, text);
  return verify(loops.module(), {State::CountsInserted});
}

TEST(InOut, HasOneOwner) {
  EXPECT_EQ(problemOf(replaceStmt + R"(
fn @f(%x: data, %v: f64) {
  call @put %x, %v
  yield
}
)"),
            "f: %x is updated in place, and not unique in `call`\n");
}

TEST(InOut, IsPassedOnce) {
  LoopsText loops(R"(fn @both(inout %a: data, %b: data, %v: f64) {
  store %a = %v
  yield
}

fn @f(inout %x: data, %v: f64) {
  call @both %x, %x, %v
  yield
}
)");
  EXPECT_NE(loops.read.error.find("f: %x is updated in place, and passed twice by `call`\n"),
            std::string::npos)
      << loops.read.error;
}

TEST(InOut, IsHeldByNobody) {
  LoopsText loops(R"(fn @f(inout %x: data) -> data {
  retain %x
  yield %x
}
)");
  EXPECT_EQ(loops.read.error, "f: %x is updated in place, and held by `retain`\n"
                              "f: %x is updated in place, and held by `yield`\n");
}

} // namespace
} // namespace melix::loops
