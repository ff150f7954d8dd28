// Sums of two sides that leave points which check them.
#include "transforms/fusion/fission_checked_sums.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// A product whose points do this in front of their sum, %s, and behind it, up to %c.
std::string product(const std::string& before, const std::string& behind,
                    const std::string& column = "%y[%k, %j]") {
  return "fn f (%x: i64[2, 2], %y: i64[2, 2]) -> (i64[2, 2]) {\n"
         "  %r = nest (%i: 2, %j: 2) -> collect[i, j] {\n" +
         before + "    %s = nest (%k: 2) -> keep[] sum {\n      %a = get %x[%i, %k] : i64\n      %b = get " +
         column + " : i64\n      %p = mul %a, %b : i64\n      yield %p\n    } : i64\n" + behind +
         "    yield %c\n  } : i64[2, 2]\n  yield %r\n}\n";
}
const char* const checked = "    %n = neg %s : i64\n    check converts \"i8\" of i8 %n\n"
                            "    %c = add %s, %n : i64\n";
const char* const limited = "    check converts \"i8\" of i8 %i\n";

size_t nestsAfter(const std::string& text) {
  const int64_t dims[] = {2, 2}, terms[] = {1, 2, 3, 4};
  const Value numbers = Value::array(types::TypeKind::I64, dims, terms);
  PassText m(text);
  m.apply(fissionCheckedSums, {numbers, numbers});
  return m.count(" = nest ");
}

TEST(SeparateSums, OfPointsThatCheckThem) { EXPECT_EQ(nestsAfter(product("", checked)), 3U); }

TEST(SeparateSums, NotWhereNothingFails) {
  EXPECT_EQ(nestsAfter(product("", "    %c = add %s, %s : i64\n")), 2U);
  EXPECT_EQ(nestsAfter(product("", limited + std::string("    %c = add %s, %s : i64\n"))), 2U)
      << "what does not depend on the sum is checked in front of the points";
}

TEST(SeparateSums, NotBehindAnEffect) { EXPECT_EQ(nestsAfter(product(limited, checked)), 2U); }

TEST(SeparateSums, NotOfOneSide) {
  EXPECT_EQ(nestsAfter(product("", checked, "%y[%i, %k]")), 2U) << "rows share nothing";
}

} // namespace
} // namespace melix::transforms
