// Nests that become one sweep: each step of fusion on its own, and all of them, from Core text.
#include "core/ir/work.h"
#include "transforms/fuse_steps.h"

namespace melix::transforms {
namespace {

using interp::Value;

constexpr const char* rows = R"(fn f (%v: f32[6]) -> (f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %s = nest (%i: 2, %k: 3) -> keep[i] sum {
    %1 = get %x[%i, %k] : f32
    yield %1
  } : f32[2]
  %y = nest (%n: 2, %j: 3) -> collect[n, j] {
    %2 = get %x[%n, %j] : f32
    %3 = get %s[%n] : f32
    %4 = div %2, %3 : f32
    yield %4
  } : f32[2, 3]
  yield %y
}
)";
TEST(FuseOuter, AReductionAndItsReaderAreOneNestOverRows) {
  PassText m(rows);
  m.apply(fuseOuterNests, {numbers()});
  EXPECT_EQ(m.text(), R"(fn f (%v: f32[6]) -> (f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %y = nest (%n: 2) -> collect[n] {
    %0 = nest (%k: 3) -> keep[] sum {
      %1 = get %x[%n, %k] : f32
      yield %1
    } : f32
    %2 = nest (%j: 3) -> collect[j] {
      %3 = get %x[%n, %j] : f32
      %4 = div %3, %0 : f32
      yield %4
    } : f32[3]
    yield %2
  } : f32[2, 3]
  yield %y
}
)");
}

/// Soft-max: four nests, and rows of one.
TEST(FuseOuter, SoftMaxIsOneNestOverRows) {
  PassText m(R"(fn f [N, M] (%x: f32[N, M]) -> (f32[N, M], f32[N]) {
  %m = nest (%i: N, %k: M) -> keep[i] max {
    %1 = get %x[%i, %k] : f32
    yield %1
  } : f32[N]
  %e = nest (%ix: N, %kx: M) -> collect[ix, kx] {
    %2 = get %x[%ix, %kx] : f32
    %3 = get %m[%ix] : f32
    %4 = sub %2, %3 : f32
    %5 = math exp %4 : f32
    yield %5
  } : f32[N, M]
  %s = nest (%ixx: N, %kxx: M) -> keep[ixx] sum {
    %6 = get %e[%ixx, %kxx] : f32
    yield %6
  } : f32[N]
  %y = nest (%ixxx: N, %kxxx: M) -> collect[ixxx, kxxx] {
    %7 = get %e[%ixxx, %kxxx] : f32
    %8 = get %s[%ixxx] : f32
    %9 = div %7, %8 : f32
    yield %9
  } : f32[N, M]
  yield %y, %s
}
)");
  m.apply(fuseAll);
  EXPECT_EQ(m.count("-> collect[ixxx], collect[ixxx]"), 1u) << m.text();
  EXPECT_EQ(m.count("math exp"), 1u) << m.text();
  EXPECT_EQ(m.count("nest"), 4u) << m.text();
}

/// The rows of the second factor are shared by all rows of the result.
TEST(FuseOuter, NotIntoAProductOfWhichEachRowReadsAll) {
  PassText m(R"(fn f [N] (%x: f32[N, N], %w: f32[N, N]) -> (f32[N, N], f32[N, N]) {
  %a = nest (%i: N, %k: N) -> collect[i, k] {
    %1 = get %x[%i, %k] : f32
    %2 = math exp %1 : f32
    yield %2
  } : f32[N, N]
  %c = nest (%ix: N, %j: N, %kx: N) -> keep[ix, j] sum {
    %3 = get %a[%ix, %kx] : f32
    %4 = get %w[%kx, %j] : f32
    %5 = mul %3, %4 : f32
    yield %5
  } : f32[N, N]
  %y = nest (%ixx: N, %jx: N) -> collect[ixx, jx] {
    %6 = get %c[%ixx, %jx] : f32
    %7 = math exp %6 : f32
    yield %7
  } : f32[N, N]
  yield %y, %w
}
)");
  m.apply(fuseAll);
  EXPECT_EQ(m.count("nest"), 3u) << "the product and what is done with its elements are one\n" << m.text();
  EXPECT_EQ(m.count("collect[ixx, jx]"), 1u) << m.text();
}

/// Scores of rows, then their weights: as many rows as there are share what the columns of the product read.
std::string rowsOfScores(const char* columns, const char* sizes) {
  std::string text = R"(fn f [SIZES] (%q: f32[N, E], %k: f32[M, E]) -> (f32[N, M]) {
  %s = nest (%i: N, %j: M, %e: E) -> keep[i, j] sum {
    %1 = get %q[%i, %e] : f32
    %2 = get %k[%j, %e] : f32
    %3 = mul %1, %2 : f32
    yield %3
  } : f32[N, M]
  %y = nest (%ix: N) -> collect[ix] {
    %m = nest (%jx: M) -> keep[] max {
      %4 = get %s[%ix, %jx] : f32
      yield %4
    } : f32
    %w = nest (%jxx: M) -> collect[jxx] {
      %5 = get %s[%ix, %jxx] : f32
      %6 = sub %5, %m : f32
      %7 = math exp %6 : f32
      yield %7
    } : f32[M]
    yield %w
  } : f32[N, M]
  yield %y
}
)";
  auto replace = [&](std::string_view what, std::string_view by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
      text.replace(at, what.size(), by);
  };
  replace("SIZES", sizes);
  replace("M", columns);
  return text;
}

TEST(FuseOuter, AProductDoesNotBecomeOneOfARow) {
  PassText m(rowsOfScores("M", "N, M, E"));
  m.apply(fuseAll);
  EXPECT_EQ(m.count("keep[i, j] sum"), 1u) << m.text();
}

TEST(FuseOuter, WhatIsDoneWithItsElementsIsPartOfAProduct) {
  PassText m(R"(fn f [N, M, E] (%q: f32[N, E], %k: f32[M, E], %b: f32[N, M]) -> (f32[N, M]) {
  %s = nest (%i: N, %j: M, %e: E) -> keep[i, j] sum {
    %1 = get %q[%i, %e] : f32
    %2 = get %k[%j, %e] : f32
    %3 = mul %1, %2 : f32
    yield %3
  } : f32[N, M]
  %y = nest (%ix: N, %jx: M) -> collect[ix, jx] {
    %4 = get %s[%ix, %jx] : f32
    %5 = get %b[%ix, %jx] : f32
    %6 = add %4, %5 : f32
    yield %6
  } : f32[N, M]
  yield %y
}
)");
  m.apply(fuseAll);
  EXPECT_EQ(m.count("collect[ix, jx]"), 1u) << m.text();
  EXPECT_EQ(m.count("keep[] sum"), 1u) << m.text();
}

/// A product whose elements, or some of them with others, are added up over its rows.
std::string summedProduct(const std::string& element) {
  return R"(fn f [N, M, K] (%x: f32[N, K], %w: f32[K, M], %g: f32[N, M], %h: f32[M]) -> (f32[M]) {
  %c = nest (%i: N, %j: M, %k: K) -> keep[i, j] sum {
    %1 = get %x[%i, %k] : f32
    %2 = get %w[%k, %j] : f32
    %3 = mul %1, %2 : f32
    yield %3
  } : f32[N, M]
  %s = nest (%ix: N, %jx: M) -> keep[jx] sum {
    %4 = get %c[%ix, %jx] : f32
    %5 = get )" +
         element + R"( : f32
    %6 = mul %4, %5 : f32
    yield %6
  } : f32[M]
  yield %s
}
)";
}

TEST(FuseOuter, AProductIsNotSummedWithOtherElementsThatAreReadAtEachPoint) {
  PassText apart(summedProduct("%g[%ix, %jx]")), together(summedProduct("%h[%jx]"));
  apart.apply(fuseOuterNests);
  together.apply(fuseOuterNests);
  EXPECT_EQ(apart.count("= nest (%"), 2u) << apart.text();
  EXPECT_EQ(apart.count("    %0 = nest"), 0u) << apart.text();
  EXPECT_EQ(together.count("    %0 = nest"), 1u) << together.text();
}

TEST(FuseOuter, RowsDoNotGoIntoAProductThatIsPartOfWhatIsDoneWithItsElements) {
  PassText m(R"(fn f [N, M, E] (%q: f32[N, E], %k: f32[E, M], %b: f32[N, M]) -> (f32[N, M]) {
  %a = nest (%s: N) -> collect[s] {
    %m = nest (%r: E) -> keep[] max {
      %1 = get %q[%s, %r] : f32
      yield %1
    } : f32
    %o = nest (%c: E) -> collect[c] {
      %2 = get %q[%s, %c] : f32
      %3 = sub %2, %m : f32
      yield %3
    } : f32[E]
    yield %o
  } : f32[N, E]
  %p = nest (%i: N, %j: M, %e: E) -> keep[i, j] sum {
    %4 = get %a[%i, %e] : f32
    %5 = get %k[%e, %j] : f32
    %6 = mul %4, %5 : f32
    yield %6
  } : f32[N, M]
  %y = nest (%ix: N, %jx: M) -> collect[ix, jx] {
    %7 = get %p[%ix, %jx] : f32
    %8 = get %b[%ix, %jx] : f32
    %9 = add %7, %8 : f32
    yield %9
  } : f32[N, M]
  yield %y
}
)");
  m.apply(fuseAll);
  EXPECT_EQ(m.count("collect[ix, jx]"), 1u) << m.text();
}

TEST(FuseOuter, APointOfFewColumnsTakesItsOwn) {
  std::string few = rowsOfScores("3", "N, E");
  for (size_t at = 0; (at = few.find("E", at)) != std::string::npos; ++at) few.replace(at, 1, "4");
  few.replace(few.find("[N, 4]"), 6, "[N]");
  PassText m(few);
  m.apply(fuseAll);
  EXPECT_EQ(m.count("keep[i, j] sum"), 0u) << m.text();
}

TEST(FuseSiblings, WhatReadsTheSameIsOneSweep) {
  PassText m(R"(fn f (%x: f32[6]) -> (f32[6], f32[6]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %x[%j] : f32
    %4 = neg %3 : f32
    yield %4
  } : f32[6]
  yield %a, %b
}
)");
  m.apply(fuseSiblingNests, {numbers()});
  EXPECT_EQ(m.text(), R"(fn f (%x: f32[6]) -> (f32[6], f32[6]) {
  %b, %a = nest (%j: 6) -> collect[j], collect[j] {
    %0 = get %x[%j] : f32
    %1 = mul %0, %0 : f32
    %2 = neg %0 : f32
    yield %2, %1
  } : f32[6], f32[6]
  yield %a, %b
}
)");
}

// --- costs

/// The text with k for each `#` and k + 1 for each `!`, for k = 0, 1, ….
std::string numbered(std::string_view text, int count) {
  std::string out;
  for (int k = 0; k < count; ++k)
    for (char c : text) {
      if (c == '#')
        out += std::to_string(k);
      else if (c == '!')
        out += std::to_string(k + 1);
      else
        out += c;
    }
  return out;
}
std::string chain(int length) {
  return "fn f (%x0: f32[6]) -> (f32[6]) {\n" +
         numbered(R"(  %x! = nest (%i#: 6) -> collect[i#] {
    %a# = get %x#[%i#] : f32
    %b# = neg %a# : f32
    %c# = add %a#, %b# : f32
    yield %c#
  } : f32[6]
)",
                  length) +
         "  yield %x" + std::to_string(length) + "\n}\n";
}
uint64_t workOf(int length) {
  PassText m(chain(length));
  core::work = {};
  fuseOnce(m.module, {});
  const uint64_t done = core::work.total();
  simplify(m.module);
  EXPECT_EQ(m.count("nest"), 1u);
  return done;
}
TEST(Fuse, TheWorkIsThatOfTheOps) {
  const uint64_t some = workOf(100), many = workOf(200);
  EXPECT_LE(many, 2 * some + some / 4) << some << " " << many;
}

/// Diamonds: each step reads the one before twice, at places of its own.
TEST(Fuse, WhatIsComputedAgainIsBounded) {
  PassText m("fn f (%x0: f32[6], %y0: f32[6]) -> (f32[6], f32[6]) {\n" +
             numbered(R"(  %x! = nest (%i#: 6) -> collect[i#] {
    %a# = get %x#[%i#] : f32
    %b# = get %y#[%i#] : f32
    %c# = add %a#, %b# : f32
    yield %c#
  } : f32[6]
  %y! = nest (%j#: 6) -> collect[j#] {
    %d# = get %x#[%j#] : f32
    %e# = get %y#[%j#] : f32
    %g# = sub %d#, %e# : f32
    yield %g#
  } : f32[6]
)",
                      40) +
             "  yield %x40, %y40\n}\n");
  m.apply(fuseAll, {numbers(), numbers()});
  EXPECT_LE(m.count("\n"), 400u) << m.text();
}

} // namespace
} // namespace melix::transforms
