// Nests that collect records; nests of nests.
#include "transforms/canonical/flatten_perfect_nests.h"
#include "transforms/canonical/scalarise_collected_records.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void split(core::Module& m) {
  scalariseCollectedRecords(m);
  simplify(m);
}
Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}); }

TEST(SplitRecords, PartsThatAreReadAreCollectedAlone) {
  PassText m(R"(struct T { b: f32, v: f32[6], n: i64 }
struct U { a: f32, t: T[] }

fn f (%v: f32[6], %k: i64) -> (f32, f32, f32) {
  %r = nest (%i: 6) -> collect[i] {
    %a = get %v[%i] : f32
    %b = add %a, %a : f32
    %t = make %b, %v, %i : T[]
    %u = make %a, %t : U[]
    yield %u
  } : U[][6]
  %x = get %r[%k].0 : f32
  %y = get %r[%k].1.1[%k] : f32
  %z = get %r[%k].1.0 : f32
  yield %x, %y, %z
}
)");
  m.apply(split, {numbers(), Value::integer(2)});
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("yield %a, %b, %v"), 1u) << m.text();
  EXPECT_EQ(m.count("[%k, %k]"), 1u) << m.text();
}

TEST(SplitRecords, WhatIsReadWholeStaysWhole) {
  PassText m(R"(struct P { a: f32, b: f32 }

fn f (%v: f32[6], %k: i64) -> (f32, P[]) {
  %r = nest (%i: 6) -> collect[i] {
    %a = get %v[%i] : f32
    %t = make %a, %a : P[]
    yield %t
  } : P[][6]
  %x = get %r[%k].0 : f32
  %y = get %r[%k] : P[]
  yield %x, %y
}
)");
  m.apply(split, {numbers(), Value::integer(2)});
  EXPECT_EQ(m.count("make"), 1u) << m.text();
}

/// Also of a record that is read, if nothing but parts of it is asked for.
TEST(SplitRecords, PartsOfARecordThatIsReadAreReadOfTheirArrays) {
  PassText m(R"(struct P { a: f32, b: f32[6] }

fn f (%v: f32[6], %k: i64) -> (f32, f32[3]) {
  %r = nest (%i: 3) -> collect[i] {
    %a = get %v[%i] : f32
    %w = nest (%j: 6) -> collect[j] {
      %b = get %v[%j] : f32
      %c = mul %a, %b : f32
      yield %c
    } : f32[6]
    %t = make %a, %w : P[]
    yield %t
  } : P[][3]
  %p = get %r[%k] : P[]
  %x = get %p.0 : f32
  %s = nest (%n: 3) -> collect[n] {
    %q = get %r[%n] : P[]
    %row = get %q.1 : f32[6]
    %e = get %row[%k] : f32
    %z = get %q.1[%n] : f32
    %y = add %e, %z : f32
    yield %y
  } : f32[3]
  yield %x, %s
}
)");
  m.apply(split, {numbers(), Value::integer(2)});
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("P[]"), 0u) << m.text();
}

TEST(SplitRecords, RecordsThatComeFromElsewhereAreTakenApartInTheBody) {
  PassText m(R"(struct P { a: f32, b: f32 }

fn f (%p: P[][4], %k: i64) -> (f32) {
  %r, %n = nest (%i: 4) -> collect[i], collect[i] {
    %t = get %p[%i] : P[]
    yield %t, %i
  } : P[][4], i64[4]
  %j = get %n[%k] : i64
  %x = get %r[%j].1 : f32
  yield %x
}
)");
  m.apply(split);
  EXPECT_EQ(m.count("get %t.1"), 1u) << m.text();
}

TEST(MergePerfect, ASumInANestThatCollectsKeepsItsAxes) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32[2], f32[2]) {
  %x = reshape %v : f32[2, 3]
  %r, %s = nest (%i: 2) -> collect[i], collect[i] {
    %one = const 1.0 : f32
    %p, %q = nest (%k: 3) -> keep[] sum, keep[] max {
      %a = get %x[%i, %k] : f32
      %b = add %a, %one : f32
      yield %b, %a
    } : f32, f32
    yield %q, %p
  } : f32[2], f32[2]
  yield %r, %s
}
)");
  m.apply(flattenPerfectNests, {numbers()});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
  EXPECT_EQ(m.count("nest (%i: 2, %k: 3) -> keep[i] max, keep[i] sum"), 1u) << m.text();
}

TEST(MergePerfect, NestsOfNestsOfNests) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32[2, 3, 6]) {
  %r = nest (%i: 2) -> collect[i] {
    %s = nest (%j: 3) -> collect[j] {
      %t = nest (%k: 6) -> collect[k] {
        %a = get %v[%k] : f32
        yield %a
      } : f32[6]
      yield %t
    } : f32[3, 6]
    yield %s
  } : f32[2, 3, 6]
  yield %r
}
)");
  m.apply(flattenPerfectNests, {numbers()});
  EXPECT_EQ(m.count("collect[i, j, k]"), 1u) << m.text();
}

TEST(MergePerfect, IndexArithmeticBeforeTheInnerNestGoesIn) {
  const std::string text = R"(fn f (%v: f32[6]) -> (f32[2]) {
  %two = const 2 : i64
  %scale = const 2.0 : f32
  %r = nest (%i: 2) -> collect[i] {
    %first = mul %i, %two : i64
    %s = nest (%j: 3) -> keep[] sum {
      %k = add %first, %j : i64
      %a = get %v[%k] : f32
      yield %a
    } : f32
    yield %s
  } : f32[2]
  yield %r
}
)";
  PassText m(text);
  m.apply(flattenPerfectNests, {numbers()});
  EXPECT_EQ(m.count("nest (%i: 2, %j: 3) -> keep[i] sum"), 1u) << m.text();
  std::string reads = text;
  reads.insert(reads.find("    %s = nest"), "    %x = get %v[%first] : f32\n");
  PassText stays(reads);
  stays.apply(flattenPerfectNests, {numbers()});
  EXPECT_EQ(stays.count("nest"), 2u) << "a read is made once: " << stays.text();
}

TEST(MergePerfect, SumsOfSumsAndWhatIsUsedBesideStay) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32, f32[2]) {
  %r = nest (%i: 2) -> keep[] sum {
    %s = nest (%j: 3) -> keep[] sum {
      %a = get %v[%j] : f32
      yield %a
    } : f32
    yield %s
  } : f32
  %t = nest (%h: 2) -> collect[h] {
    %u = nest (%j$1: 3) -> keep[] sum {
      %a$1 = get %v[%j$1] : f32
      yield %a$1
    } : f32
    %w = add %u, %u : f32
    yield %w
  } : f32[2]
  yield %r, %t
}
)");
  m.apply(flattenPerfectNests, {numbers()});
  EXPECT_EQ(m.count("nest"), 4u) << m.text();
}

TEST(MergePerfect, TheFirstPanicStaysTheFirst) {
  PassText m(R"(fn f (%v: f32[6], %n: i64) -> (f32[2]) {
  %r = nest (%i: 2) -> collect[i] {
    %s = nest (%j: 3) -> keep[] sum {
      %k = mul %i, %n : i64
      %l = add %k, %j : i64
      check index "" %l dims [6]
      %a = get %v[%l] : f32
      yield %a
    } : f32
    yield %s
  } : f32[2]
  yield %r
}
)");
  m.apply(flattenPerfectNests, {numbers(), Value::integer(4)});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
