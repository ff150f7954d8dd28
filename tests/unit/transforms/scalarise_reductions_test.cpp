// Sums of rows that become rows of sums.
#include "transforms/contractions/scalarise_reductions.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void spread(core::Module& m) {
  scalariseReductions(m);
  simplify(m);
}

TEST(SpreadSums, ScaledRowsAreSummedByElement) {
  PassText m(R"(fn f [N, K, M] (%a: f32[N, K], %b: f32[K, M]) -> (f32[N, M]) {
  %s = nest (%i: N, %k: K) -> keep[i] sum {
    %x = get %a[%i, %k] : f32
    %row = nest (%j: M) -> collect[j] {
      %y = get %b[%k, %j] : f32
      %p = mul %x, %y : f32
      yield %p
    } : f32[M]
    yield %row
  } : f32[N, M]
  yield %s
}
)");
  m.apply(spread);
  EXPECT_EQ(m.text(), R"(fn f [N, K, M] (%a: f32[N, K], %b: f32[K, M]) -> (f32[N, M]) {
  %0 = nest (%1: N, %2: K, %3: M) -> keep[1, 3] sum {
    %x = get %a[%1, %2] : f32
    %y = get %b[%2, %3] : f32
    %p = mul %x, %y : f32
    yield %p
  } : f32[N, M]
  yield %0
}
)");
}

/// A matrix that each point makes of two rows, and scales: no point keeps it.
TEST(SpreadSums, MatricesMadeOfRowsAreMadeWhereTheyAreRead) {
  PassText m(R"(fn f [N, K, M] (%a: f32[N, K], %b: f32[N, M], %c: f32[N]) -> (f32[K, M]) {
  %s = nest (%i: N) -> keep[] sum {
    %m = nest (%k: K, %j: M) -> collect[k, j] {
      %x = get %a[%i, %k] : f32
      %y = get %b[%i, %j] : f32
      %p = mul %x, %y : f32
      yield %p
    } : f32[K, M]
    %z = get %c[%i] : f32
    %t = nest (%q: K, %r: M) -> collect[q, r] {
      %v = get %m[%q, %r] : f32
      %w = mul %v, %z : f32
      yield %w
    } : f32[K, M]
    yield %t
  } : f32[K, M]
  yield %s
}
)");
  m.apply(spread);
  EXPECT_EQ(m.text(), R"(fn f [N, K, M] (%a: f32[N, K], %b: f32[N, M], %c: f32[N]) -> (f32[K, M]) {
  %0 = nest (%1: N, %2: K, %3: M) -> keep[2, 3] sum {
    %z = get %c[%1] : f32
    %x = get %a[%1, %2] : f32
    %y = get %b[%1, %3] : f32
    %p = mul %x, %y : f32
    %w = mul %p, %z : f32
    yield %w
  } : f32[K, M]
  yield %0
}
)");
}

/// What is dear is made of all rows in front; the same order of terms gives the same bits.
TEST(SpreadSums, RowsOfSweepsAreCollected) {
  PassText m(R"(fn f (%v: f32[64]) -> (f32[16]) {
  %x = reshape %v : f32[4, 16]
  %zero = const 0 : i64
  %w = get %v[%zero +: 16 by 1] : f32[16]
  %s = nest (%k: 4) -> keep[] sum {
    %m = nest (%d: 16) -> keep[] max {
      %y = get %x[%k, %d] : f32
      yield %y
    } : f32
    %row = nest (%j: 16) -> collect[j] {
      %u = get %w[%j] : f32
      %z = get %x[%k, %j] : f32
      %q = mul %z, %m : f32
      %p = sub %u, %q : f32
      yield %p
    } : f32[16]
    yield %row
  } : f32[16]
  yield %s
}
)");
  std::vector<float> numbers;
  for (int i = 0; i < 64; ++i) numbers.push_back(static_cast<float>(i * 7 % 13) - 6);
  m.apply(spread, {Value::floats(numbers)});
  EXPECT_EQ(m.count("-> collect[k]"), 1u) << m.text();
  EXPECT_EQ(m.count("} : f32[16]"), 1u) << m.text();
}

/// Few numbers share what they are made of.
TEST(SpreadSums, FewNumbersAreSumsEach) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %s = nest (%i: 2, %k: 3) -> keep[i] sum {
    %a = get %x[%i, %k] : f32
    %e = sqrt %a : f32
    %d = array %a, %e, %a : f32[3]
    yield %d
  } : f32[2, 3]
  yield %s
}
)");
  m.apply(spread, {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(m.count("keep[i] sum"), 3u) << m.text();
  EXPECT_EQ(m.count("sqrt"), 1u);
}

/// Also where they are written as an axis: the root is taken once for all of them.
TEST(SpreadSums, FewSumsShareTheirTerms) {
  PassText m(R"(fn f [N] (%x: f32[N, 3]) -> (f32[N, 3]) {
  %s = nest (%i: N, %d: 3) -> collect[i, d] {
    %t = nest (%k: N) -> keep[] sum {
      %a = get %x[%k, %d] : f32
      %zero = const 0 : i64
      %b = get %x[%k, %zero] : f32
      %e = sqrt %b : f32
      %q = div %a, %e : f32
      yield %q
    } : f32
    yield %t
  } : f32[N, 3]
  yield %s
}
)");
  m.apply(spread);
  EXPECT_EQ(m.count("keep[] sum, keep[] sum, keep[] sum"), 1u) << m.text();
}

/// Loops and matrices of all points would be large, and lanes of short sums along an axis gain nothing.
TEST(SpreadSums, OtherSumsStay) {
  for (const char* term : {"%row = array %y, %y : f32[2]",
                           "%n = const 3 : i64\n %row = for collects 0 %n, %v { (%t: i64, %c: f32[64])\n"
                           " yield %v\n } : f32[64]"}) {
    const bool isShort = std::string(term).find("f32[2]") != std::string::npos;
    const std::string type = isShort ? "f32[2]" : "f32[64]";
    PassText m("fn f (%v: f32[64]) -> (" + type +
               ") {\n %s = nest (%k: 64) -> keep[] sum {\n %y = get %v[%k] : f32\n " + term +
               "\n yield %row\n } : " + type + "\n yield %s\n}\n");
    const std::string before = m.text();
    scalariseReductions(m.module);
    EXPECT_EQ(m.text(), before);
  }
}

} // namespace
} // namespace melix::transforms
