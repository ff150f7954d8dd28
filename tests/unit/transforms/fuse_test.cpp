// Nests that become one: each step of fusion on its own, from Core text.
#include "core/work.h"
#include "transforms/fuse.h"
#include "transforms/pass_text.h"
#include "transforms/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void inlineReads(core::Module& m) {
  fuseOnce(m, {true, false, false});
  simplify(m);
}
void fuseOuterNests(core::Module& m) {
  fuseOnce(m, {false, true, false});
  simplify(m);
}
void fuseSiblingNests(core::Module& m) {
  fuseOnce(m, {false, false, true});
  simplify(m);
}
void fuseAll(core::Module& m) {
  fuse(m);
  simplify(m);
}

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}); }

// --- bodies where they are read

TEST(InlineRead, AChainIsOneNest) {
  PassText m(R"(fn f (%x: f32[6]) -> (f32[6]) {
  %two = const 2.0 : f32
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %two, %1 : f32
    yield %2
  } : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %4 = get %x[%j] : f32
    %5 = add %3, %4 : f32
    yield %5
  } : f32[6]
  %c = nest (%k: 6) -> collect[k] {
    %6 = get %b[%k] : f32
    %7 = math exp %6 : f32
    yield %7
  } : f32[6]
  yield %c
}
)");
  m.apply(inlineReads, {numbers()});
  EXPECT_EQ(m.text(), R"(fn f (%x: f32[6]) -> (f32[6]) {
  %two = const 2.0 : f32
  %c = nest (%k: 6) -> collect[k] {
    %0 = get %x[%k] : f32
    %1 = mul %two, %0 : f32
    %2 = add %1, %0 : f32
    %3 = math exp %2 : f32
    yield %3
  } : f32[6]
  yield %c
}
)");
}

/// Two readers: a product is computed twice, a function that is dear twice at most, a sweep never.
std::string twoReaders(std::string_view body) {
  return "fn f (%x: f32[6]) -> (f32[6], f32) {\n  %a = nest (%i: 6) -> collect[i] {\n    %1 = get %x[%i] : "
         "f32\n" +
         std::string(body) + R"(    yield %2
  } : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %4 = neg %3 : f32
    yield %4
  } : f32[6]
  %c = nest (%k: 6) -> keep[] sum {
    %5 = get %a[%k] : f32
    yield %5
  } : f32
  yield %b, %c
}
)";
}
TEST(InlineRead, SeveralReadersComputeWhatIsCheap) {
  PassText once(twoReaders("    %2 = math exp %1 : f32\n"));
  once.apply(inlineReads, {numbers()});
  EXPECT_EQ(once.count("nest"), 2u) << once.text();
  PassText twice(twoReaders("    %0 = math exp %1 : f32\n    %2 = math exp %0 : f32\n"));
  twice.apply(inlineReads, {numbers()});
  EXPECT_EQ(twice.count("nest"), 3u) << twice.text();
}
TEST(InlineRead, ASweepIsComputedOnce) {
  PassText m(twoReaders(R"(    %2 = nest (%h: 1000) -> keep[] sum {
      %0 = mul %1, %1 : f32
      yield %0
    } : f32
)"));
  m.apply(inlineReads, {numbers()});
  EXPECT_EQ(m.count("nest"), 4u) << m.text();
}

/// Operands of products are read for many points.
TEST(InlineRead, OperandsOfAProductStay) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32[3, 3]) {
  %x = reshape %v : f32[3, 2]
  %a = nest (%i: 3, %k: 2) -> collect[i, k] {
    %1 = get %x[%i, %k] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[3, 2]
  %c = nest (%ix: 3, %j: 3, %kx: 2) -> keep[ix, j] sum {
    %3 = get %a[%ix, %kx] : f32
    %4 = get %x[%j, %kx] : f32
    %5 = mul %3, %4 : f32
    yield %5
  } : f32[3, 3]
  yield %c
}
)");
  m.apply([](core::Module& module) { fuseAll(module); }, {numbers()});
  EXPECT_EQ(m.count("nest"), 1u) << "an axis of three points: little is computed again";
  PassText n(R"(fn f [N] (%x: f32[N, N]) -> (f32[N, N]) {
  %a = nest (%i: N, %k: N) -> collect[i, k] {
    %1 = get %x[%i, %k] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[N, N]
  %c = nest (%ix: N, %j: N, %kx: N) -> keep[ix, j] sum {
    %3 = get %a[%ix, %kx] : f32
    %4 = get %x[%j, %kx] : f32
    %5 = mul %3, %4 : f32
    yield %5
  } : f32[N, N]
  yield %c
}
)");
  n.apply(fuseAll);
  EXPECT_EQ(n.count("nest"), 2u) << n.text();
}

TEST(InlineRead, BranchesComputeWhatTheyRead) {
  PassText m(R"(fn f (%x: f32[6]) -> (f32[5]) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %b = nest (%j: 5) -> collect[j] {
    %first = cmp eq %j, %zero : bool
    %3 = if %first {
      %4 = get %a[%zero] : f32
      yield %4
    } {
      %5 = add %j, %one : i64
      %6 = get %a[%5] : f32
      %7 = get %a[%j] : f32
      %8 = sub %6, %7 : f32
      yield %8
    } : f32
    yield %3
  } : f32[5]
  yield %b
}
)");
  m.apply(inlineReads, {numbers()});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

/// What a loop reads it may read often.
TEST(InlineRead, LoopsReadArrays) {
  PassText m(R"(fn f (%x: f32[6], %n: i64) -> (f32) {
  %zero = const 0.0 : f32
  %at = const 2 : i64
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %s = for collects 0 %n, %zero { (%ix: i64, %t: f32)
    %3 = get %a[%at] : f32
    %4 = add %t, %3 : f32
    yield %4
  } : f32
  yield %s
}
)");
  m.apply(inlineReads, {numbers(), Value::integer(3)});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

// --- memory, effects

constexpr const char* updatedBetween = R"(fn f (%x: f32[6], %k: i64, %v: f32) -> (f32[6], f32[6]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %y = set %x[%k] = %v : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %4 = get %y[%j] : f32
    %5 = add %3, %4 : f32
    yield %5
  } : f32[6]
  yield %b, %y
}
)";
/// The update would have to copy what is read behind it.
TEST(InlineRead, NotBehindAnUpdateOfWhatIsRead) {
  PassText m(updatedBetween);
  m.apply(fuseAll, {numbers(), Value::integer(1), Value::f32(9)});
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

/// A nest that does not need the update goes in front of it.
TEST(InlineRead, UpdatesStandBehindWhatTheyDoNotConcern) {
  PassText m(R"(fn f (%x: f32[6], %k: i64, %v: f32) -> (f32[6], f32[6]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %y = set %x[%k] = %v : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %5 = add %3, %3 : f32
    yield %5
  } : f32[6]
  yield %b, %y
}
)");
  m.apply(inlineReads, {numbers(), Value::integer(1), Value::f32(9)});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

std::string gather(std::string_view between, std::string_view inReader) {
  return R"(fn f (%x: f32[6], %p: i64[6], %k: i64) -> (f32[6]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %p[%i] : i64
    check index "" %1 dims [6]
    %2 = get %x[%1] : f32
    yield %2
  } : f32[6]
)" + std::string(between) +
         "  %b = nest (%j: 6) -> collect[j] {\n" + std::string(inReader) + R"(    %3 = get %a[%j] : f32
    %4 = add %3, %3 : f32
    yield %4
  } : f32[6]
  yield %b
}
)";
}
Value places(int64_t last) {
  const int64_t places[] = {5, 4, 3, 2, 1, last}, dims[] = {6};
  return Value::array(types::TypeKind::I64, dims, places);
}

TEST(InlineRead, APanicKeepsItsPlace) {
  const char* check = "  check index \"\" %k dims [6]\n";
  const char* inside = "    check index \"\" %k dims [6]\n";
  struct {
    std::string text;
    size_t nests;
  } cases[] = {{gather("", ""), 1}, {gather(check, ""), 2}, {gather("", inside), 2}};
  for (const auto& c : cases)
    for (int64_t last : {0, 7})
      for (int64_t k : {0, 9}) {
        PassText m(c.text);
        m.apply(inlineReads, {numbers(), places(last), Value::integer(k)});
        EXPECT_EQ(m.count("nest"), c.nests) << m.text();
      }
}

TEST(InlineRead, NothingCrossesOutput) {
  PassText m(gather("  %s = const \"\" : str\n  builtin print %s\n", ""));
  m.apply(fuseAll);
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

// --- nests that share axes

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
