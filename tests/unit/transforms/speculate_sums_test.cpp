// Products that leave the branches that mask them.
#include "transforms/pass_text.h"
#include "transforms/predication/speculate_sums.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// A masked product: its condition %m, and the read of its column, %b.
std::string masked(const std::string& condition, const std::string& read) {
  return "fn f (%x: f32[3, 2], %y: f32[3, 2]) -> (f32[3, 3]) {\n"
         "  %r = nest (%i: 3, %j: 3) -> collect[i, j] {\n" +
         condition +
         "    %t = if %m {\n      %s = nest (%k: 2) -> keep[] sum {\n        %a = get %x[%i, %k] : f32\n" +
         read +
         "        %p = mul %a, %b : f32\n        yield %p\n      } : f32\n      yield %s\n    } {\n"
         "      %z = const -1.0 : f32\n      yield %z\n    } : f32\n    yield %t\n  } : f32[3, 3]\n  yield "
         "%r\n}\n";
}
const char* const before = "    %m = cmp le %j, %i : bool\n";
const char* const column = "        %b = get %y[%j, %k] : f32\n";

bool leaves(const std::string& condition, const std::string& read) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  PassText m(masked(condition, read));
  m.apply(speculateSums, {numbers, numbers});
  return m.count(" = if ") == 0 && m.count("select %m") == 1;
}

TEST(FreeSums, OfRowsAndColumnsThatAMaskTellsApart) {
  EXPECT_TRUE(leaves(before, column));
  EXPECT_TRUE(
      leaves("    %o = const 2 : i64\n    %d = add %i, %o : i64\n    %m = cmp gt %d, %j : bool\n", column));
}

TEST(FreeSums, OfABandOfColumns) {
  const std::string band =
      "    %d = sub %i, %j : i64\n    %two = const 2 : i64\n    %n = cmp lt %d, %two : bool\n"
      "    %e = cmp le %j, %i : bool\n    %m = and %e, %n : bool\n";
  EXPECT_TRUE(leaves(band, column));
  EXPECT_TRUE(
      leaves("    %one = const 1 : i64\n    %n = cmp ge %j, %one : bool\n    %e = cmp le %j, %i : bool\n"
             "    %m = and %n, %e : bool\n",
             column))
      << "beside what columns alone must be";
}

TEST(FreeSums, OfAllButFewPoints) {
  EXPECT_TRUE(leaves("    %m = cmp ne %j, %i : bool\n", column));
  EXPECT_TRUE(leaves(
      "    %e = cmp le %j, %i : bool\n    %n = cmp ne %j, %i : bool\n    %m = and %e, %n : bool\n", column));
}

/// A branch that gives two numbers, and is reduced by `reduce`.
std::string best(const std::string& condition, const std::string& reduce) {
  return "fn f (%x: f32[3, 2], %y: f32[3, 2]) -> (f32[3], f32[3, 3]) {\n"
         "  %r, %q = nest (%i: 3, %j: 3) -> " +
         reduce + ", collect[i, j] {\n    %m = cmp " + condition +
         " %j, %i : bool\n"
         "    %t, %u = if %m {\n      %z = const 9.0 : f32\n      yield %z, %z\n    } {\n"
         "      %s = nest (%k: 2) -> keep[] sum {\n        %a = get %x[%i, %k] : f32\n" +
         column +
         "        %p = mul %a, %b : f32\n        yield %p\n      } : f32\n      yield %s, %s\n    } : f32, "
         "f32\n"
         "    yield %t, %u\n  } : f32[3], f32[3, 3]\n  yield %r, %q\n}\n";
}

TEST(FreeSums, WhatIsReducedAndSeveralNumbers) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  for (const char* reduce : {"keep[i] max", "keep[i] min", "keep[i] sum"}) {
    PassText m(best("eq", reduce));
    m.apply(speculateSums, {numbers, numbers});
    EXPECT_EQ(m.count("select %m"), 2u) << m.text();
    PassText few(best("ne", reduce));
    few.apply(speculateSums, {numbers, numbers});
    EXPECT_EQ(few.count("select %m"), 0u) << "needed on the diagonal alone: " << few.text();
  }
}

/// What one side or data decide may hold anywhere: all of a product costs less than a thirtieth of it sum by
/// sum.
TEST(FreeSums, UnderConditionsOfOneSideOrOfData) {
  EXPECT_TRUE(
      leaves("    %one = const 1 : i64\n    %e = cmp ge %j, %one : bool\n    %n = cmp ge %i, %one : bool\n"
             "    %m = and %e, %n : bool\n",
             column));
  EXPECT_TRUE(leaves("    %o = const 2 : i64\n    %m = cmp le %o, %i : bool\n", column)) << "of rows alone";
  EXPECT_TRUE(leaves("    %d = mul %i, %i : i64\n    %m = cmp le %j, %d : bool\n", column));
  EXPECT_TRUE(
      leaves("    %zero = const 0 : i64\n    %u = get %x[%i, %zero] : f32\n    %v = get %y[%j, %zero] : f32\n"
             "    %m = cmp eq %u, %v : bool\n",
             column));
}

TEST(FreeSums, NotOfFewPointsNorOfDearTerms) {
  EXPECT_FALSE(leaves("    %m = cmp eq %j, %i : bool\n", column));
  EXPECT_FALSE(leaves("    %o = const 2 : i64\n    %m = cmp le %o, %i : bool\n",
                      "        %c = get %y[%j, %k] : f32\n        %b = math exp %c : f32\n"));
}

TEST(FreeSums, WhatMayBeOutOfRangeStays) {
  EXPECT_FALSE(leaves(before, "        %d = sub %i, %j : i64\n        %b = get %y[%d, %k] : f32\n"));
}

TEST(FreeSums, ReadsOutOfRangeBesideThemKeepABranch) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  for (const bool isElse : {false, true}) {
    const std::string product = std::string("      %s = nest (%k: 2) -> keep[] sum {\n"
                                            "        %a = get %x[%i, %k] : f32\n") +
                                column +
                                "        %p = mul %a, %b : f32\n        yield %p\n      } : f32\n"
                                "      %d = sub %i, %j : i64\n      %g = get %c[%d] : f32\n"
                                "      %w = add %s, %g : f32\n      yield %w\n";
    const std::string number = "      %z = const -1.0 : f32\n      yield %z\n";
    PassText m("fn f (%x: f32[3, 2], %y: f32[3, 2], %c: f32[3]) -> (f32[3, 3]) {\n"
               "  %r = nest (%i: 3, %j: 3) -> collect[i, j] {\n    %m = cmp " +
               std::string(isElse ? "gt" : "le") + " %j, %i : bool\n    %t = if %m {\n" +
               (isElse ? number : product) + "    } {\n" + (isElse ? product : number) +
               "    } : f32\n    yield %t\n  } : f32[3, 3]\n  yield %r\n}\n");
    m.apply(speculateSums, {numbers, numbers, Value::floats(std::vector<float>{7, 8, 9}, {3})});
    EXPECT_EQ(m.count(" = if %m"), 1u) << m.text();
    EXPECT_EQ(m.count("select %m"), 1u) << m.text();
  }
}

TEST(FreeSums, IntegersOutOfRangeStay) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  const Value places =
      Value::array(types::TypeKind::I64, std::vector<int64_t>{3}, std::vector<int64_t>{2, 1, 2}.data());
  PassText m(
      "fn f (%x: f32[3, 2], %y: f32[3, 2], %c: i64[3]) -> (f32[3, 3]) {\n"
      "  %r = nest (%i: 3, %j: 3) -> collect[i, j] {\n" +
      std::string(before) +
      "    %t = if %m {\n      %s = nest (%k: 2) -> keep[] sum {\n        %a = get %x[%i, %k] : f32\n" +
      column +
      "        %p = mul %a, %b : f32\n        yield %p\n      } : f32\n"
      "      %d = sub %i, %j : i64\n      %g = get %c[%d] : i64\n"
      "      %h = convert saturate %g : f32\n      %w = add %s, %h : f32\n      yield %w\n    } {\n"
      "      %z = const -1.0 : f32\n      yield %z\n    } : f32\n    yield %t\n"
      "  } : f32[3, 3]\n  yield %r\n}\n");
  m.apply(speculateSums, {numbers, numbers, places});
  EXPECT_EQ(m.count("select %m"), 0u) << m.text();
}

/// A branch beside a sum between its root and a number, or something dearer.
TEST(FreeSums, BranchesNoDearerThanAChoiceAreChoices) {
  const Value numbers = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  for (const auto& [op, isChoice] : {std::pair("sqrt %s", true), std::pair("math exp %s", false)}) {
    PassText m(
        "fn f (%x: f32[3, 2], %y: f32[3, 2]) -> (f32[3, 3]) {\n  %z = const 0.0 : f32\n"
        "  %r = nest (%i: 3, %j: 3) -> collect[i, j] {\n    %s = nest (%k: 2) -> keep[] sum {\n"
        "      %a = get %x[%i, %k] : f32\n      %b = get %y[%j, %k] : f32\n      %p = mul %a, %b : f32\n"
        "      yield %p\n    } : f32\n    %c = cmp gt %s, %z : bool\n    %t = if %c {\n      %q = " +
        std::string(op) +
        " : f32\n      yield %q\n    } {\n      yield %z\n    } : f32\n    yield %t\n"
        "  } : f32[3, 3]\n  yield %r\n}\n");
    m.apply(speculateSums, {numbers, numbers});
    EXPECT_EQ(m.count("select %c"), isChoice ? 1u : 0u) << m.text();
  }
}

} // namespace
} // namespace melix::transforms
