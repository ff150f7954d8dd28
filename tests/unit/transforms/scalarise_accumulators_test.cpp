// Accumulators of records, part by part.
#include "transforms/accumulation/scalarise_accumulators.h"
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void split(core::Module& m) {
  scalariseAccumulators(m);
  simplify(m);
}
std::vector<Value> numbers() {
  return {Value::floats(std::vector<float>{1, -2, 3, 0.1F, 1e8F, 6}), Value::integer(2)};
}

/// One accumulator goes on with what another came to; rows, elements and reads of reads.
TEST(SplitAccumulators, PartsThatNestsAddToAreAccumulatedAlone) {
  PassText m(R"(struct R[D] { a: f32[D], b: f32, c: f32[D] }

fn f (%x: f32[6], %k: i64) -> (f32[6], f32, f32) {
  %z = zero : R[6][6]
  %r = nest (%i: 6) -> accs (%a = %z) {
    %c = add_at %a[%i].0 += %x : acc R[6][6]
    yield %c
  } : R[6][6]
  %s = nest (%j: 6) -> accs (%b = %r) {
    %v = get %x[%j] : f32
    %d = add_at %b[%j].0[%k] += %v : acc R[6][6]
    %e = add_at %d[%k].1 += %v : acc R[6][6]
    %g = add_at %e[%j].2 += %x : acc R[6][6]
    yield %g
  } : R[6][6]
  %h = get %s[%k] : R[6]
  %p = get %h.0 : f32[6]
  %q = get %h.1 : f32
  %t = get %s[%k].0[%k] : f32
  yield %p, %q, %t
}
)");
  m.apply(split, numbers());
  EXPECT_EQ(m.count("R[6][6]"), 0u) << m.text();
  EXPECT_EQ(m.count(": acc f32[6, 6]"), 2u) << m.text();
  EXPECT_EQ(m.count("zero : "), 2u) << "nobody reads the third: " << m.text();
}

TEST(SplitAccumulators, SumsOfRowsAreSeen) {
  PassText m(R"(fn f (%x: f32[6], %k: i64) -> (f32[6, 6]) {
  %z = zero : {(f32[6], f32)}[6]
  %r = nest (%i: 6, %j: 6) -> accs (%a = %z) {
    %v = get %x[%i] : f32
    %w = get %x[%j] : f32
    %u = mul %v, %w : f32
    %c = add_at %a[%i].0[%j] += %u : acc {(f32[6], f32)}[6]
    yield %c
  } : {(f32[6], f32)}[6]
  %y = nest (%m: 6, %n: 6) -> collect[m, n] {
    %e = get %r[%m] : (f32[6], f32)
    %p = get %e.0 : f32[6]
    %q = get %p[%n] : f32
    yield %q
  } : f32[6, 6]
  yield %y
}
)");
  m.apply(
      [](core::Module& module) {
        split(module);
        scatterToGather(module);
      },
      numbers());
  EXPECT_EQ(m.count("accs"), 0u) << m.text();
}

/// Into inner nests, branches and loops, and out of them.
TEST(SplitAccumulators, PartsAreFollowedWhereTheyGo) {
  PassText m(R"(fn f (%x: f32[6], %k: i64) -> (f32, f32[6]) {
  %z = zero : {(f32, f32[6])}[6]
  %none = const 0.0 : f32
  %t = for collects 0 %k, %z { (%n: i64, %g: {(f32, f32[6])}[6])
    %r = nest (%i: 6) -> accs (%a = %g) {
      %v = get %x[%i] : f32
      %c = cmp gt %v, %none : bool
      %d = if %c {
        %e = nest (%j: 6) -> accs (%b = %a) {
          %w = get %x[%j] : f32
          %h = add_at %b[%i].1[%j] += %w : acc {(f32, f32[6])}[6]
          yield %h
        } : acc {(f32, f32[6])}[6]
        yield %e
      } {
        %m = add_at %a[%n].0 += %v : acc {(f32, f32[6])}[6]
        yield %m
      } : acc {(f32, f32[6])}[6]
      yield %d
    } : {(f32, f32[6])}[6]
    yield %r
  } : {(f32, f32[6])}[6]
  %p = get %t[%k].0 : f32
  %q = get %t[%k].1 : f32[6]
  yield %p, %q
}
)");
  m.apply(split, numbers());
  EXPECT_EQ(m.count("{(f32, f32[6])}[6]"), 0u) << m.text();
  EXPECT_EQ(m.count("add_at"), 2u) << m.text();
}

TEST(SplitAccumulators, RecordsInRecordsAndWholeRecordsThatAreAdded) {
  PassText m(R"(struct P { a: f32, b: f32 }
struct Q { p: P[], c: f32[6] }

fn f (%x: f32[6], %k: i64) -> (f32, f32[6]) {
  %z = zero : Q[][4, 6]
  %r = nest (%i: 6) -> accs (%a = %z) {
    %v = get %x[%i] : f32
    %w = add %v, %v : f32
    %p = make %v, %w : P[]
    %q = make %p, %x : Q[]
    %c = add_at %a[%k, %i] += %q : acc Q[][4, 6]
    %d = add_at %c[%k, %k].0.1 += %w : acc Q[][4, 6]
    yield %d
  } : Q[][4, 6]
  %y = get %r[%k] : Q[][6]
  %s = get %y[%k].0.1 : f32
  %t = get %r[%k, %k].1 : f32[6]
  yield %s, %t
}
)");
  m.apply(split, numbers());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("Q[]"), 0u) << m.text();
  EXPECT_EQ(m.count(": acc f32[4, 6]\n"), 2u) << m.text();
}

TEST(SplitAccumulators, ArraysOfRecordsThatAreAddedAreReadElementByElement) {
  PassText m(R"(fn f (%x: {(f32[6], f32)}[6], %v: f32, %k: i64) -> (f32[6], f32) {
  %z = zero : {(f32[6], f32)}[6]
  %w = set %x[%k].1 = %v : {(f32[6], f32)}[6]
  %r = add_at %z += %w : {(f32[6], f32)}[6]
  %p = get %r[%k].0 : f32[6]
  %q = get %r[%k].1 : f32
  yield %p, %q
}
)");
  m.apply(split);
  EXPECT_EQ(m.count("add_at"), 2u) << m.text();
  EXPECT_EQ(m.count("zero : {"), 0u) << m.text();
}

TEST(SplitAccumulators, WhatIsAskedForWholeStaysWhole) {
  const auto text = [](const std::string& type, const std::string& last) {
    return "fn f (%x: f32[6], %k: i64) -> (" + type + R"() {
  %z = zero : {(f32, f32)}[6]
  %r = nest (%i: 6) -> accs (%a = %z) {
    %v = get %x[%i] : f32
    %c = add_at %a[%i].0 += %v : acc {(f32, f32)}[6]
    yield %c
  } : {(f32, f32)}[6]
  %p = get %r[%k].0 : f32
  %w = get %r[%k] : (f32, f32)
)" + last + "}\n";
  };
  auto stays = [&](const std::string& type, const std::string& last) {
    PassText m(text(type, last));
    m.apply(split, numbers());
    return m.count("acc {(f32, f32)}[6]") > 0;
  };
  EXPECT_FALSE(stays("f32", "  yield %p\n"));
  EXPECT_TRUE(stays("{(f32, f32)}[6]", "  yield %r\n")) << "the array";
  EXPECT_TRUE(stays("(f32, f32)", "  yield %w\n")) << "a record";
  EXPECT_TRUE(stays("(f32, f32)", "  %s = set %w.0 = %p : (f32, f32)\n  yield %s\n")) << "an update";
}

TEST(SplitAccumulators, NotWhatBeginsWithSomething) {
  PassText m(R"(fn f (%g: {(f32, f32)}[6], %k: i64) -> (f32) {
  %r = nest (%i: 6) -> accs (%a = %g) {
    %one = const 1.0 : f32
    %c = add_at %a[%i].0 += %one : acc {(f32, f32)}[6]
    yield %c
  } : {(f32, f32)}[6]
  %p = get %r[%k].0 : f32
  yield %p
}
)");
  m.apply(split);
  EXPECT_EQ(m.count("add_at %a[%i].0"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
