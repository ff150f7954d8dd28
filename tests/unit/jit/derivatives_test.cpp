// Derivatives, compiled: the update of one element costs no copy of the array, also in backward code.
#include "core/text/parse.h"
#include "interp/interp.h"
#include "jit/program.h"
#include "transforms/derivatives/expand_derivatives.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

/// One element is written a step.
const char* const inArray = R"(
fn f [N] (%x: f64[N]) -> (f64) {
  %z = const 0 : i64
  %zero = const 0.0 : f64
  %n = dim_value dims [N] : i64
  %i, %s, %a = while %z, %zero, %x { (%i1: i64, %s1: f64, %a1: f64[N])
    %c = cmp lt %i1, %n : bool
    yield %c
  } { (%i2: i64, %s2: f64, %a2: f64[N])
    %one = const 1 : i64
    %v = get %a2[%i2] : f64
    %w = mul %v, %v : f64
    %s3 = add %s2, %w : f64
    %e = mul %s3, %v : f64
    %a3 = set %a2[%i2] = %e : f64[N]
    %j = add %i2, %one : i64
    yield %j, %s3, %a3
  } : i64, f64, f64[N]
  %v2 = get %a[%z] : f64
  %r = mul %s, %v2 : f64
  yield %r
}
)";

/// The same of an array in a list, which is read out of it and written back.
const char* const inList = R"(
fn f [N] (%x: f64[N]) -> (f64) {
  %z = const 0 : i64
  %one = const 1 : i64
  %n = dim_value dims [N] : i64
  %xs = list %x, %x : List[f64[N]]
  %ys = for collects 0 %n, %xs { (%i: i64, %zs: List[f64[N]])
    %a = get %zs<%one> : f64[N]
    %v = get %a[%i] : f64
    %w = mul %v, %v : f64
    %b = set %a[%i] = %w : f64[N]
    %c = set %b[%z] = %v : f64[N]
    %us = set %zs<%one> = %c : List[f64[N]]
    yield %us
  } : List[f64[N]]
  %last = sub %n, %one : i64
  %r = get %ys<%one>[%last] : f64
  yield %r
}
)";

/// Of one in a tuple in an enum, which is made anew.
const char* const inEnum = R"(
enum State { None(), Some((i64, pack 1 f64[_])) }
fn f [N] (%x: f64[N]) -> (f64) {
  %z = const 0 : i64
  %zero = const 0.0 : f64
  %n = dim_value dims [N] : i64
  %p = pack %x dims [N] : pack 1 f64[_]
  %m = make %z, %p : (i64, pack 1 f64[_])
  %s = variant 1 %m : State
  %e, %r = for collects 0 %n, %s, %zero { (%i: i64, %s1: State, %t: f64)
    %s2, %t2 = match cases [0, 1] %s1 {
      yield %s1, %t
    } { (%q: (i64, pack 1 f64[_]))
      %k = get %q.0 : i64
      %h = get %q.1 : pack 1 f64[_]
      %a = unpack %h defines [A] : f64[A]
      %v = get %a[%i] : f64
      %w = mul %v, %v : f64
      %b = set %a[%k] = %w : f64[A]
      %u = get %b[%i] : f64
      %t1 = fma %u, %v, %t : f64
      %g = pack %b dims [A] : pack 1 f64[_]
      %y = make %i, %g : (i64, pack 1 f64[_])
      %s3 = variant 1 %y : State
      yield %s3, %t1
    } : State, f64
    yield %s2, %t2
  } : State, f64
  yield %r
}
)";

/// A loop that updates an array, differentiated, at size n; `main` gives the bits of a sum of the gradient.
std::string updates(const char* f, int64_t n, const std::string& derivative) {
  std::string size = std::to_string(n);
  return f + std::string(R"(fn main () -> (i64) {
  %x = nest (%k: )") +
         size + R"() -> collect[k] {
    %small = const 0.001 : f64
    %kf = convert saturate %k : f64
    %p = mul %kf, %small : f64
    yield %p
  } : f64[)" +
         size + R"(]
  %seed = const 1.0 : f64
)" + derivative +
         R"(
  %t = nest (%l: )" +
         size + R"() -> keep[] sum chain {
    %g1 = get %g[%l] : f64
    yield %g1
  } : f64
  %b = bitcast %t : u64
  %out = convert wrap %b : i64
  yield %out
}
)";
}

std::string reverseOf(int64_t n) {
  std::string size = std::to_string(n);
  return "  %y, %g = derivative reverse @f wrt [0] seeded [1] %x, %seed dims [" + size + "] : f64, f64[" +
         size + "]";
}

struct Both {
  Outcome compiled;
  int64_t interpreted;
};

Both runBoth(const std::string& text) {
  Program program(text);
  EXPECT_EQ(program.error, "");
  EXPECT_TRUE(transforms::expandDerivatives(program.core).problems.empty());
  Both both{program.run(), 0};
  EXPECT_EQ(both.compiled.error, "");
  EXPECT_EQ(both.compiled.status, MELIX_OK) << both.compiled.panic;
  EXPECT_EQ(both.compiled.stats.liveBlocks, 0);
  interp::RunResult expected = interp::Program(program.core).run(program.core.entry, {});
  EXPECT_FALSE(expected.panicked) << expected.panic.message;
  both.interpreted = expected.values[0].slot().i;
  return both;
}

TEST(Derivatives, AnUpdateCopiesNothingForwardsOrBackwards) {
  for (const char* f : {inArray, inList})
    for (int64_t n : {1000, 8000}) {
      Both both = runBoth(updates(f, n, reverseOf(n)));
      EXPECT_EQ(both.compiled.result, both.interpreted) << n;
      // Arrays and residual lists that double: far fewer than one a step.
      EXPECT_LT(both.compiled.stats.allocations, 200) << n;
      EXPECT_LT(both.compiled.stats.peakBytes, 100 * 8 * n) << n;
    }
}

/// Values of the enum are allocated at each step, and nothing else.
TEST(Derivatives, AnUpdateInAnEnumCopiesNoArray) {
  constexpr int64_t n = 1000;
  Both both = runBoth(updates(inEnum, n, reverseOf(n)));
  EXPECT_EQ(both.compiled.result, both.interpreted);
  EXPECT_LT(both.compiled.stats.allocations, 4 * n + 200);
}

} // namespace
} // namespace melix::jit
