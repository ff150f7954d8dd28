// Blocks that have one owner are not asked for it.
#include "loops/loops_text.h"
#include "loops/ownership/prove_unique.h"

namespace melix::loops {
namespace {

std::string proved(std::string_view before) {
  return textAfter(before, [](Module& module) {
    proveUnique(module);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}
void expectKept(std::string_view text) { EXPECT_EQ(proved(text), text); }

TEST(ProveUnique, WhatTheFirstTurnUpdatesIsMadeUniqueInFrontOfTheLoop) {
  EXPECT_EQ(proved(R"(fn @f(own %x: data, %a: i64, %b: i64, %v: f64) -> data {
  %one = const 1 : i64
  %r = for %a, %b, %x : data { (%i, %p)
    %u = ensure_unique %p : data
    store %u[%i*%one] = %v
    %w = ensure_unique %u : data
    store %w[%one*%one] = %v
    yield %w
  }
  yield %r
}
)"),
            R"(fn @f(own %x: data, %a: i64, %b: i64, %v: f64) -> data {
  %one = const 1 : i64
  %0 = cmp lt %a, %b : bool
  %1 = if %0 : data {
    %2 = ensure_unique %x : data
    yield %2
  } {
    yield %x
  }
  %r = for %a, %b, %1 : data { (%i, %p)
    store %p[%i*%one] = %v
    store %p[%one*%one] = %v
    yield %p
  }
  yield %r
}
)");
}

TEST(ProveUnique, LoopsThatAreKnownToTurnInTheFirstTurn) {
  EXPECT_EQ(proved(R"(fn @f(own %x: data, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %five = const 5 : i64
  %r = for %zero, %five, %x : data { (%i, %p)
    %from = add %i, %one : i64
    %s = for %from, %five, %p : data { (%j, %q)
      %u = ensure_unique %q : data
      store %u[%j*%one] = %v
      yield %u
    }
    yield %s
  }
  %t = for %zero, %five, %r : data { (%k, %p2)
    %u2 = ensure_unique %p2 : data
    store %u2[%k*%one] = %v
    yield %u2
  }
  yield %t
}
)"),
            R"(fn @f(own %x: data, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %five = const 5 : i64
  %0 = ensure_unique %x : data
  %r = for %zero, %five, %0 : data { (%i, %p)
    %from = add %i, %one : i64
    %s = for %from, %five, %p : data { (%j, %q)
      store %q[%j*%one] = %v
      yield %q
    }
    yield %s
  }
  %t = for %zero, %five, %r : data { (%k, %p2)
    store %p2[%k*%one] = %v
    yield %p2
  }
  yield %t
}
)");
}

/// Where the inner loop may not turn, nothing is copied in front of the outer one.
TEST(ProveUnique, ALoopThatMayNotTurnMakesUniqueForItself) {
  EXPECT_EQ(proved(R"(fn @f(own %x: data, %n: i64, %m: i64, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %r = for %zero, %n, %x : data { (%i, %p)
    %s = for %zero, %m, %p : data { (%j, %q)
      %u = ensure_unique %q : data
      store %u[%j*%one] = %v
      yield %u
    }
    yield %s
  }
  yield %r
}
)"),
            R"(fn @f(own %x: data, %n: i64, %m: i64, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %r = for %zero, %n, %x : data { (%i, %p)
    %0 = cmp lt %zero, %m : bool
    %1 = if %0 : data {
      %2 = ensure_unique %p : data
      yield %2
    } {
      yield %p
    }
    %s = for %zero, %m, %1 : data { (%j, %q)
      store %q[%j*%one] = %v
      yield %q
    }
    yield %s
  }
  yield %r
}
)");
}

TEST(ProveUnique, WhatTheFunctionMakesIsUniqueAlsoInBranches) {
  EXPECT_EQ(proved(R"(fn @f(%n: i64, %c: bool, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f64 %n : data
  %r = for %zero, %n, %x : data { (%i, %p)
    %s = if %c : data {
      %u = ensure_unique %p : data
      store %u[%i*%one] = %v
      yield %u
    } {
      yield %p
    }
    yield %s
  }
  yield %r
}
)"),
            R"(fn @f(%n: i64, %c: bool, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f64 %n : data
  %r = for %zero, %n, %x : data { (%i, %p)
    %s = if %c : data {
      store %p[%i*%one] = %v
      yield %p
    } {
      yield %p
    }
    yield %s
  }
  yield %r
}
)");
}

TEST(ProveUnique, AWhileIsAskedBeforeItsFirstTurn) {
  EXPECT_EQ(proved(R"(fn @f(own %x: data, %n: i64, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %i, %r = while %zero, %x : i64, data { (%a, %p)
    %c = cmp lt %a, %n : bool
    yield %c
  } { (%b, %q)
    %u = ensure_unique %q : data
    store %u[%b*%one] = %v
    %next = add %b, %one : i64
    yield %next, %u
  }
  yield %r
}
)"),
            R"(fn @f(own %x: data, %n: i64, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %c = cmp lt %zero, %n : bool
  %0 = if %c : data {
    %1 = ensure_unique %x : data
    yield %1
  } {
    yield %x
  }
  %i, %r = while %zero, %0 : i64, data { (%a, %p)
    %c$1 = cmp lt %a, %n : bool
    yield %c$1
  } { (%b, %q)
    store %q[%b*%one] = %v
    %next = add %b, %one : i64
    yield %next, %q
  }
  yield %r
}
)");
}

/// An update at times would copy at once what may stay shared for long.
TEST(ProveUnique, WhatIsUpdatedAtTimesIsAskedThere) {
  expectKept(R"(fn @f(own %x: data, %n: i64, %c: bool, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %r = for %zero, %n, %x : data { (%i, %p)
    %s = if %c : data {
      %u = ensure_unique %p : data
      store %u[%i*%one] = %v
      yield %u
    } {
      yield %p
    }
    yield %s
  }
  yield %r
}
)");
}

TEST(ProveUnique, WhatEachTurnKeepsIsCopiedEachTime) {
  expectKept(R"(fn @f(%n: i64, %l: address, %v: f64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f64 %n : data
  %r = for %zero, %n, %x : data { (%i, %p)
    %u = ensure_unique %p : data
    store %u[%i*%one] = %v
    retain %u
    store %l[%i*%one] = %u
    yield %u
  }
  yield %r
}
)");
}

const std::string readers = R"(fn @first(elements %y: data) -> f64 {
  %one = const 1 : i64
  %e = load %y[%one*%one] : f64
  yield %e
}

fn @same(%y: data) -> data {
  retain %y
  yield %y
}
)";

TEST(ProveUnique, ACalleeThatReadsElementsKeepsNothing) {
  EXPECT_EQ(proved(readers + R"(
fn @f(%n: i64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f64 %n : data
  %r = for %zero, %n, %x : data { (%i, %p)
    %v = call @first %p : f64
    %u = ensure_unique %p : data
    store %u[%i*%one] = %v
    yield %u
  }
  yield %r
}
)"),
            readers + R"(
fn @f(%n: i64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f64 %n : data
  %r = for %zero, %n, %x : data { (%i, %p)
    %v = call @first %p : f64
    store %p[%i*%one] = %v
    yield %p
  }
  yield %r
}
)");
  expectKept(readers + R"(
fn @f(%n: i64, %v: f64, %l: address) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f64 %n : data
  %r = for %zero, %n, %x : data { (%i, %p)
    %k = call @same %p : data
    store %l[%i*%one] = %k
    %u = ensure_unique %p : data
    store %u[%i*%one] = %v
    yield %u
  }
  yield %r
}
)");
}

/// Where a caller makes unique what is updated, that is seen.
TEST(ProveUnique, WhatACalleeUpdatesInPlace) {
  const std::string put = R"(fn @put(inout %p: data, %v: f64) {
  %one = const 1 : i64
  store %p[%one*%one] = %v
  yield
}
)";
  EXPECT_EQ(proved(put + R"(
fn @f(%n: i64, %v: f64) -> data {
  %zero = const 0 : i64
  %x = alloc f64 %n : data
  %w = ensure_unique %x : data
  call @put %w, %v
  %r = for %zero, %n, %w : data { (%i, %p)
    %u = ensure_unique %p : data
    call @put %u, %v
    yield %u
  }
  yield %r
}
)"),
            put + R"(
fn @f(%n: i64, %v: f64) -> data {
  %zero = const 0 : i64
  %x = alloc f64 %n : data
  call @put %x, %v
  %r = for %zero, %n, %x : data { (%i, %p)
    %u = ensure_unique %p : data
    call @put %u, %v
    yield %u
  }
  yield %r
}
)");
}

} // namespace
} // namespace melix::loops
