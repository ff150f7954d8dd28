// Dimensions are exact, and so are their intervals.
#include "types/dim_facts.h"

#include <climits>
#include <gtest/gtest.h>

namespace melix::types {
namespace {

struct Dims {
  DimStore dims;
  DimSym n = dims.newSym({"N", DimSymKind::Parameter, 0, {}}),
         m = dims.newSym({"M", DimSymKind::Parameter, 0, {}}),
         v = dims.newSym({"v", DimSymKind::Value, INT64_MIN, {}});
  DimId N = dims.symbol(n), M = dims.symbol(m), V = dims.symbol(v);
  DimId c(int64_t value) { return dims.constant(value); }
};

TEST(ExactDims, WhatLeaves64BitsIsTooLargeAndTakesOver) {
  Dims d;
  DimId large = d.dims.mul(d.dims.mul(d.N, d.c(int64_t(1) << 62)), d.c(2));
  EXPECT_TRUE(d.dims.isTooLarge(large));
  for (DimId from : {d.dims.add(large, d.N), d.dims.sub(d.N, large), d.dims.mul(large, d.M),
                     d.dims.floorDiv(large, d.c(2)), d.dims.mod(d.N, large), d.dims.min(large, d.N)})
    EXPECT_TRUE(d.dims.isTooLarge(from));
  EXPECT_TRUE(d.dims.isTooLarge(d.dims.add(d.c(INT64_MAX), d.c(1))));
  EXPECT_TRUE(d.dims.isTooLarge(d.dims.floorDiv(d.c(INT64_MIN), d.c(-1))));
  EXPECT_FALSE(d.dims.asConstant(large));
  EXPECT_FALSE(d.dims.atLeast(large, 0));
  EXPECT_FALSE(DimFacts(d.dims).atMost(large, INT64_MAX));
}

TEST(ExactDims, ASubstitutedSizeMayBeTooLarge) {
  Dims d;
  DimId eight = d.dims.add(d.dims.mul(d.N, d.c(8)), d.c(3));
  EXPECT_EQ(d.dims.substitute(eight, {{d.n, d.c(5)}}), d.c(43));
  EXPECT_TRUE(d.dims.isTooLarge(d.dims.substitute(eight, {{d.n, d.c(int64_t(1) << 61)}})));
}

TEST(ExactDims, ValuesDoNotWrap) {
  Dims d;
  DimId eight = d.dims.add(d.dims.mul(d.N, d.c(8)), d.c(3)),
        product = d.dims.mul(d.dims.mul(d.N, d.M), d.c(1000));
  EXPECT_EQ(d.dims.evaluate(eight, {{d.n, 5}}), 43);
  EXPECT_FALSE(d.dims.evaluate(eight, {{d.n, int64_t(1) << 61}}));
  EXPECT_EQ(d.dims.evaluate(product, {{d.n, int64_t(1) << 60}, {d.m, 0}}), 0);
}

TEST(DimFacts, FactsBoundProductsAndSymbolsUntilTheyAreTakenBack) {
  Dims d;
  DimFacts facts(d.dims);
  DimId product = d.dims.mul(d.N, d.M), twice = d.dims.mul(d.c(2), product);
  EXPECT_FALSE(facts.isExact(product));
  size_t mark = facts.mark();
  facts.assumeAtMost(d.dims.add(twice, d.c(3)), maxExtent);
  EXPECT_TRUE(facts.isExact(product));
  EXPECT_TRUE(facts.atMost(product, (maxExtent - 3) / 2));
  facts.assumeAtLeast(d.dims.sub(d.N, d.c(1)), 4);
  EXPECT_TRUE(facts.atLeast(d.N, 5));
  EXPECT_FALSE(facts.atLeast(d.N, 6));
  facts.undo(mark);
  EXPECT_FALSE(facts.isExact(product));
  EXPECT_FALSE(facts.atLeast(d.N, 1));
}

TEST(DimFacts, QuotientsAndRemaindersOfNegativeNumbers) {
  Dims d;
  DimFacts facts(d.dims);
  facts.assumeAtLeast(d.V, -7);
  facts.assumeAtMost(d.V, 9);
  DimFacts::Interval quotient = facts.of(d.dims.floorDiv(d.V, d.c(4))),
                     rest = facts.of(d.dims.mod(d.V, d.c(4)));
  EXPECT_TRUE(quotient.low == -2 && quotient.high == 2);
  EXPECT_TRUE(rest.low == 0 && rest.high == 3);
  // A divisor that may be 0 or negative tells nothing.
  EXPECT_FALSE(facts.atLeast(d.dims.floorDiv(d.N, d.V), -100));
}

TEST(DimFacts, AQuotientIsComparedWithWhatStandsBesideIt) {
  Dims d;
  DimFacts facts(d.dims);
  facts.assumeAtMost(d.N, 100);
  const DimFacts::Interval most = facts.of(d.dims.floorDiv(d.dims.mul(d.c(3), d.N), d.c(4)));
  EXPECT_TRUE(most.low == 0 && most.high == 75);
  const DimFacts::Interval up = facts.of(d.dims.floorDiv(d.dims.add(d.N, d.c(2)), d.c(3)));
  EXPECT_TRUE(up.low == 0 && up.high == 34);
}

TEST(DimFacts, WhatIsDividedIsNoGreaterThanAsItIsWritten) {
  Dims d;
  DimFacts facts(d.dims);
  facts.assumeAtMost(d.N, maxExtent);
  facts.assumeAtMost(d.M, maxExtent);
  const DimId large = d.c(100'000'000'000'000), minus = d.dims.sub(d.M, d.N);
  for (DimId dim : {d.dims.mod(minus, large), d.dims.floorDiv(minus, large), d.dims.mod(minus, d.c(70'000)),
                    d.dims.floorDiv(minus, d.c(70'000))})
    EXPECT_TRUE(facts.isExact(dim)) << d.dims.print(dim);
}

TEST(DimFacts, BoundsOfAQuotientAndOfAnExtremumBoundWhatTheyAreOf) {
  Dims d;
  DimFacts facts(d.dims);
  const size_t mark = facts.mark();
  facts.assumeAtLeast(d.dims.floorDiv(d.dims.add(d.N, d.c(1)), d.c(2)), 1);
  EXPECT_TRUE(facts.atLeast(d.N, 1));
  EXPECT_FALSE(facts.atLeast(d.N, 2));
  facts.assumeAtMost(d.dims.floorDiv(d.dims.add(d.N, d.c(1)), d.c(2)), 4);
  EXPECT_TRUE(facts.atMost(d.N, 8));
  EXPECT_FALSE(facts.atMost(d.N, 7));
  facts.assumeAtLeast(d.dims.min(d.M, d.V), 3);
  EXPECT_TRUE(facts.atLeast(d.M, 3) && facts.atLeast(d.V, 3));
  facts.assumeAtMost(d.dims.max(d.M, d.V), 9);
  EXPECT_TRUE(facts.atMost(d.M, 9) && facts.atMost(d.V, 9));
  facts.undo(mark);
  EXPECT_FALSE(facts.atLeast(d.N, 1) || facts.atMost(d.N, 8) || facts.atLeast(d.V, 3) ||
               facts.atMost(d.M, 9));
  facts.assumeAtLeast(d.dims.floorDiv(d.N, d.M), 1);
  EXPECT_FALSE(facts.atLeast(d.N, 1)) << "by a size that is not known";
}

TEST(DimFacts, ASymbolIsANumberOf64BitsAndOneMoreMayNotBe) {
  Dims d;
  DimFacts facts(d.dims);
  EXPECT_TRUE(facts.isExact(d.V));
  EXPECT_FALSE(facts.isExact(d.dims.add(d.V, d.c(1))));
  EXPECT_TRUE(facts.isExact(d.dims.sub(d.N, d.c(1))));
  EXPECT_FALSE(facts.isExact(d.dims.floorDiv(d.dims.mul(d.N, d.M), d.c(1000000))));
}

} // namespace
} // namespace melix::types
