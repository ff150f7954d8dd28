// Branches with a product in an arm, whose rows are put together.
#include "transforms/batch/batch_rows.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

std::vector<Value> arguments() {
  std::vector<float> x;
  for (int k = 0; k < 400; ++k) x.push_back(static_cast<float>(k % 7) - 3);
  return {Value::floats({x.begin(), x.begin() + 19 * 10}, {19, 10}),
          Value::floats({x.begin(), x.begin() + 10 * 18}, {10, 18})};
}

/// The product of a row of %x and a matrix; `n` makes names its own.
std::string product(const std::string& result, const std::string& n) {
  return "      " + result + " = nest (%j" + n + ": 18, %k" + n + ": 10) -> keep[j" + n +
         "] sum {\n        %a" + n + " = get %x[%t, %k" + n + "] : f32\n        %b" + n + " = get %m[%k" + n +
         ", %j" + n + "] : f32\n        %p" + n + " = mul %a" + n + ", %b" + n + " : f32\n        yield %p" +
         n + "\n      } : f32[18]\n";
}
const std::string zeros = "      %z = zero : f32[18]\n      yield %z\n";
/// A row is tested by its element `at`.
std::string test(const std::string& at) {
  return "    %zero = const 0.0 : f32\n    %at = const " + at +
         " : i64\n    %first = get %x[%t, %at] : f32\n    %c = cmp gt %first, %zero : bool\n";
}
std::string rows(const std::string& body, const std::string& result = "%r") {
  return "fn f (%x: f32[19, 10], %m: f32[10, 18]) -> (f32[19, 18]) {\n  %y = nest (%t: 19) -> collect[t] "
         "{\n" +
         body + "    yield " + result + "\n  } : f32[19, 18]\n  yield %y\n}\n";
}
std::string branch(const std::string& yes, const std::string& no, const std::string& condition = "%c") {
  return "    %r = if " + condition + " {\n" + yes + "    } {\n" + no + "    } : f32[18]\n";
}
std::string productArm(const std::string& n) { return product("%w" + n, n) + "      yield %w" + n + "\n"; }

TEST(BatchedBranches, AnArmWithAProductRunsOverItsRows) {
  PassText m(rows(test("2") + branch(productArm("1"), zeros)));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("filter defines"), 1u) << m.text();
  EXPECT_EQ(m.count("zero : f32[18]"), 1u) << m.text();
}

TEST(BatchedBranches, BothArmsDo) {
  PassText m(rows(test("2") + branch(productArm("1"), productArm("2"))));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("filter defines"), 2u) << m.text();
  EXPECT_EQ(m.count("for collects 2"), 1u) << m.text();
}

TEST(BatchedBranches, ABranchInAnArmIsCompactedOverTheRowsOfTheArm) {
  const std::string inner = "      %first1 = get %x[%t, %at] : f32\n      %one = const 1.0 : f32\n"
                            "      %c1 = cmp gt %first1, %one : bool\n      %q = if %c1 {\n" +
                            productArm("1") + "      } {\n" + productArm("3") +
                            "      } : f32[18]\n      yield %q\n";
  PassText m(rows(test("2") + branch(inner, productArm("2"))));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("filter defines"), 4u) << m.text();
}

TEST(BatchedBranches, WhatCostsMoreThanToReadItAgainIsMadeForAllRowsBefore) {
  const std::string squares = "    %e = nest (%i: 10) -> collect[i] {\n      %v = get %x[%t, %i] : f32\n"
                              "      %d = mul %v, %v : f32\n      yield %d\n    } : f32[10]\n";
  std::string arm = productArm("1");
  arm.replace(arm.find("get %x[%t, %k1]"), 15, "get %e[%k1]");
  PassText m(rows(test("2") + squares + branch(arm, zeros)));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count(": f32[19, 10]\n"), 1u) << m.text();
}

TEST(BatchedBranches, ANumberIsMatched) {
  const std::string matched =
      "    %tag = convert saturate %first : i64\n    %r = match cases [0, 1, 2] %tag {\n" + productArm("1") +
      "    } {\n" + zeros + "    } {\n" + productArm("2") + "    } : f32[18]\n";
  PassText m(rows(test("2") + matched));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("filter defines"), 2u) << m.text();
}

TEST(BatchedBranches, RowsOfSeveralAxesAreNumbered) {
  PassText m("fn f (%x: f32[19, 10], %m: f32[10, 18]) -> (f32[19, 3, 18]) {\n"
             "  %y = nest (%t: 19, %s: 3) -> collect[t, s] {\n" +
             test("2") +
             "    %is = cmp gt %s, %at : bool\n    %not = not %is : bool\n"
             "    %both = and %c, %not : bool\n" +
             branch(productArm("1"), zeros, "%both") + "    yield %r\n  } : f32[19, 3, 18]\n  yield %y\n}\n");
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("filter defines"), 1u) << m.text();
}

/// The first row that fails is the same, and reads that a check guards come after it.
TEST(BatchedBranches, ChecksMoveBefore) {
  for (const char* at : {"2", "10"}) {
    std::string text = test(at);
    const size_t read = text.find("    %first");
    text.insert(read, "    check index \"\" %at dims [10]\n");
    PassText m(rows(text + branch(productArm("1"), zeros)));
    m.apply(batchRows, arguments());
    EXPECT_EQ(m.count("filter defines"), 1u) << m.text();
    EXPECT_LT(m.text().find("check index"), m.text().find("filter defines")) << m.text();
  }
}

TEST(BatchedBranches, AnArmThatAllRowsTakeStandsBeforeThem) {
  for (const char* compare : {"gt", "lt"}) {
    PassText m(rows("    %one = const 1 : i64\n    %at = const 2 : i64\n    %c = cmp " +
                    std::string(compare) + " %at, %one : bool\n" + branch(productArm("1"), zeros)));
    const size_t before = m.text().find("= if "), nest = m.text().find("nest (%");
    EXPECT_LT(nest, before);
    m.apply(batchRows, arguments());
    EXPECT_LT(m.text().find("= if "), m.text().find("nest (%")) << m.text();
    EXPECT_EQ(m.count("filter defines"), 0u) << m.text();
  }
}

TEST(BatchedBranches, OtherBranchesStay) {
  const std::string same = "    %zero = const 0.0 : f32\n    %at = const 2 : i64\n"
                           "    %first = get %m[%at, %at] : f32\n    %c = cmp gt %first, %zero : bool\n";
  for (const std::string& body : {same + branch(productArm("1"), zeros),
                                  test("2") + branch(zeros, "      %o = zero : f32[18]\n      yield %o\n")}) {
    PassText m(rows(body));
    m.apply(batchRows, arguments());
    EXPECT_EQ(m.count("filter defines"), 0u) << m.text();
  }
}

} // namespace
} // namespace melix::transforms
