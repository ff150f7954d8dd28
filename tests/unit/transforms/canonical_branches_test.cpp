// Programs in several spellings become one: conditions are negated, branches joined, choices made extremes.
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;
using types::TypeKind;

constexpr int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -3, -1, 0, 1, 2, 3, 7, INT64_MAX - 1, INT64_MAX};

/// The text after simplify of a function of two i64 that gives an i64; its values stay what they are.
std::string ofIntegers(const std::string& body) {
  const std::string text =
      "fn f (%x: i64, %y: i64) -> (i64) {\n  %zero = const 0 : i64\n  %one = const 1 : i64\n" + body +
      "  yield %r\n}\n";
  std::string first;
  for (int64_t x : extremes)
    for (int64_t y : extremes) {
      PassText m(text);
      m.apply(simplify, {Value::integer(x), Value::integer(y)});
      if (first.empty()) first = m.text();
    }
  return first;
}
/// The same of a body of a nest over N = 5 points %i, which gives an i64 for each.
std::string ofPoints(const std::string& body) {
  const std::string text = "fn f [N] (%a: f32[N], %y: i64) -> (i64[N]) {\n  %zero = const 0 : i64\n"
                           "  %one = const 1 : i64\n  %n = dim_value dims [N] : i64\n"
                           "  %last = sub %n, %one : i64\n  %s = nest (%i: N) -> collect[i] {\n" +
                           body + "    yield %r\n  } : i64[N]\n  yield %s\n}\n";
  std::string first;
  for (int64_t y : extremes) {
    PassText m(text);
    m.apply(simplify, {Value::floats(std::vector<float>{1, 2, 3, 4, 5}), Value::integer(y)});
    if (first.empty()) first = m.text();
  }
  return first;
}
std::string branch(const std::string& condition, const std::string& yes, const std::string& no) {
  return "  %c = " + condition + " : bool\n  %r = if %c {\n" + yes + "  } {\n" + no + "  } : i64\n";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(CanonicalBranches, AChoiceOfTheGreaterIsMax) {
  for (const char* how : {"lt", "le"}) {
    const std::string clamp =
        ofIntegers(branch("cmp " + std::string(how) + " %x, %y", "    yield %y\n", "    yield %x\n"));
    EXPECT_TRUE(has(clamp, "max")) << clamp;
    EXPECT_FALSE(has(clamp, "if")) << clamp;
  }
  EXPECT_TRUE(has(ofIntegers(branch("cmp gt %x, %y", "    yield %y\n", "    yield %x\n")), "min"));
  EXPECT_TRUE(has(ofIntegers("  %c = cmp ge %x, %zero : bool\n  %r = select %c, %x, %zero : i64\n"), "max"));
}

/// i - 1 wraps for the least i64, so the difference is no order of any i64; that of an index is one.
TEST(CanonicalBranches, SidesThatMayWrapStay) {
  const std::string less = "    %d = sub %x, %one : i64\n    yield %d\n";
  const std::string any = ofIntegers(branch("cmp gt %x, %zero", less, "    yield %zero\n"));
  EXPECT_FALSE(has(any, "max")) << any;
  EXPECT_TRUE(has(any, "if")) << any;
  const std::string wraps = ofIntegers(branch("cmp ge %x, %zero", "    yield %zero\n", less));
  EXPECT_FALSE(has(wraps, "min")) << wraps;
  const std::string index = ofPoints(
      branch("cmp gt %i, %zero", "    %d = sub %i, %one : i64\n    yield %d\n", "    yield %zero\n"));
  EXPECT_TRUE(has(index, "max")) << index;
}

TEST(CanonicalBranches, ASideMayBeEqualToAnEndOnlyWhereItIsChosen) {
  const std::string next = "    %d = add %i, %one : i64\n    yield %d\n";
  EXPECT_TRUE(has(ofPoints(branch("cmp eq %i, %last", "    yield %i\n", next)), "min"));
  EXPECT_TRUE(has(ofPoints(branch("cmp lt %i, %last", next, "    yield %i\n")), "min"));
  const std::string other = ofPoints(branch("cmp lt %i, %y", next, "    yield %i\n"));
  EXPECT_FALSE(has(other, "min")) << other;
}

TEST(CanonicalBranches, TheArmThatComputesStandsFirst) {
  const std::string work = "    %d = mul %x, %y : i64\n    yield %d\n", none = "    yield %zero\n";
  for (const auto& [how, inverse] : {std::pair("gt", "le"), std::pair("ne", "eq"), std::pair("ge", "lt")}) {
    const std::string text = ofIntegers(branch("cmp " + std::string(how) + " %x, %y", none, work));
    EXPECT_TRUE(has(text, "cmp " + std::string(inverse))) << text;
    EXPECT_LT(text.find("mul"), text.find("yield %zero")) << text;
    const std::string as = ofIntegers(branch("cmp " + std::string(inverse) + " %x, %y", work, none));
    EXPECT_LT(as.find("mul"), as.find("yield %zero")) << as;
  }
  const std::string either = ofIntegers("  %p = cmp gt %x, %y : bool\n  %q = cmp lt %x, %zero : bool\n" +
                                        branch("or %p, %q", none, work));
  EXPECT_TRUE(has(either, "and")) << either;
  EXPECT_FALSE(has(either, " or ")) << either;
}

/// With a NaN neither a comparison of floats nor its inverse holds.
TEST(CanonicalBranches, ComparisonsOfFloatsKeepTheirPolarity) {
  for (float x : {1.0f, -1.0f, __builtin_nanf("")}) {
    PassText m("fn f (%x: f32) -> (f32) {\n  %z = const 0.0 : f32\n  %c = cmp gt %x, %z : bool\n"
               "  %n = not %c : bool\n  %r = if %n {\n    yield %z\n  } {\n    %d = mul %x, %x : f32\n"
               "    yield %d\n  } : f32\n  yield %r\n}\n");
    m.apply(simplify, {Value::f32(x)});
    EXPECT_EQ(m.count("cmp gt"), 1u) << m.text();
  }
}

TEST(CanonicalBranches, NestedBranchesWithOneOtherValueAreOne) {
  const std::string inner = "    %d = cmp lt %x, %y : bool\n    %s = if %d {\n      %p = mul %x, %y : i64\n"
                            "      yield %p\n    } {\n      yield %zero\n    } : i64\n    yield %s\n";
  const std::string joined = ofIntegers(branch("cmp gt %x, %zero", inner, "    yield %zero\n"));
  EXPECT_TRUE(has(joined, "and")) << joined;
  EXPECT_EQ(joined.find("if"), joined.rfind("if")) << joined;
  const std::string other = ofIntegers(branch("cmp gt %x, %zero", inner, "    yield %one\n"));
  EXPECT_NE(other.find("if"), other.rfind("if")) << "another value: " << other;
}

/// Both hold only at the ends of their ranges, so both hold if and only if the sum is at its end.
TEST(CanonicalBranches, TheNegationOfTwoEndsIsOneComparison) {
  auto at = [](const std::string& ends) {
    return "fn f [N, K] (%a: f32[N], %b: f32[K], %y: i64) -> (i64) {\n  %zero = const 0 : i64\n"
           "  %one = const 1 : i64\n  %n = dim_value dims [N] : i64\n  %k = dim_value dims [K] : i64\n"
           "  %s = nest (%i: N, %j: K) -> keep[] sum {\n" +
           ends +
           "    %c = and %p, %q : bool\n    %r = if %c {\n      yield %zero\n    } {\n"
           "      %d = mul %i, %j : i64\n      %e = add %d, %one : i64\n      yield %e\n    } : i64\n"
           "    yield %r\n  } : i64\n  yield %s\n}\n";
  };
  auto counts = [&](const std::string& ends) {
    PassText m(at(ends));
    m.apply(simplify, {Value::floats(std::vector<float>{1, 2, 3}), Value::floats(std::vector<float>{1, 2}),
                       Value::integer(1)});
    return m.count("cmp");
  };
  EXPECT_EQ(counts("    %p = cmp eq %i, %zero : bool\n    %q = cmp le %j, %zero : bool\n"), 1u);
  EXPECT_EQ(counts("    %l = sub %n, %one : i64\n    %m = sub %k, %one : i64\n"
                   "    %p = cmp ge %i, %l : bool\n    %q = cmp eq %j, %m : bool\n"),
            1u);
  EXPECT_EQ(
      counts(
          "    %l = sub %n, %one : i64\n    %p = cmp ge %i, %l : bool\n    %q = cmp eq %j, %zero : bool\n"),
      1u);
  EXPECT_EQ(counts("    %p = cmp eq %i, %y : bool\n    %q = cmp le %j, %zero : bool\n"), 2u)
      << "no end of the range";
}

TEST(CanonicalBranches, AMagnitudeWithinABoundIsTwoComparisons) {
  for (const char* how : {"le", "lt", "ge", "gt"})
    for (bool isLeft : {true, false}) {
      const std::string sides = isLeft ? "%m, %y" : "%y, %m";
      const std::string text =
          ofPoints("    %d = sub %i, %one : i64\n    %m = abs %d : i64\n    %c = cmp " + std::string(how) +
                   " " + sides + " : bool\n    %r = select %c, %i, %one : i64\n");
      EXPECT_FALSE(has(text, "abs")) << text;
    }
  const std::string any =
      ofIntegers("  %m = abs %x : i64\n" + branch("cmp le %m, %y", "    yield %x\n", "    yield %one\n"));
  EXPECT_TRUE(has(any, "abs")) << "of the least i64 the magnitude wraps: " << any;
}

/// A match of a number of this type after simplify; its value stays what it is for the bits given.
std::string ofNumber(TypeKind kind, const std::string& cases, std::initializer_list<uint64_t> numbers) {
  const std::string text =
      "fn f (%t: " + std::string(types::scalarName(kind)) + ", %x: i64, %y: i64) -> (i64) {\n" +
      "  %r = match cases [" + cases + "] %t {\n    %a = mul %x, %y : i64\n    yield %a\n  } {\n" +
      "    %b = add %x, %y : i64\n    yield %b\n  } {\n    %c = sub %x, %y : i64\n    yield %c\n  } : i64\n" +
      "  yield %r\n}\n";
  std::string after;
  for (uint64_t n : numbers) {
    PassText m(text);
    m.apply(simplify, {Value::ofBits(kind, n), Value::integer(7), Value::integer(3)});
    after = m.text();
  }
  return after;
}

TEST(CanonicalBranches, AMatchOfFewRegionsIsABranchForEach) {
  const std::string ofBool = ofNumber(TypeKind::Bool, "0, 1", {0, 1});
  EXPECT_TRUE(has(ofBool, "if %t {\n    %b")) << ofBool;
  for (const char* cases :
       {"0, 1", "0, 1, 1", "1, 0, 1", "2, 2, 0", "0, 0, 0, 1", "0, 1, 2", "2, 1, 2, 0, 1", "1, 2, 0, 1, 2"}) {
    const std::string text = ofNumber(TypeKind::U8, cases, {0, 1, 2, 3, 4, 5, 255});
    EXPECT_TRUE(has(text, "if")) << text;
    EXPECT_FALSE(has(text, "match")) << text;
  }
  EXPECT_TRUE(has(ofNumber(TypeKind::U8, "0, 0, 0, 0, 1", {0, 2, 3, 4}), "cmp lt"));
  // A comparison with the end would take negative numbers too.
  EXPECT_TRUE(has(ofNumber(TypeKind::I32, "0, 0, 0, 0, 1", {0, 2, 3, 4, 0xffffffff}), "match"));
  EXPECT_FALSE(has(ofNumber(TypeKind::I32, "0, 1, 2", {0, 1, 2, 5, 0xffffffff}), "match"));
}

TEST(CanonicalBranches, AMatchOfManyRegionsStays) {
  std::string text = "fn f (%t: u8, %x: i64) -> (i64) {\n  %r = match cases [0";
  for (int k = 1; k < 12; ++k) text += ", " + std::to_string(k);
  text += "] %t";
  for (int k = 0; k < 12; ++k)
    text += " {\n    %k" + std::to_string(k) + " = const " + std::to_string(k) + " : i64\n    %s" +
            std::to_string(k) + " = add %x, %k" + std::to_string(k) + " : i64\n    yield %s" +
            std::to_string(k) + "\n  }";
  text += " : i64\n  yield %r\n}\n";
  PassText m(text);
  m.apply(simplify, {Value::ofBits(TypeKind::U8, 5), Value::integer(3)});
  EXPECT_EQ(m.count("match"), 1u) << m.text();
}

TEST(CanonicalBranches, AMatchOfOneRegionIsTheRegion) {
  const std::string text = ofNumber(TypeKind::U8, "1, 1, 1", {0, 1, 3});
  EXPECT_FALSE(has(text, "match")) << text;
  EXPECT_TRUE(has(text, "add")) << text;
}

TEST(CanonicalBranches, AMatchOfAConstantIsItsRegion) {
  PassText m(R"(fn f (%x: i64) -> (i64) {
  %t = const 1 : u8
  %r = match cases [0, 1, 2] %t {
    yield %x
  } {
    %y = add %x, %x : i64
    yield %y
  } {
    %s = const "never" : str
    panic %s
    yield %x
  } : i64
  yield %r
}
)");
  m.apply(simplify, {Value::integer(3)});
  EXPECT_EQ(m.count("match"), 0u) << m.text();
  EXPECT_EQ(m.count("panic"), 0u);
  EXPECT_EQ(m.count("add"), 1u);
}

TEST(CanonicalBranches, InTheRegionOfANumberItIsKnown) {
  PassText m(R"(fn f (%t: u8, %x: i64) -> (i64) {
  %r = match cases [0, 1, 2] %t {
    yield %x
  } {
    %q = match cases [0, 1, 2] %t {
      %y = mul %x, %x : i64
      yield %y
    } {
      %z = add %x, %x : i64
      yield %z
    } {
      yield %x
    } : i64
    yield %q
  } {
    %w = sub %x, %x : i64
    yield %w
  } : i64
  yield %r
}
)");
  m.apply(simplify, {Value::ofBits(TypeKind::U8, 1), Value::integer(3)});
  EXPECT_EQ(m.count("mul"), 0u) << m.text();
  EXPECT_EQ(m.count("add"), 1u);
}

/// A match of a number that is chosen in branches, of which the inner one goes by %b.
std::string classified(const std::string& test) {
  return "fn f [N] (%a: bool, %x: i64, %y: i64, %z: f32[N]) -> (i64) {\n"
         "  %t = if %a {\n    %p = const 2 : u8\n    yield %p\n  } {\n" +
         test + R"(    %u = if %b {
      %q = const 0 : u8
      yield %q
    } {
      %s = const 1 : u8
      yield %s
    } : u8
    yield %u
  } : u8
  %r = match cases [0, 1, 2] %t {
    %d = mul %x, %y : i64
    yield %d
  } {
    %e = add %x, %y : i64
    yield %e
  } {
    %g = sub %x, %y : i64
    yield %g
  } : i64
  yield %r
}
)";
}

TEST(CanonicalBranches, AMatchOfAChoiceGoesByItsConditions) {
  for (bool a : {false, true})
    for (int64_t x : {1, 2, 3}) {
      PassText m(classified("    %b = cmp lt %x, %y : bool\n"));
      m.apply(simplify, {Value::boolean(a), Value::integer(x), Value::integer(2),
                         Value::floats(std::vector<float>{7})});
      EXPECT_EQ(m.count("u8"), 0u) << m.text();
      EXPECT_EQ(m.count("= if"), 2u) << m.text();
    }
  PassText reads(classified("    %c = get %z[%x] : f32\n    %b = cmp lt %c, %c : bool\n"));
  reads.apply(simplify);
  EXPECT_GT(reads.count("u8"), 0u) << "it may not be there: " << reads.text();
}

} // namespace
} // namespace melix::transforms
