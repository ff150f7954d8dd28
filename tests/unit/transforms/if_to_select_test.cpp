// Branches between numbers that are there are choices.
#include "transforms/pass_text.h"
#include "transforms/walks/if_to_select.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// A branch on the sign of %x.
std::string branch(const std::string& yes, const std::string& no) {
  return "fn f (%x: f64, %y: f64) -> (f64) {\n  %z = const 0.0 : f64\n  %c = cmp gt %x, %z : bool\n"
         "  %r = if %c {\n" +
         yes + "  } {\n" + no + "  } : f64\n  yield %r\n}\n";
}
size_t branches(const std::string& text) {
  PassText m(text);
  const double numbers[] = {-3, 0, 2, std::numeric_limits<double>::infinity()};
  for (double x : numbers)
    for (double y : numbers)
      m.apply([](core::Module& module) { formSelects(module, core::findFunction(module, "f")); },
              {Value::f64(x), Value::f64(y)});
  return m.count(" = if ");
}

const char *const x = "    yield %x\n", *const negative = "    %n = neg %x : f64\n    yield %n\n",
                  *const sum = "    %s = add %x, %y : f64\n    yield %s\n";

TEST(FormSelects, OfSumsAndNegativesAndWhatIsThere) {
  EXPECT_EQ(branches(branch(x, "    yield %z\n")), 0u);
  EXPECT_EQ(branches(branch(negative, x)), 0u);
  EXPECT_EQ(branches(branch(sum, "    %o = const 1.0 : f64\n    yield %o\n")), 0u);
}

TEST(FormSelects, OfBranchesInBranches) {
  const std::string inner = "    %d = cmp lt %y, %z : bool\n    %i = if %d {\n      yield %y\n    } {\n"
                            "      yield %x\n    } : f64\n    yield %i\n";
  EXPECT_EQ(branches(branch(inner, negative)), 0u);
}

TEST(FormSelects, NotOfWhatMultipliesOrCosts) {
  for (const char* dear :
       {"    %p = mul %x, %y : f64\n    yield %p\n", "    %p = div %x, %y : f64\n    yield %p\n",
        "    %p = math exp %x : f64\n    yield %p\n"})
    EXPECT_EQ(branches(branch(dear, x)), 1u) << dear;
}

TEST(FormSelects, NotOfMoreThanAFewOps) {
  std::string many;
  for (int k = 0; k < 9; ++k)
    many += "    %a" + std::to_string(k) + " = add %" + (k == 0 ? "x" : "a" + std::to_string(k - 1)) +
            ", %y : f64\n";
  EXPECT_EQ(branches(branch(many + "    yield %a8\n", x)), 1u);
}

} // namespace
} // namespace melix::transforms
