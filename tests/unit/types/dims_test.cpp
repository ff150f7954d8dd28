// Dimensions are equal iff their normal forms are (rule 23).
#include "types/dims.h"

#include <gtest/gtest.h>

namespace melix::types {
namespace {

class Dims : public ::testing::Test {
protected:
  DimStore dims;
  DimSym symbol(const char* name, int64_t low = 0) {
    return dims.newSym({name, DimSymKind::Parameter, low, {}});
  }
  DimId sym(const char* name, int64_t low = 0) { return dims.symbol(symbol(name, low)); }
  DimId k(int64_t v) { return dims.constant(v); }
  DimId add(DimId a, DimId b) { return dims.add(a, b); }
  DimId sub(DimId a, DimId b) { return dims.sub(a, b); }
  DimId mul(DimId a, DimId b) { return dims.mul(a, b); }
};

TEST_F(Dims, SumsAndProductsCommute) {
  DimId m = sym("M"), n = sym("N");
  EXPECT_EQ(add(m, n), add(n, m));
  EXPECT_EQ(mul(add(m, n), add(m, n)), add(add(mul(m, m), mul(k(2), mul(n, m))), mul(n, n)));
  EXPECT_EQ(sub(add(m, n), m), n);
  EXPECT_NE(m, n);
}

TEST_F(Dims, MultiplesLeaveADivision) {
  DimId h = sym("H");
  EXPECT_EQ(add(dims.floorDiv(sub(h, k(2)), k(2)), k(1)), dims.floorDiv(h, k(2)));
  EXPECT_EQ(dims.floorDiv(mul(k(6), h), k(3)), mul(k(2), h));
  EXPECT_EQ(dims.floorDiv(add(mul(k(3), h), k(7)), k(2)),
            add(add(h, k(3)), dims.floorDiv(add(h, k(1)), k(2))));
  EXPECT_EQ(dims.floorDiv(h, k(1)), h);
  EXPECT_EQ(dims.floorDiv(k(-7), k(2)), k(-4));
}

TEST_F(Dims, RemaindersDropMultiples) {
  DimId p = sym("P"), r = sym("R");
  EXPECT_EQ(dims.mod(add(mul(k(4), p), r), k(4)), dims.mod(r, k(4)));
  EXPECT_EQ(dims.mod(mul(k(4), p), k(2)), k(0));
  EXPECT_EQ(dims.mod(p, k(1)), k(0));
  EXPECT_EQ(dims.mod(k(-7), k(4)), k(1));
}

TEST_F(Dims, TriangularNumbersAreEqualAsWritten) {
  DimId d = sym("D");
  DimId a = dims.floorDiv(mul(d, sub(d, k(1))), k(2));
  DimId b = dims.floorDiv(sub(mul(d, d), d), k(2));
  EXPECT_EQ(a, b);
  EXPECT_TRUE(dims.hasOpaqueAtom(a));
}

TEST_F(Dims, MinAndMaxFlatten) {
  DimId m = sym("M"), n = sym("N");
  EXPECT_EQ(dims.min(m, dims.min(n, m)), dims.min(n, m));
  EXPECT_EQ(dims.max(m, m), m);
  EXPECT_EQ(dims.min(dims.min(m, k(3)), k(5)), dims.min(m, k(3)));
  EXPECT_NE(dims.min(m, n), dims.max(m, n));
}

TEST_F(Dims, SubstitutionNormalisesAgain) {
  DimSym hs = symbol("H");
  DimId n = sym("N"), half = dims.floorDiv(dims.symbol(hs), k(2));
  EXPECT_EQ(dims.substitute(half, {{hs, mul(k(2), n)}}), n);
  EXPECT_EQ(dims.substitute(half, {{hs, k(9)}}), k(4));
  EXPECT_EQ(dims.substitute(n, {{hs, k(9)}}), n);
}

TEST_F(Dims, EvaluatesUnderAnAssignment) {
  DimSym hs = symbol("H"), ns = symbol("N");
  DimId h = dims.symbol(hs), n = dims.symbol(ns);
  EXPECT_EQ(dims.evaluate(dims.floorDiv(sub(h, k(9)), k(2)), {{hs, 2}}), -4);
  EXPECT_EQ(dims.evaluate(dims.floorDiv(h, n), {{hs, 2}, {ns, 0}}), std::nullopt);
  EXPECT_EQ(dims.evaluate(dims.max(h, n), {{hs, 2}, {ns, 5}}), 5);
  EXPECT_EQ(dims.evaluate(add(h, n), {{hs, 2}}), std::nullopt);
}

TEST_F(Dims, LowerBoundsFollowFromTheSymbols) {
  DimId n = sym("N", 1), h = sym("H"), v = sym("V", INT64_MIN);
  EXPECT_TRUE(dims.atLeast(sub(n, k(1)), 0));
  EXPECT_FALSE(dims.atLeast(sub(h, k(1)), 0));
  EXPECT_TRUE(dims.atLeast(mul(n, h), 0));
  EXPECT_FALSE(dims.atLeast(v, 0));
  EXPECT_TRUE(dims.atLeast(dims.mod(v, k(4)), 0));
  EXPECT_TRUE(dims.atLeast(dims.floorDiv(h, k(2)), 0));
  EXPECT_TRUE(dims.atLeast(dims.max(v, k(0)), 0));
}

TEST_F(Dims, PrintsLikeSource) {
  DimId n = sym("N"), h = sym("H");
  EXPECT_EQ(dims.print(sub(n, k(1))), "N - 1");
  EXPECT_EQ(dims.print(add(mul(k(2), n), k(1))), "2*N + 1");
  EXPECT_EQ(dims.print(dims.floorDiv(add(h, n), k(2))), "(N + H) / 2");
  EXPECT_EQ(dims.print(mul(k(3), dims.mod(n, k(2)))), "3*(N % 2)");
  EXPECT_EQ(dims.print(sub(k(2), n)), "2 - N");
}

} // namespace
} // namespace melix::types
