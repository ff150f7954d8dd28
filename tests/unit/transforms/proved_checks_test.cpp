// Which checks are proved, and which have to stay: nothing that reasons about bounds wraps.
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

struct Case {
  const char* what;
  const char* body; ///< of a function of %x: f32[N], %m: f32[N, M], %e: f32[K, 0], %n: i64
  bool proved;      ///< all of its checks
};

/// A loop over an axis whose body is `body`, with the index %i.
std::string sweep(const std::string& extent, const std::string& body) {
  return "  %s = nest (%i: " + extent + ") -> keep[] sum {\n" + body + "    yield %i\n  } : i64\n";
}

void expectProved(const Case& c) {
  PassText m("fn f [N, M, K] (%x: f32[N], %m: f32[N, M], %e: f32[K, 0], %n: i64) -> (i64) keep {\n" +
             std::string("  %zero = const 0 : i64\n  %one = const 1 : i64\n") + c.body + "  yield %n\n}\n");
  m.apply(simplify);
  EXPECT_EQ(m.count("check "), c.proved ? 0u : 1u) << c.what << "\n" << m.text();
}

const std::string strideNearly63Bits =
    "    %k = const 6148914691236517206 : i64\n    %j = mul %i, %k : i64\n";

TEST(ProvedChecks, AnAxisThatABranchComparesWithAnother) {
  const std::string body = sweep("N, %c: M", "    %l = cmp le %i, %c : bool\n    %j = if %l {\n"
                                             "      check index \"\" %i dims [N]\n      yield %one\n    } {\n"
                                             "      yield %zero\n    } : i64\n");
  expectProved({"of either length", body.c_str(), true});
}

TEST(ProvedChecks, AnIndexOfALoopOverAList) {
  auto text = [](const std::string& extent, const std::string& index) {
    return "  %l = list %n, %one : List[i64]\n  %len = length %l : i64\n  bind_dim %len defines [L]\n"
           "  %size = dim_value dims [L] : i64\n" +
           sweep("L", "    %next = add %i, %one : i64\n    check list_index \"\" %" + index + ", %" + extent +
                          "\n");
  };
  expectProved({"below the size", text("size", "i").c_str(), true});
  expectProved({"one more", text("size", "next").c_str(), false});
  expectProved({"another size", text("n", "i").c_str(), false});
  const std::string loop = "  %l = list %n, %one : List[i64]\n  %len = length %l : i64\n"
                           "  %s = for collects 0 %len, %zero { (%i: i64, %c: i64)\n"
                           "    %next = add %i, %one : i64\n    check list_index \"\" ";
  const std::string end = "    %d = add %c, %i : i64\n    yield %d\n  } : i64\n";
  expectProved({"of a loop", (loop + "%i, %len\n" + end).c_str(), true});
  expectProved({"of a loop, one more", (loop + "%next, %len\n" + end).c_str(), false});
  expectProved({"of a loop of another count", (loop + "%i, %n\n" + end).c_str(), false});
}

TEST(ProvedChecks, RangesOfAnAxisAround) {
  for (auto [what, range, index, proved] :
       std::initializer_list<std::tuple<const char*, const char*, const char*, bool>>{
           {"up to the lesser of two", "min(i, j) + 1", "      %q = add %k, %zero : i64\n", true},
           {"up to the greater of two", "max(i, j) + 1", "      %q = add %k, %zero : i64\n", true},
           {"one more", "min(i, j) + 2", "      %q = add %k, %zero : i64\n", false},
           {"from an axis on", "N - i", "      %q = add %k, %i : i64\n", true},
           {"from another one on", "N - i", "      %q = add %k, %j : i64\n", false}}) {
    const std::string body = "  %s = nest (%i: N, %j: N) -> keep[] sum {\n    bind_dim %i defines [i]\n"
                             "    bind_dim %j defines [j]\n    %t = nest (%k: " +
                             std::string(range) + ") -> keep[] sum {\n" + index +
                             "      check index \"\" %q dims [N]\n      yield %q\n    } : i64\n"
                             "    yield %t\n  } : i64\n";
    expectProved({what, body.c_str(), proved});
  }
}

TEST(ProvedChecks, IndicesOfSweeps) {
  for (auto [what, extent, index, axis, proved] :
       std::initializer_list<std::tuple<const char*, const char*, std::string, const char*, bool>>{
           {"an axis", "N", "    %j = add %i, %zero : i64\n", "N", true},
           {"a neighbour", "N - 1", "    %j = add %i, %one : i64\n", "N", true},
           {"one too far", "N", "    %j = add %i, %one : i64\n", "N", false},
           {"a stride that wraps into the axis at its end", "4", strideNearly63Bits, "4", false},
           {"a stride of literals within", "4", "    %k = const 3 : i64\n    %j = mul %i, %k : i64\n", "10",
            true},
           {"a negative stride", "4",
            "    %k = const -1 : i64\n    %a = mul %i, %k : i64\n    %c = const 3 : i64\n"
            "    %j = add %a, %c : i64\n",
            "4", true},
           {"the least stride", "2", "    %k = const -9223372036854775808 : i64\n    %j = mul %i, %k : i64\n",
            "2", false},
           {"a row-major position", "N, %c: M",
            "    %w = dim_value dims [M] : i64\n    %a = mul %i, %w : i64\n"
            "    %j = add %a, %c : i64\n",
            "N*M", true},
           {"the beginning of a row, of which there may be none", "N",
            "    %w = dim_value dims [M] : i64\n    %j = mul %i, %w : i64\n", "N*M", false},
           {"another axis", "M", "    %j = add %i, %zero : i64\n", "N", false},
           {"half of a position", "2*N", "    %k = const 2 : i64\n    %j = idiv %i, %k : i64\n", "N", true},
           {"a remainder", "K", "    %k = const 5 : i64\n    %j = irem %n, %k : i64\n", "5", true},
           {"a number that is clamped", "N",
            "    %w = dim_value dims [N] : i64\n    %l = sub %w, %one : i64\n"
            "    %a = min %n, %l : i64\n    %j = max %a, %zero : i64\n",
            "N", true}}) {
    std::string body = sweep(extent, index + "    check index \"\" %j dims [" + axis + "]\n");
    expectProved({what, body.c_str(), proved});
  }
}

TEST(ProvedChecks, Sizes) {
  for (const Case& c : std::initializer_list<Case>{
           {"an axis of an argument", "  check dim_fits \"\" dims [N]\n", true},
           {"not beyond it", "  check dim_fits \"\" dims [N + 1]\n", false},
           {"a part of one", "  check dim_fits \"\" dims [N / 2]\n", true},
           {"axes of one array", "  check array_fits \"\" dims [N, M]\n", true},
           {"the product of axes of one array", "  check dim_fits \"\" dims [N*M]\n", true},
           {"axes of two arrays", "  check array_fits \"\" dims [N, K]\n", false},
           {"axes of an array and a literal", "  check array_fits \"\" dims [N, M, 2]\n", false},
           {"points of axes of two arrays", "  check points_fit \"\" dims [N, K]\n", false},
           {"a difference may be negative", "  check dim_non_negative \"\" dims [N - M]\n", false},
           {"a sum is not", "  check dim_non_negative \"\" dims [N + M]\n", true},
           {"a product of three may leave 64 bits", "  check dim_non_negative \"\" dims [N*M*K]\n", false}})
    expectProved(c);
}

TEST(ProvedChecks, Divisors) {
  const std::string minusOne = "  %k = const -1 : i64\n", overflow = "  check divide_overflow \"\" ";
  const std::string size = "  %w = dim_value dims [N] : i64\n", divisor = "  check divisor \"\" %k\n";
  for (auto [what, body, proved] : std::initializer_list<std::tuple<const char*, std::string, bool>>{
           {"a literal", "  %k = const 3 : i64\n" + divisor, true},
           {"a negative literal", minusOne + divisor, true},
           {"zero", "  check divisor \"\" %zero\n", false},
           {"a literal beyond i64", "  %k = const 18446744073709551615 : u64\n" + divisor, true},
           {"a narrow literal", "  %k = const -1 : i8\n" + divisor, true},
           {"a number", "  check divisor \"\" %n\n", false},
           {"a size, which may be 0", size + "  check divisor \"\" %w\n", false},
           {"any number by 3", "  %k = const 3 : i64\n" + overflow + "%n, %k\n", true},
           {"any number by -1", minusOne + overflow + "%n, %k\n", false},
           {"a size by any number", size + overflow + "%w, %n\n", true},
           {"the least literal by -1",
            minusOne + "  %a = const -9223372036854775808 : i64\n" + overflow + "%a, %k\n", false},
           {"a narrow literal by -1",
            "  %k = const -1 : i8\n  %a = const -127 : i8\n" + overflow + "%a, %k\n", true},
           {"the least narrow literal by -1",
            "  %k = const -1 : i8\n  %a = const -128 : i8\n" + overflow + "%a, %k\n", false}})
    expectProved({what, body.c_str(), proved});
}

/// `check index %v` in the first arm of a branch with this condition, or the other one.
std::string under(const std::string& condition, bool holds, const std::string& axis = "N") {
  const std::string check = "    check index \"\" %v dims [" + axis + "]\n", fine = "    yield %zero\n";
  return "  %w = dim_value dims [N] : i64\n" + condition + "  %r = if %c {\n" + (holds ? check : "") + fine +
         "  } {\n" + (holds ? "" : check) + fine + "  } : i64\n";
}

TEST(ProvedChecks, WhatAConditionSays) {
  const std::string value = "  %v = add %n, %zero : i64\n", low = "  %a = cmp ge %v, %zero : bool\n",
                    high = "  %b = cmp lt %v, %w : bool\n";
  const std::string inside = value + low + high + "  %c = and %a, %b : bool\n";
  const std::string outside =
      value + "  %a = cmp lt %v, %zero : bool\n  %b = cmp le %w, %v : bool\n" + "  %c = or %a, %b : bool\n";
  const std::string empty = "  %v = mul %zero, %n : i64\n  %c = cmp eq %w, %zero : bool\n";
  for (auto [what, body, proved] : std::initializer_list<std::tuple<const char*, std::string, bool>>{
           {"both ends", under(inside, true), true},
           {"not where it does not hold", under(inside, false), false},
           {"not of another axis", under(inside, true, "M"), false},
           {"neither below nor above", under(outside, false), true},
           {"below or above", under(outside, true), false},
           {"one end", under(value + low + "  %c = not %a : bool\n", false), false},
           {"what is not there has no element", under(empty, false), true},
           {"what is empty has none", under(empty, true), false},
           {"a size and a number", under(value + low + "  %c = cmp gt %w, %n : bool\n", true), false}})
    expectProved({what, body.c_str(), proved});
}

TEST(ProvedChecks, EitherOfTwo) {
  auto either = [](const std::string& no) {
    return sweep("N - 1", "    %p = cmp lt %i, %n : bool\n    %j = if %p {\n      yield %i\n    } {\n" + no +
                              "      yield %k\n    } : i64\n    check index \"\" %j dims [N]\n");
  };
  const std::string next = either("      %k = add %i, %one : i64\n"),
                    before = either("      %k = sub %i, %one : i64\n");
  const std::string clamped = sweep("N", "    %j = sub %i, %n : i64\n    %p = cmp lt %j, %zero : bool\n"
                                         "    %q = select %p, %i, %zero : i64\n"
                                         "    check index \"\" %q dims [N]\n");
  expectProved({"one or the next", next.c_str(), true});
  expectProved({"one or that before", before.c_str(), false});
  expectProved({"a choice of two", clamped.c_str(), true});
}

TEST(ProvedChecks, WhatArraysHold) {
  auto read = [](const std::string& array) {
    return array + sweep("K", "    %v = get %a[%i] : i64\n    check index \"\" %v dims [N]\n");
  };
  const std::string places = read("  %a = nest (%j: K) -> collect[j] {\n    %w = dim_value dims [N] : i64\n"
                                  "    %l = max %w, %one : i64\n    %q = irem %j, %l : i64\n"
                                  "    yield %q\n  } : i64[K]\n");
  expectProved({"a remainder by a size, or by one", places.c_str(), false});
  const std::string order = "  %a = argsort ascending %x : i64[N]\n" +
                            sweep("N", "    %v = get %a[%i] : i64\n    check index \"\" %v dims [N]\n");
  expectProved({"an order of places", order.c_str(), true});
  const std::string best = "  %b = nest (%j: N) -> keep[] argmax {\n    %h = get %x[%j] : f32\n"
                           "    yield %h\n  } : i64\n  check index \"\" %b dims [N]\n";
  expectProved({"the place of the best", best.c_str(), true});
}

TEST(ProvedChecks, AnOffsetStaysBelowTheEndOfItsLoop) {
  auto loop = [](const std::string& index) {
    return sweep("N", "    %w = dim_value dims [N] : i64\n    %f = add %i, %one : i64\n"
                      "    %d = sub %w, %f : i64\n    %t = max %d, %zero : i64\n"
                      "    for collects 0 %t { (%k: i64)\n" +
                          index + "      check index \"\" %j dims [N]\n      yield\n    }\n");
  };
  const std::string offset = loop("      %j = add %f, %k : i64\n"),
                    beyond = loop("      %g = add %f, %k : i64\n      %j = add %g, %one : i64\n");
  expectProved({"from + index", offset.c_str(), true});
  expectProved({"one more", beyond.c_str(), false});
}

TEST(ProvedChecks, ABoundHoldsBehindItsCheckOnly) {
  const char* before = "  check index \"\" %zero dims [N]\n";
  expectProved({"nothing says that there is one", before, false});
  PassText m(R"(fn f [N] (%x: f32[N], %p: bool) -> (i64) keep {
  %zero = const 0 : i64
  %r = if %p {
    check not_empty "max" dims [N]
    check index "" %zero dims [N]
    yield %zero
  } {
    check index "" %zero dims [N]
    yield %zero
  } : i64
  yield %r
}
)");
  m.apply(simplify);
  EXPECT_EQ(m.count("check index"), 1u) << m.text();
  EXPECT_EQ(m.count("check not_empty"), 1u) << m.text();
}

TEST(ProvedChecks, AnIndexThatWasThereTellsTheExtent) {
  const std::string first = "  check index \"\" %zero dims [N]\n",
                    second = "  check index \"\" %one dims [N]\n", any = "  check index \"\" %n dims [N]\n",
                    some = "  check not_empty \"\" dims [N]\n";
  for (const auto& [what, body, left] : std::initializer_list<std::tuple<const char*, std::string, size_t>>{
           {"the second is there, so the first", second + first, 1},
           {"the first is there, the second may not", first + second, 2},
           {"any is there, so the first", any + first, 1},
           {"any is there, so there are some", any + some, 1}}) {
    PassText m("fn f [N] (%x: f32[N], %n: i64) -> (i64) keep {\n  %zero = const 0 : i64\n"
               "  %one = const 1 : i64\n" +
               body + "  yield %n\n}\n");
    m.apply(simplify);
    EXPECT_EQ(m.count("check "), left) << what << "\n" << m.text();
  }
}

TEST(ProvedChecks, CarriesOfLoopsBelowALimit) {
  PassText m(R"(fn f [N] (%x: f32[N], %n: i64) -> (i64) keep {
  %zero = const 0 : i64
  %one = const 1 : i64
  %size = dim_value dims [N] : i64
  %last = while %zero { (%i: i64)
    %more = cmp lt %i, %size : bool
    yield %more
  } { (%j: i64)
    check index "" %j dims [N]
    %next = add %j, %one : i64
    check index "behind" %next dims [N]
    yield %next
  } : i64
  %other = while %n { (%k: i64)
    %again = cmp lt %k, %size : bool
    yield %again
  } { (%l: i64)
    check index "from anywhere" %l dims [N]
    %after = add %l, %one : i64
    yield %after
  } : i64
  %r = add %last, %other : i64
  yield %r
}
)");
  m.apply(simplify);
  EXPECT_EQ(m.count("check index \"\""), 0u) << m.text();
  EXPECT_EQ(m.count("check index"), 2u) << m.text();
}

TEST(ProvedChecks, ANumberThatWrapsIsNoDimension) {
  PassText m(R"(fn f [N, M, K] (%x: f32[N, 0], %y: f32[M, 0], %z: f32[K, 0]) -> (i64) keep {
  %size = dim_value dims [N*M*K] : i64
  bind_dim %size defines [S]
  check dim_fits "" dims [S]
  %n = dim_value dims [S] : i64
  yield %n
}
)");
  m.apply(simplify);
  EXPECT_EQ(m.count("bind_dim"), 1u) << m.text();
}

TEST(ProvedChecks, NumbersHeldWithinAnAxis) {
  const std::string
      within = "  %w = dim_value dims [N] : i64\n  %l = sub %w, %one : i64\n  %a = min %n, %l : i64\n"
               "  %v = max %a, %zero : i64\n",
      some = "  %c = cmp ge %w, %one : bool\n";
  const std::string axis = "    check index \"\" %v dims [N]\n    yield %zero\n", fine = "    yield %zero\n";
  for (auto [what, body, proved] : std::initializer_list<std::tuple<const char*, std::string, bool>>{
           {"where there are elements",
            within + some + "  %r = if %c {\n" + axis + "  } {\n" + fine + "  } : i64\n", true},
           {"where there may be none", within + "  check index \"\" %v dims [N]\n", false},
           {"where there are none",
            within + some + "  %r = if %c {\n" + fine + "  } {\n" + axis + "  } : i64\n", false}})
    expectProved({what, body.c_str(), proved});
}

TEST(ProvedChecks, DifferencesOfWhatIsCompared) {
  for (auto [what, condition, index, axis, proved] :
       std::initializer_list<std::tuple<const char*, const char*, const char*, const char*, bool>>{
           {"of an axis up to another one", "le %j, %i", "      %k = sub %i, %j : i64\n", "N", true},
           {"the other way round", "le %i, %j", "      %k = sub %i, %j : i64\n", "N", false},
           {"one less", "le %j, %i", "      %d = sub %i, %j : i64\n      %k = sub %d, %one : i64\n", "N",
            false},
           {"one less of what is less", "lt %j, %i",
            "      %d = sub %i, %j : i64\n      %k = sub %d, %one : i64\n", "N", true},
           {"one more of what is less", "lt %i, %j",
            "      %d = sub %j, %i : i64\n      %k = add %d, %one : i64\n", "N", false},
           {"of a shorter axis", "le %j, %i", "      %k = sub %i, %j : i64\n", "M", false},
           {"of sums", "le %j, %u", "      %d = sub %i, %j : i64\n      %k = add %d, %one : i64\n", "N + 1",
            true},
           {"with a number that may be any", "le %j, %n", "      %k = sub %n, %j : i64\n", "N", false}}) {
    const std::string body =
        sweep("N, %j: N", "    %u = add %i, %one : i64\n    %l = cmp " + std::string(condition) +
                              " : bool\n    %y = if %l {\n" + index + "      check index \"\" %k dims [" +
                              axis + "]\n      yield %k\n    } {\n      yield %zero\n    } : i64\n");
    expectProved({what, body.c_str(), proved});
  }
}

/// Of a full convolution by a range, from the greater of two to the lesser of two.
TEST(ProvedChecks, DifferencesWithinARange) {
  for (auto [what, from, index, proved] :
       std::initializer_list<std::tuple<const char*, const char*, const char*, bool>>{
           {"where the filter has elements", "max %zero, %first", "sub %k, %i", true},
           {"from one too early", "max %zero, %early", "sub %k, %i", false},
           {"where there is an element", "max %zero, %first", "add %i, %zero", true},
           {"one further", "max %zero, %first", "add %i, %one", false}}) {
    const bool isFilter = std::string(index).starts_with("sub");
    const std::string body =
        "  %t = nest (%k: N + M - 1) -> keep[] sum {\n    %size = dim_value dims [M] : i64\n"
        "    %end = dim_value dims [N] : i64\n    %d = sub %k, %size : i64\n"
        "    %first = add %d, %one : i64\n    %early = add %d, %zero : i64\n    %low = " +
        std::string(from) +
        " : i64\n    bind_dim %low defines [low]\n    %next = add %k, %one : i64\n"
        "    %high = min %end, %next : i64\n    bind_dim %high defines [high]\n"
        "    %s = nest (%a: high - low) -> keep[] sum {\n      %b = dim_value dims [low] : i64\n"
        "      %i = add %a, %b : i64\n      %at = " +
        index + " : i64\n      check index \"\" %at dims [" + (isFilter ? "M" : "N") +
        "]\n      yield %at\n    } : i64\n    yield %s\n  } : i64\n";
    expectProved({what, body.c_str(), proved});
  }
}

TEST(ProvedChecks, WhatAnAssertionLeaves) {
  const std::string size = "  %w = dim_value dims [N] : i64\n  %c = cmp ge %w, %one : bool\n";
  const std::string stop = "    %t = const \"no\" : str\n    panic %t\n    yield\n", go = "    yield\n";
  for (auto [what, body, proved] : std::initializer_list<std::tuple<const char*, std::string, bool>>{
           {"behind it",
            size + "  if %c {\n" + go + "  } {\n" + stop + "  }\n  check index \"\" %zero dims [N]\n", true},
           {"behind its contrary",
            size + "  if %c {\n" + stop + "  } {\n" + go + "  }\n  check index \"\" %zero dims [N]\n", false},
           {"in front of it",
            size + "  check index \"\" %zero dims [N]\n  if %c {\n" + go + "  } {\n" + stop + "  }\n", false},
           {"behind a branch that may go on",
            size + "  if %c {\n" + go + "  } {\n" + go + "  }\n  check index \"\" %zero dims [N]\n", false}})
    expectProved({what, body.c_str(), proved});
}

} // namespace
} // namespace melix::transforms
