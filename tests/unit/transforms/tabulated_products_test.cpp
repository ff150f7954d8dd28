// Products of looked-up rows.
#include "transforms/batch/tabulate_products.h"
#include "transforms/row_text.h"

namespace melix::transforms {
namespace {

using namespace row_text;

/// For each row of `x` the product of the row that it looks up.
std::string lookedUp(const std::string& body, const std::string& results = "f32[B, D]") {
  return function(results, "%all = nest (%b: B) -> collect[b] {\n%count = get %n[%b] : i64\n" + body +
                               "} : " + results + "\nyield %all\n");
}
std::string product(const std::string& array, const std::string& n) {
  return "%row" + n + " = get " + array + "[%count] : f32[D]\n%y" + n + " = nest (%j" + n +
         ": D) -> collect[j" + n + "] {\n%s" + n + " = nest (%k" + n + ": D) -> keep[] sum {\n%a" + n +
         " = get %row" + n + "[%k" + n + "] : f32\n%m" + n + " = get %w[%k" + n + ", %j" + n + "] : f32\n%q" +
         n + " = mul %a" + n + ", %m" + n + " : f32\nyield %q" + n + "\n} : f32\nyield %s" + n +
         "\n} : f32[D]\n";
}
const std::vector<int64_t> indices = {3, 0, 5, 1, 2, 5, 2};

TEST(TabulatedProducts, OfAsManyRowsAsLookups) {
  PassText m(lookedUp(product("%x", "1") + "yield %y1\n"));
  m.apply(tabulateProducts, arguments(indices));
  EXPECT_EQ(m.count("%w["), 1u) << m.text();
  EXPECT_EQ(m.count("if "), 0u) << m.text();
}

TEST(TabulatedProducts, WhereSizesTellAtRunTime) {
  PassText m(lookedUp(product("%w", "1") + "yield %y1\n")); // 16 rows, 7 lookups
  m.apply(tabulateProducts, arguments(indices));
  EXPECT_EQ(m.count("cmp le"), 1u) << m.text();
  EXPECT_EQ(m.count("if "), 2u) << m.text();
}

TEST(TabulatedProducts, InABranchStay) {
  PassText m(
      lookedUp("%f4 = const 4 : i64\n%c = cmp gt %count, %f4 : bool\n%y = if %c {\n" + product("%x", "1") +
               "yield %y1\n} {\n%other = get %x[%b] : f32[D]\nyield %other\n} : " + "f32[D]\nyield %y\n"));
  const std::string before = m.text();
  EXPECT_EQ(m.apply(tabulateProducts, arguments(indices)).text(), before);
}

TEST(TabulatedProducts, OfRowsThatAreNotLookedUpStay) {
  PassText m(collected(step("%g", "%row", "1"), "%g"));
  const std::string before = m.text();
  EXPECT_EQ(m.apply(tabulateProducts, arguments()).text(), before);
}

} // namespace
} // namespace melix::transforms
