// Intrinsics and the tables that they share with other phases.
#include "check/intrinsics/intrinsics.h"

#include "ops/monoid.h"

#include <gtest/gtest.h>

namespace melix::check {
namespace {

TEST(Intrinsics, EachKindOfReductionIsAFunction) {
  for (const ops::MonoidInfo& row : ops::monoids()) {
    const std::optional<IntrinsicKind> kind = findIntrinsic(row.builtin);
    ASSERT_TRUE(kind.has_value()) << row.builtin;
    EXPECT_EQ(ArrayIntrinsics::takesGenerator(*kind), row.kind != ops::MonoidKind::Combine) << row.builtin;
  }
  EXPECT_TRUE(ArrayIntrinsics::takesGenerator(IntrinsicKind::Mean));
  EXPECT_FALSE(ArrayIntrinsics::takesGenerator(IntrinsicKind::Cumsum));
}

} // namespace
} // namespace melix::check
