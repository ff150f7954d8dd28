// Reads of what was read.
#include "transforms/canonical/compose_reads.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void compose(core::Module& m) {
  composeReads(m);
  simplify(m);
}

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}); }

TEST(ComposeReads, ARowOfARowIsOneRead) {
  PassText m(R"(fn f (%v: f32[8], %n: i64) -> (f32) {
  %x = reshape %v : f32[2, 2, 2]
  %one = const 1 : i64
  %a = get %x[%n] : f32[2, 2]
  %b = get %a[:, %one] : f32[2]
  %c = get %b[%n] : f32
  yield %c
}
)");
  m.apply(compose, {numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("get"), 1u) << m.text();
  EXPECT_EQ(m.count("get %x[%n, %n, %one]"), 1u) << m.text();
}

TEST(ComposeReads, SlicesAddAndMultiply) {
  PassText m(R"(fn f (%v: f32[8], %n: i64) -> (f32, f32[2]) {
  %one = const 1 : i64
  %a = get %v[%one +: 4 by 2] : f32[4]
  %b = get %a[%n +: 2 by 2] : f32[2]
  %c = get %a[%n] : f32
  yield %c, %b
}
)");
  m.apply(compose, {numbers(), Value::integer(1)});
  EXPECT_EQ(m.count(" by 2"), 0u) << m.text();
  EXPECT_EQ(m.count(" by 4"), 1u) << m.text();
}

TEST(ComposeReads, FieldsOfElementsOfListsAreReadInTheList) {
  PassText m(R"(struct P { a: f32, b: List[f32] }

fn f (%p: List[P], %n: i64) -> (f32, f32) {
  %e = get %p<%n> : P
  %a = get %e.0 : f32
  %all = get %e.1 : List[f32]
  %b = get %all<%n> : f32
  yield %a, %b
}
)");
  m.apply(compose);
  EXPECT_EQ(m.count("get %p<%n>.0"), 1u) << m.text();
  EXPECT_EQ(m.count("get %p<%n>.1<%n>"), 1u) << m.text();
  EXPECT_EQ(m.count(" = get"), 2u) << m.text();
}

TEST(ComposeReads, FieldsOfElementsAreReadWhereTheyStand) {
  PassText m(R"(struct P { a: f32, b: f32 }

fn f (%p: P[][3], %n: i64) -> (f32) {
  %e = get %p[%n] : P
  %a = get %e.1 : f32
  yield %a
}
)");
  m.apply(compose);
  EXPECT_EQ(m.count("get %p[%n].1"), 1u) << m.text();
}

TEST(ComposeReads, ContainersInsideOfContainersAreReadOnTheirOwn) {
  PassText m(R"(struct L [N] { w: f32[N] }

fn f [N] (%l: L[N][3], %s: L[N], %k: i64) -> (f32[N], f32[N]) {
  %e = get %l[%k] : L[N]
  %w = get %e.0 : f32[N]
  %v = get %s.0 : f32[N]
  %r, %q = nest (%i: N) -> collect[i], collect[i] {
    %a = get %w[%i] : f32
    %b = get %v[%i] : f32
    yield %a, %b
  } : f32[N], f32[N]
  yield %r, %q
}
)");
  m.apply(compose);
  EXPECT_EQ(m.count("%w = get %l[%k].0 : f32[N]"), 1u) << m.text();
  EXPECT_EQ(m.count("get %w[%i]"), 1u);
  EXPECT_EQ(m.count("get %v[%i]"), 1u);
}

TEST(ComposeReads, PartsOfARecordAreReadWhereItWas) {
  PassText m(R"(struct L [N] { w: f32[N], b: f32 }

fn f [N] (%l: L[N][3], %k: i64) -> (f32[N]) {
  %e = get %l[%k] : L[N]
  %r = nest (%i: N) -> collect[i] {
    %w = get %e.0 : f32[N]
    %b = get %e.1 : f32
    %a = get %w[%i] : f32
    %c = add %a, %b : f32
    yield %c
  } : f32[N]
  yield %r
}
)");
  m.apply(compose);
  EXPECT_LT(m.text().find("get %l[%k].0"), m.text().find("nest")) << m.text();
  EXPECT_LT(m.text().find("get %l[%k].1"), m.text().find("nest")) << m.text();
}

/// What is read of the old value later would have to be copied in front of the update.
TEST(ComposeReads, AnElementIsTheSameByOtherSizes) {
  PassText m(R"(fn f [N, K] (%v: f32[N], %w: f32[K], %n: i64) -> (f32, f32[K]) {
  %a = cast_dims %v : f32[K]
  %b = get %a[%n] : f32
  %c = add %a, %w : f32[K]
  yield %b, %c
}
)");
  m.apply(compose, {numbers(), numbers(), Value::integer(3)});
  EXPECT_EQ(m.count("get %v[%n]"), 1u) << m.text();
  EXPECT_EQ(m.count("cast_dims"), 1u) << "arrays keep theirs: " << m.text();
}

TEST(ComposeReads, NotOverAnUpdate) {
  PassText m(R"(fn f (%x: f32[2, 4], %n: i64, %z: f32) -> (f32, f32, f32[2, 4]) {
  %a = get %x[%n] : f32[4]
  %b = get %a[%n] : f32
  %y = set %x[%n, %n] = %z : f32[2, 4]
  %c = get %a[%n] : f32
  yield %b, %c, %y
}
)");
  m.apply(composeReads);
  EXPECT_EQ(m.count("get %x[%n, %n]"), 1u) << m.text();
  EXPECT_EQ(m.count("get %a[%n]"), 1u) << m.text();
}

TEST(ComposeReads, NotIntoALoopThatUpdatesBehindTheRead) {
  PassText m(R"(fn f (%x: f32[2, 4], %n: i64, %z: f32) -> (f32, f32[2, 4]) {
  %a = get %x[%n] : f32[4]
  %s, %y = for collects 0 %n, %z, %x { (%i: i64, %t: f32, %w: f32[2, 4])
    %b = get %a[%i] : f32
    %u = add %t, %b : f32
    %v = set %w[%n, %i] = %u : f32[2, 4]
    yield %u, %v
  } : f32, f32[2, 4]
  yield %s, %y
}
)");
  m.apply(composeReads);
  EXPECT_EQ(m.count("get %a[%i]"), 1u) << m.text();
}

TEST(ComposeReads, AnUpdateOfSomethingElseIsNoReason) {
  PassText m(R"(fn f (%x: f32[2, 4], %w: f32[4], %n: i64, %z: f32) -> (f32, f32[4]) {
  %a = get %x[%n] : f32[4]
  %y = set %w[%n] = %z : f32[4]
  %b = get %a[%n] : f32
  yield %b, %y
}
)");
  m.apply(compose);
  EXPECT_EQ(m.count("get %x[%n, %n]"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
