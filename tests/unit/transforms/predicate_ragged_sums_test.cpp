// Sums over ranges that become sums under a mask.
#include "transforms/predication/predicate_ragged_sums.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// Sums over `range` of terms %p, else products, of two arrays of 4 by 4, by i and j; %k is what reads them
/// by `first` and `second`.
std::string product(const std::string& range, const std::string& index = "",
                    const std::string& first = "%i, %k", const std::string& second = "%k, %j",
                    const std::string& term = "      %p = mul %u, %v : f32\n") {
  return "fn f (%a: f32[4, 4], %b: f32[4, 4]) -> (f32[4, 4]) {\n"
         "  %r = nest (%i: 4, %j: 4) -> collect[i, j] {\n"
         "    bind_dim %i defines [i]\n    bind_dim %j defines [j]\n"
         "    %s = nest (" +
         std::string(index.empty() ? "%k" : "%l") + ": " + range + ") -> keep[] sum {\n" + index +
         "      %u = get %a[" + first + "] : f32\n      %v = get %b[" + second + "] : f32\n" + term +
         "      yield %p\n    } : f32\n    yield %s\n  } : f32[4, 4]\n"
         "  yield %r\n}\n";
}
PassText masked(const std::string& text) {
  PassText m(text);
  const std::vector<float> numbers{1, 2, -3, 4, 5, 6, 7, 0, -9, 10, 11, 12, 13, 14, 15, -16};
  const Value array = Value::floats(numbers, std::vector<int64_t>{4, 4});
  m.apply([](core::Module& module) { predicateRaggedSums(module); }, {array, array});
  return m;
}
size_t compared(const std::string& text) { return masked(text).count(" = cmp "); }

TEST(MaskRanges, ThatEndWithAnAxis) {
  PassText m = masked(product("i + 1"));
  EXPECT_EQ(m.count(": 4) -> keep") + m.count("cmp lt"), 2u) << m.text();
  EXPECT_EQ(compared(product("4 - i")), 1u);
  EXPECT_EQ(compared(product("min(i, j) + 1")), 2u) << "the lesser of two";
}

TEST(MaskRanges, ThatBeginWithAnAxis) {
  const std::string shifted = "      %d = dim_value dims [i] : i64\n      %k = add %l, %d : i64\n";
  PassText m = masked(product("4 - i", shifted));
  EXPECT_EQ(m.count("cmp ge"), 1u) << m.text();
  EXPECT_EQ(m.count(" = cmp "), 1u) << "it ends where the arrays do";
  EXPECT_EQ(compared(product("4 - i", "      %k = add %l, %i : i64\n")), 1u) << "a number that is the size";
}

/// A loop of `count` iterations that adds products, at each i and j.
std::string loop(const std::string& count, const std::string& index, const std::string& next = "add %t, %p",
                 const std::string& begin = "") {
  return "fn f (%a: f32[4, 4], %b: f32[4, 4]) -> (f32[4, 4]) {\n"
         "  %n = const 4 : i64\n  %one = const 1 : i64\n  %zero = const 0.0 : f32\n"
         "  %r = nest (%i: 4, %j: 4) -> collect[i, j] {\n" +
         begin + "    %count = " + count +
         " : i64\n    %s = for collects 0 %count, %zero { (%l: i64, %t: f32)\n      %k = " + index +
         " : i64\n      %u = get %a[%i, %k] : f32\n      %v = get %b[%k, %j] : f32\n"
         "      %p = mul %u, %v : f32\n      %next = " +
         next + " : f32\n      yield %next\n    } : f32\n    yield %s\n  } : f32[4, 4]\n  yield %r\n}\n";
}

/// Their terms keep their order: the predicate decides between the next sum and the one before.
TEST(MaskRanges, OfLoopsThatAdd) {
  PassText m = masked(loop("sub %n, %i", "add %i, %l"));
  EXPECT_EQ(m.count("cmp ge"), 1u) << m.text();
  EXPECT_EQ(m.count(" = cmp "), 1u) << "it ends where the arrays do";
  EXPECT_EQ(m.count("for collects 0 %count"), 0u) << m.text();
  EXPECT_EQ(compared(loop("add %i, %one", "max %l, %l")), 0u) << "no read of the axis itself";
  EXPECT_EQ(compared(loop("add %i, %one", "add %l, %zeroth", "sub %t, %p", "    %zeroth = const 0 : i64\n")),
            0u)
      << "the count is no difference of an end and the offset";
}

TEST(MaskRanges, LoopsThatDoMoreThanAddStay) {
  EXPECT_EQ(compared(loop("sub %n, %i", "add %i, %l", "max %t, %p")), 0u);
  EXPECT_EQ(compared(loop("sub %n, %one", "add %one, %l")), 0u) << "no axis tells where it ends";
  EXPECT_EQ(compared(loop("sub %n, %j", "add %j, %l")), 0u) << "each column in its lane";
}

TEST(MaskRanges, OfSizesThatAProgramComputes) {
  PassText m(
      "fn f (%n: i64, %m: i64) -> (f64) {\n  bind_dim %n defines [n]\n  bind_dim %m defines [m]\n"
      "  %a = nest (%x: n, %y: n) -> collect[x, y] {\n    %c = convert saturate %x : f64\n    yield %c\n"
      "  } : f64[n, n]\n"
      "  %b = nest (%x$1: n, %y$1: m) -> collect[x$1, y$1] {\n    %c$1 = convert saturate %y$1 : f64\n"
      "    yield %c$1\n  } : f64[n, m]\n"
      "  %r = nest (%i: n, %j: m) -> collect[i, j] {\n    bind_dim %i defines [i]\n"
      "    %s = nest (%k: i) -> keep[] sum {\n      %u = get %a[%i, %k] : f64\n"
      "      %v = get %b[%k, %j] : f64\n      %p = mul %u, %v : f64\n      yield %p\n    } : f64\n"
      "    yield %s\n  } : f64[n, m]\n"
      "  %t = nest (%g: n, %h: m) -> keep[] sum {\n    %w = get %r[%g, %h] : f64\n    yield %w\n"
      "  } : f64\n  yield %t\n}\n");
  m.apply([](core::Module& module) { predicateRaggedSums(module); }, {Value::integer(5), Value::integer(3)});
  EXPECT_EQ(m.count("(%k: n) -> keep"), 1u) << m.text();
  EXPECT_EQ(m.count("max(") + m.count("cmp lt"), 1u) << m.text();
}

/// Sums over a range by %k of products of elements of %x and %y, of arrays of 40 and 50.
size_t comparedInLanes(const std::string& begin, const std::string& end, const std::string& first,
                       const std::string& second) {
  PassText m("fn f (%x: f32[40], %y: f32[50, 50]) -> (f32[89]) {\n  %zero = const 0 : i64\n"
             "  %one = const 1 : i64\n  %last = const 39 : i64\n  %size = const 40 : i64\n"
             "  %row = const 7 : i64\n  %few = const 3 : i64\n"
             "  %r = nest (%k: 89) -> collect[k] {\n    %early = sub %k, %last : i64\n"
             "    %next = add %k, %one : i64\n    %soon = add %early, %few : i64\n    %begin = " +
             begin + " : i64\n    bind_dim %begin defines [begin]\n    %end = " + end +
             " : i64\n    bind_dim %end defines [end]\n"
             "    %s = nest (%l: end - begin) -> keep[] sum {\n"
             "      %d = dim_value dims [begin] : i64\n      %i = add %l, %d : i64\n"
             "      %n = sub %k, %i : i64\n      %u = get %x[" +
             first + "] : f32\n      %v = get %y[" + second +
             "] : f32\n      %p = mul %u, %v : f32\n      yield %p\n    } : f32\n    yield %s\n"
             "  } : f32[89]\n  yield %r\n}\n");
  m.expectVerified();
  predicateRaggedSums(m.module);
  m.expectVerified();
  return m.count(" = cmp ");
}

TEST(MaskRanges, OfColumnsThatReadWhatLiesSideBySide) {
  const char* const from = "max %zero, %early";
  const char* const to = "min %size, %next";
  EXPECT_EQ(comparedInLanes(from, to, "%i", "%row, %n"), 2u);
  EXPECT_EQ(comparedInLanes(from, "min %size, %size", "%i", "%i, %k"), 1u) << "from a diagonal on";
  EXPECT_EQ(comparedInLanes("max %zero, %zero", to, "%i", "%row, %n"), 0u) << "all begin together";
  EXPECT_EQ(comparedInLanes(from, to, "%i", "%row, %i"), 0u) << "the same for all";
  EXPECT_EQ(comparedInLanes(from, to, "%i", "%k, %i"), 0u) << "rows";
  EXPECT_EQ(comparedInLanes(from, "min %size, %soon", "%i", "%row, %n"), 0u) << "of few terms";
}

TEST(MaskRanges, RangesOfFewTermsStay) {
  const std::string shifted = "      %d = dim_value dims [i] : i64\n      %k = add %l, %d : i64\n";
  EXPECT_EQ(compared(product("min(i + 2, 4) - i", shifted)), 0u) << "both ends follow the row";
  EXPECT_EQ(compared(product("max(0, i - 2)")), 0u);
  EXPECT_EQ(compared(product("min(i + 1, 4)")), 1u);
}

TEST(MaskRanges, SumsThatFewPointsMayNeedStay) {
  std::string text = product("i + 1");
  const auto put = [&](const std::string& behind, const std::string& made) {
    text.insert(text.find(behind) + behind.size(), made);
  };
  put("defines [j]\n", "    %c = cmp eq %i, %j : bool\n    %w = if %c {\n");
  put("    } : f32\n", "    yield %s\n    } {\n    %z = const 0.0 : f32\n    yield %z\n    } : f32\n");
  text.replace(text.rfind("    yield %s\n"), 13, "    yield %w\n");
  EXPECT_EQ(compared(text), 1u);
}

/// Tiles take any cheap term of two operands.
TEST(MaskRanges, TermsNeedNotBeProducts) {
  EXPECT_EQ(compared(product("i + 1", "", "%i, %k", "%k, %j", "      %p = add %u, %v : f32\n")), 1u);
  EXPECT_EQ(compared(product("i + 1", "", "%i, %k", "%k, %j",
                             "      %q = neg %u : f32\n      %t = mul %q, %v : f32\n"
                             "      %two = const 2.0 : f32\n      %p = div %t, %two : f32\n")),
            1u);
}

TEST(MaskRanges, TermsThatNoTileTakesStay) {
  EXPECT_EQ(compared(product("i + 1", "", "%i, %k", "%k, %j",
                             "      %q = mul %u, %v : f32\n      %p = math exp %q : f32\n")),
            0u);
  EXPECT_EQ(compared(product("i + 1", "      %z = const 0 : i64\n      %k = max %l, %z : i64\n")), 0u)
      << "no read of the axis itself";
}

TEST(MaskRanges, OthersStay) {
  EXPECT_EQ(compared(product("3")), 0u) << "no axis tells where it ends";
  EXPECT_EQ(compared(product("j + 1")), 0u) << "each column in its lane";
  EXPECT_EQ(compared(product("i + 1", "", "%i, %k", "%i, %k")), 0u) << "one side";
  EXPECT_EQ(compared(product("i * j + 1", "      %three = const 3 : i64\n      %k = min %l, %three : i64\n")),
            0u)
      << "no sum of axes";
  EXPECT_EQ(compared(product("i + 1", "      check index \"\" %l dims [4]\n"
                                      "      %z = const 0 : i64\n      %k = add %l, %z : i64\n")),
            0u)
      << "what may fail";
}

} // namespace
} // namespace melix::transforms
