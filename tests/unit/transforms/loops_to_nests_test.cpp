// Counted loops that become nests.
#include "core/ir/work.h"
#include "transforms/counted_loops/loops_to_nests.h"
#include "transforms/hoisting/reuse_size_symbols.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void raise(core::Module& m) {
  reuseSizeSymbols(m);
  loopsToNests(m);
  simplify(m);
}

Value numbers() { return Value::floats(std::vector<float>{1, -2, 3, -4, 5, -6}); }

TEST(RaiseLoops, ElementsWrittenAtTheIndexAreCollected) {
  PassText m(R"(fn f [N] (%x: f32[N]) -> (f32[N]) {
  %n = dim_value dims [N] : i64
  %r = for collects 0 %n, %x { (%i: i64, %y: f32[N])
    %a = get %x[%i] : f32
    %b = mul %a, %a : f32
    %z = set %y[%i] = %b : f32[N]
    yield %z
  } : f32[N]
  yield %r
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.text(), R"(fn f [N] (%x: f32[N]) -> (f32[N]) {
  %0 = nest (%i: N) -> collect[i] {
    %a = get %x[%i] : f32
    %b = mul %a, %a : f32
    yield %b
  } : f32[N]
  yield %0
}
)");
}

/// Rows are collected, then all: from the inside.
TEST(RaiseLoops, LoopsInLoops) {
  PassText m(R"(fn f (%v: f32[64]) -> (f32[8, 8]) {
  %x = reshape %v : f32[8, 8]
  %c = zero : f32[8, 8]
  %two = const 8 : i64
  %three = const 8 : i64
  %r = for collects 0 %two, %c { (%i: i64, %y: f32[8, 8])
    %s = for collects 0 %three, %y { (%j: i64, %z: f32[8, 8])
      %a = get %x[%i, %j] : f32
      %o = get %z[%i, %j] : f32
      %b = add %a, %o : f32
      %w = set %z[%i, %j] = %b : f32[8, 8]
      yield %w
    } : f32[8, 8]
    yield %s
  } : f32[8, 8]
  yield %r
}
)");
  m.apply(raise, {Value::floats(std::vector<float>(64, 1.5f))});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
  EXPECT_EQ(m.count(" set "), 0u);
}

/// Columns inside, rows outside: what is collected is turned.
TEST(RaiseLoops, TheAxisComesWhereItIs) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %c = zero : f32[2, 3]
  %two = const 2 : i64
  %three = const 3 : i64
  %r = for collects 0 %three, %c { (%j: i64, %y: f32[2, 3])
    %s = for collects 0 %two, %y { (%i: i64, %z: f32[2, 3])
      %a = get %x[%i, %j] : f32
      %b = mul %a, %a : f32
      %w = set %z[%i, %j] = %b : f32[2, 3]
      yield %w
    } : f32[2, 3]
    yield %s
  } : f32[2, 3]
  yield %r
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
}

/// What is not written stays: the result is put into what was there.
TEST(RaiseLoops, PartsOfAnArray) {
  const std::string text = R"(fn f [N] (%x: f32[N]) -> (f32[N]) {
  %n = dim_value dims [N] : i64
  %two = const 2 : i64
  %one = const 1 : i64
  %h = idiv %n, %two : i64
  %m = dim_value dims [N / 2] : i64
  %r = for collects 0 %m, %x { (%i: i64, %y: f32[N])
    %k = mul %i, %two : i64
    %p = add %k, %one : i64
    %a = get %y[%p] : f32
    %b = mul %a, %a : f32
    %z = set %y[%p] = %b : f32[N]
    yield %z
  } : f32[N]
  yield %r
}
)";
  PassText m(text);
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
  EXPECT_EQ(m.count("by 2"), 1u) << m.text();
  PassText empty(text);
  empty.apply(raise, {Value::floats(std::vector<float>{})});
}

/// As the loops of derivatives run.
/// A loop over `%k` rows that takes a multiple of row `%p` of eight from row 3.
std::string eliminating(const std::string& first) {
  return R"(fn f (%x: f32[8, 8], %k: i64, %p: i64) -> (f32[8, 8]) {
  %three = const 3 : i64
  %one = const 1 : i64
  %first = )" +
         first + R"( : i64
  %eight = const 8 : i64
  %n = sub %eight, %first : i64
  %r = for collects 0 %n, %x { (%j: i64, %y: f32[8, 8])
    %i = add %first, %j : i64
    %m = get %y[%three, %one] : f32
    %a = get %y[%one, %i] : f32
    %b = get %y[%three, %i] : f32
    %c = mul %m, %a : f32
    %d = sub %b, %c : f32
    %z = set %y[%three, %i] = %d : f32[8, 8]
    yield %z
  } : f32[8, 8]
  yield %r
}
)";
}

TEST(RaiseLoops, WhatNoTurnUpdatesIsReadInFront) {
  std::vector<float> v(64);
  for (size_t k = 0; k < v.size(); ++k) v[k] = static_cast<float>(k % 7) - 3;
  const std::vector<Value> arguments{Value::floats(v, {8, 8}), Value::integer(0), Value::integer(0)};
  PassText m(eliminating("add %one, %one"));
  m.apply(raise, arguments);
  EXPECT_EQ(m.count("nest ("), 1u) << m.text();
  PassText same(eliminating("add %one, %k")); // the first turn may update the factor
  same.apply(raise, arguments);
  EXPECT_EQ(same.count("nest ("), 0u) << same.text();
}

TEST(RaiseLoops, BackwardsToo) {
  PassText m(R"(fn f [N] (%x: f32[N]) -> (f32[N], f32[N]) {
  %n = dim_value dims [N] : i64
  %one = const 1 : i64
  %l = sub %n, %one : i64
  %z = zero : f32[N]
  %o = const 0.0 : f32
  %r, %t = for collects 0 %n, %x, %z { (%i: i64, %y: f32[N], %u: f32[N])
    %k = sub %l, %i : i64
    %a = get %y[%k] : f32
    %w = set %y[%k] = %o : f32[N]
    %b = mul %a, %a : f32
    %v = add_at %u[%k] += %b : f32[N]
    yield %w, %v
  } : f32[N], f32[N]
  yield %r, %t
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
}

/// A few numbers are updated where they are.
TEST(RaiseLoops, SmallArraysInPlace) {
  PassText m(R"(fn f (%x: f32[6]) -> (f32[6]) {
  %n = const 6 : i64
  %r = for collects 0 %n, %x { (%i: i64, %y: f32[6])
    %a = get %y[%i] : f32
    %b = mul %a, %a : f32
    %w = set %y[%i] = %b : f32[6]
    yield %w
  } : f32[6]
  yield %r
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("for "), 1u) << m.text();
}

TEST(RaiseLoops, CountsExtremesAndConditionsAreReduced) {
  PassText m(R"(fn f [N] (%x: f32[N]) -> (i64, f32, bool, bool, i64) {
  %n = dim_value dims [N] : i64
  %k = const 3 : i64
  %one = const 1 : i64
  %l = const 7.0 : f32
  %zero = const 0.0 : f32
  %yes = const true : bool
  %no = const false : bool
  %a1, %b1, %c1, %d1, %e1 = for collects 0 %n, %k, %l, %yes, %no, %one { (%i: i64, %a: i64, %b: f32, %c: bool, %d: bool, %e: i64)
    %v = get %x[%i] : f32
    %p = cmp gt %v, %zero : bool
    %a2 = if %p {
      %a3 = add %a, %one : i64
      yield %a3
    } {
      yield %a
    } : i64
    %b2 = max %b, %v : f32
    %c2 = if %c {
      %c3 = cmp gt %v, %l : bool
      yield %c3
    } {
      yield %no
    } : bool
    %d2 = if %d {
      yield %yes
    } {
      yield %p
    } : bool
    %e2 = sub %e, %i : i64
    yield %a2, %b2, %c2, %d2, %e2
  } : i64, f32, bool, bool, i64
  yield %a1, %b1, %c1, %d1, %e1
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
  EXPECT_EQ(m.count("keep[] sum, keep[] max, keep[] and, keep[] or, keep[] sum"), 1u) << m.text();
}

/// The size of what is stacked is that of the nest.
TEST(RaiseLoops, StacksAreCollected) {
  PassText m(R"(fn f [N] (%x: f32[N]) -> (f32) {
  %n = dim_value dims [N] : i64
  %s = for collects 1 %n defines [k] { (%i: i64)
    %v = get %x[%i] : f32
    %w = mul %v, %v : f32
    yield %w
  } : f32[k]
  %r = nest (%j: k) -> keep[] sum {
    %a = get %s[%j] : f32
    yield %a
  } : f32
  yield %r
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
  EXPECT_EQ(m.count(": N) ->"), 2u) << m.text();
}

/// What is known of a count may be read off a loop around that is not done with.
TEST(RaiseLoops, CountsThatAWhileCarries) {
  PassText m(R"(fn f [N] (%x: f32[N]) -> (i64) {
  %n = dim_value dims [N] : i64
  %z = const 0 : i64
  %one = const 1 : i64
  %s, %k = while %z, %z { (%a: i64, %b: i64)
    %p = cmp lt %b, %n : bool
    yield %p
  } { (%c: i64, %d: i64)
    %m = max %d, %z : i64
    %e = for collects 0 %m, %c { (%i: i64, %g: i64)
      %v = get %x[%i] : f32
      %w = convert saturate %v : i64
      %h = add %g, %w : i64
      yield %h
    } : i64
    %l = add %d, %one : i64
    yield %e, %l
  } : i64, i64
  yield %s
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
}

/// Sizes that are computed, or made of numbers.
TEST(RaiseLoops, CountsAreSizes) {
  PassText m(R"(fn f [N] (%x: f32[N], %k: i64) -> (f32[N], f32) {
  %n = dim_value dims [N] : i64
  %one = const 1 : i64
  %l = sub %n, %one : i64
  %m = max %l, %one : i64
  %c = sub %m, %one : i64
  %r = for collects 0 %c, %x { (%i: i64, %y: f32[N])
    %p = add %one, %i : i64
    %q = add %p, %one : i64
    %a = get %x[%i] : f32
    %b = get %x[%q] : f32
    %d = add %a, %b : f32
    %z = set %y[%p] = %d : f32[N]
    yield %z
  } : f32[N]
  bind_dim %k defines [K]
  check dim_non_negative "K" dims [K]
  check dim_fits "K" dims [K]
  %w = zero : f32[K]
  %one_f = const 1.0 : f32
  %s = for collects 0 %k, %w { (%j: i64, %v: f32[K])
    %u = set %v[%j] = %one_f : f32[K]
    yield %u
  } : f32[K]
  %t = nest (%h: K) -> keep[] sum {
    %e = get %s[%h] : f32
    yield %e
  } : f32
  yield %r, %t
}
)");
  m.apply(raise, {numbers(), Value::integer(5)});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
  EXPECT_EQ(m.count("zero"), 0u) << m.text();
}

/// A check of an index that ends at a number which became a size is proved, in regions behind it alone.
TEST(NameSizes, ChecksAreProved) {
  PassText m(R"(fn f (%k: i64) -> (i64) {
  %z = const 0 : i64
  %c = cmp gt %k, %z : bool
  %r = if %c {
    bind_dim %k defines [K]
    check dim_non_negative "K" dims [K]
    check dim_fits "K" dims [K]
    %x = zero : i64[K]
    %s = for collects 0 %k, %x { (%i: i64, %y: i64[K])
      check index "" %i dims [K]
      %a = get %y[%z] : i64
      %b = add %a, %i : i64
      %w = set %y[%i] = %b : i64[K]
      yield %w
    } : i64[K]
    %l = get %s[%z] : i64
    yield %l
  } {
    yield %k
  } : i64
  yield %r
}
)");
  auto named = [](core::Module& module) {
    reuseSizeSymbols(module);
    simplify(module);
  };
  m.apply(named, {Value::integer(3)});
  EXPECT_EQ(m.count("check index"), 0u) << m.text();
  EXPECT_EQ(m.count("yield %k"), 1u) << m.text();
}

std::string loop(const std::string& body, const std::string& count = "%n") {
  return "fn f [N] (%x: f32[N], %k: i64) -> (f32[N]) {\n  %n = dim_value dims [N] : i64\n"
         "  %one = const 1 : i64\n  %zero = const 0.0 : f32\n"
         "  %r = for collects 0 " +
         count + ", %x { (%i: i64, %y: f32[N])\n" + body + "    yield %z\n  } : f32[N]\n  yield %r\n}\n";
}
std::vector<Value> arguments() { return {numbers(), Value::integer(2)}; }

/// Each of these needs what another iteration did, or could not make all of its cells.
TEST(RaiseLoops, LoopsThatStay) {
  const char* const bodies[] = {
      // a recurrence
      "    %p = sub %i, %one : i64\n    %q = max %p, %one : i64\n    %a = get %y[%q] : f32\n"
      "    %z = set %y[%i] = %a : f32[N]\n",
      // one place for all
      "    %a = get %x[%i] : f32\n    %z = set %y[%k] = %a : f32[N]\n",
      // places that data say
      "    %j = irem %i, %k : i64\n    %a = get %x[%i] : f32\n    %z = set %y[%j] = %a : f32[N]\n",
      // another array in the place of the old
      "    %c = cmp gt %i, %one : bool\n    %z = if %c {\n      %a = set %y[%i] = %zero : f32[N]\n"
      "      yield %a\n    } {\n      yield %x\n    } : f32[N]\n",
      // an output
      "    %t = const \"x\" : str\n    builtin print %t\n    %z = set %y[%i] = %zero : f32[N]\n",
  };
  for (const char* body : bodies) {
    PassText m(loop(body));
    m.apply(raise, arguments());
    EXPECT_EQ(m.count("for "), 1u) << m.text();
  }
}

/// Where only some iterations write, the others keep what is there, if it is known to be there.
TEST(RaiseLoops, WritesUnderACondition) {
  const std::string body =
      "    %a = get %x[%i] : f32\n    %c = cmp gt %a, %zero : bool\n"
      "    %z = if %c {\n      %s = set %y[%i] = %zero : f32[N]\n      yield %s\n    } {\n"
      "      yield %y\n    } : f32[N]\n";
  PassText m(loop(body));
  m.apply(raise, arguments());
  EXPECT_EQ(m.count("for "), 0u) << m.text();
  const std::string guarded = "    %c = cmp lt %i, %one : bool\n    %z = if %c {\n"
                              "      %s = set %y[%i] = %zero : f32[N]\n      yield %s\n    } {\n"
                              "      yield %y\n    } : f32[N]\n";
  PassText more(loop(guarded, "%k"));
  more.apply(raise, arguments());
  EXPECT_EQ(more.count("for "), 1u) << more.text();
}

/// Sums and products of floats keep their order.
TEST(RaiseLoops, FloatSumsStay) {
  for (const char* next : {"add %s, %a", "mul %s, %a"}) {
    PassText m("fn f [N] (%x: f32[N]) -> (f32) {\n  %n = dim_value dims [N] : i64\n"
               "  %o = const 0.0 : f32\n  %r = for collects 0 %n, %o { (%i: i64, %s: f32)\n"
               "    %a = get %x[%i] : f32\n    %t = " +
               std::string(next) + " : f32\n    yield %t\n  } : f32\n  yield %r\n}\n");
    m.apply(raise, {numbers()});
    EXPECT_EQ(m.count("for "), 1u) << m.text();
  }
}

/// The first iteration that panics says so; a loop that goes backwards would not.
TEST(RaiseLoops, ThePanicIsTheSame) {
  const std::string text = R"(fn f [N] (%x: f32[N]) -> (i64) {
  %n = dim_value dims [N] : i64
  %z = const 0 : i64
  %r = for collects 0 %n, %z { (%i: i64, %s: i64)
    %v = get %x[%i] : f32
    %a = convert saturate %v : i64
    check index "" %a dims [3]
    %t = add %s, %a : i64
    yield %t
  } : i64
  yield %r
}
)";
  PassText m(text);
  m.apply(raise, {Value::floats(std::vector<float>{1, 7, 2, 9})});
  EXPECT_EQ(m.count("for "), 0u) << m.text();
}

/// An inner loop that gathers goes on by itself.
TEST(RaiseLoops, ALoopInsideThatStays) {
  PassText m(R"(fn f [N] (%x: f32[N]) -> (f32[N], i64) {
  %n = dim_value dims [N] : i64
  %z = const 0 : i64
  %one = const 1 : i64
  %r, %c = for collects 0 %n, %x, %z { (%i: i64, %y: f32[N], %k: i64)
    %a = get %x[%i] : f32
    %p, %h = for collects 0 %i, %y, %k { (%j: i64, %u: f32[N], %l: i64)
      %b = get %u[%i] : f32
      %d = mul %b, %a : f32
      %v = set %u[%i] = %d : f32[N]
      %m = add %l, %one : i64
      yield %v, %m
    } : f32[N], i64
    yield %p, %h
  } : f32[N], i64
  yield %r, %c
}
)");
  m.apply(raise, {numbers()});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
  EXPECT_EQ(m.count("for "), 1u) << m.text();
}

std::string many(int n) {
  std::string text = "fn f [N] (%x: f32[N], %y0: f32[N]) -> (f32[N]) {\n  %n = dim_value dims [N] : i64\n";
  for (int k = 0; k < n; ++k) {
    const std::string a = std::to_string(k), b = std::to_string(k + 1);
    text += "  %y" + b + " = for collects 0 %n, %y" + a + " { (%i" + a + ": i64, %c" + a +
            ": f32[N])\n    %a" + a + " = get %c" + a + "[%i" + a + "] : f32\n    %b" + a + " = mul %a" + a +
            ", %a" + a + " : f32\n    %d" + a + " = set %c" + a + "[%i" + a + "] = %b" + a +
            " : f32[N]\n    yield %d" + a + "\n  } : f32[N]\n";
  }
  return text + "  yield %y" + std::to_string(n) + "\n}\n";
}
uint64_t cost(int n) {
  PassText m(many(n));
  core::work = {};
  loopsToNests(m.module);
  m.expectVerified();
  EXPECT_EQ(m.count("for "), 0u);
  return core::work.total();
}
TEST(RaiseLoops, CostsTheOpsThatThereAre) { EXPECT_LT(cost(400), 2.3 * static_cast<double>(cost(200))); }

} // namespace
} // namespace melix::transforms
