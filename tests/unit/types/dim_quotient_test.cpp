// Dimensions that are multiples of others.
#include "types/dim_quotient.h"

#include <gtest/gtest.h>

namespace melix::types {
namespace {

class DimQuotients : public testing::Test {
protected:
  DimId size(const char* name) { return dims.symbol(dims.newSym({name, DimSymKind::Parameter, 0, {}})); }
  DimId number(int64_t n) { return dims.constant(n); }
  /// As text; empty where it is no multiple.
  std::string quotient(DimId whole, DimId by) {
    const std::optional<DimId> q = exactQuotient(dims, whole, by);
    return q ? dims.print(*q) : "";
  }
  DimStore dims;
  DimId n = size("N"), m = size("M");
};

TEST_F(DimQuotients, OfProductsAndOfSumsOfThem) {
  EXPECT_EQ(quotient(dims.mul(n, m), m), "N");
  EXPECT_EQ(quotient(dims.mul(number(6), n), number(3)), "2*N");
  EXPECT_EQ(quotient(dims.mul(number(6), dims.mul(n, n)), dims.mul(number(2), n)), "3*N");
  EXPECT_EQ(quotient(dims.add(dims.mul(n, m), dims.mul(number(4), m)), m), "N + 4");
  EXPECT_EQ(quotient(n, n), "1");
  EXPECT_EQ(quotient(number(12), number(4)), "3");
  EXPECT_EQ(quotient(number(0), n), "0");
}

TEST_F(DimQuotients, OfWhatIsNoSymbolAsOfOneThatIs) {
  const DimId part = dims.floorDiv(n, number(4));
  EXPECT_EQ(quotient(dims.mul(part, m), part), "M");
  EXPECT_EQ(quotient(dims.mul(part, m), m), dims.print(part));
  const DimId least = dims.min(n, dims.min(m, number(7)));
  EXPECT_EQ(quotient(dims.mul(least, n), n), dims.print(least));
}

TEST_F(DimQuotients, NoneWhereARestMayBeLeft) {
  EXPECT_EQ(quotient(n, m), "");
  EXPECT_EQ(quotient(n, number(2)), "");
  EXPECT_EQ(quotient(number(12), number(5)), "");
  EXPECT_EQ(quotient(dims.add(dims.mul(n, m), number(1)), m), "");
  EXPECT_EQ(quotient(dims.mul(n, dims.add(m, number(1))), dims.add(m, number(1))), "") << "of two terms";
  EXPECT_EQ(quotient(n, number(0)), "");
  EXPECT_EQ(quotient(dims.tooLarge(), n), "");
}

} // namespace
} // namespace melix::types
