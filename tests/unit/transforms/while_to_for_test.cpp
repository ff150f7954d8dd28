// A while that counts to a number that is known before it.
#include "transforms/counted_loops/while_to_for.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// Sums the numbers that it counts.
std::string loop(const std::string& compare, const std::string& next, const std::string& begin = "%a") {
  return "fn f (%a: i64, %n: i64) -> (i64, i64) {\n  %z = const 0 : i64\n  %one = const 1 : i64\n"
         "  %three = const 3 : i64\n  %two = const 2 : i64\n"
         "  %s, %t = while %z, " +
         begin + " { (%s0: i64, %t0: i64)\n    %c = cmp " + compare +
         " : bool\n    yield %c\n  } { (%s1: i64, %t1: i64)\n    %s2 = add %s1, %t1 : i64\n    %t2 = " +
         next + " : i64\n    yield %s2, %t2\n  } : i64, i64\n  yield %s, %t\n}\n";
}
bool becomesFor(const std::string& text) {
  bool is = true;
  for (int64_t a : {-4, 0, 1, 5, 9})
    for (int64_t n : {-7, 0, 1, 6, 11}) {
      PassText m(text);
      m.apply(whileToFor, {Value::integer(a), Value::integer(n)});
      is = is && m.count("while") == 0 && m.count("for collects") == 1;
    }
  return is;
}

TEST(WhileToFor, CountsUpAndDown) {
  EXPECT_TRUE(becomesFor(loop("lt %t0, %n", "add %t1, %one")));
  EXPECT_TRUE(becomesFor(loop("lt %t0, %n", "add %t1, %one", "%z")));
  EXPECT_TRUE(becomesFor(loop("gt %t0, %n", "sub %t1, %one")));
  EXPECT_TRUE(becomesFor(loop("gt %n, %t0", "add %t1, %one"))) << "the number stands behind";
  EXPECT_TRUE(becomesFor(loop("lt %t0, %three", "add %two, %t1")));
  EXPECT_TRUE(becomesFor(loop("le %t0, %three", "add %t1, %three")));
  EXPECT_TRUE(becomesFor(loop("ge %t0, %two", "sub %t1, %two")));
  EXPECT_TRUE(becomesFor(loop("le %t0, %two", "add %t1, %one")));
}

TEST(WhileToFor, TheGreatestNumbersDoNotWrap) {
  for (int64_t a : {INT64_MAX - 2, INT64_MAX}) {
    PassText m(loop("lt %t0, %n", "add %t1, %one"));
    m.apply(whileToFor, {Value::integer(a), Value::integer(INT64_MAX)});
    PassText none(loop("lt %t0, %n", "add %t1, %one"));
    none.apply(whileToFor, {Value::integer(a), Value::integer(INT64_MIN)});
  }
}

TEST(WhileToFor, NotAwayFromTheEndOrByAnotherNumber) {
  auto stays = [](const std::string& text) {
    PassText m(text);
    m.apply(whileToFor);
    return m.count("while") == 1;
  };
  EXPECT_TRUE(stays(loop("lt %t0, %n", "sub %t1, %one")));
  EXPECT_TRUE(stays(loop("gt %t0, %n", "add %t1, %one")));
  EXPECT_TRUE(stays(loop("ne %t0, %n", "add %t1, %one")));
  EXPECT_TRUE(stays(loop("lt %t0, %n", "add %t1, %two"))) << "it may pass the greatest number";
  EXPECT_TRUE(stays(loop("le %t0, %n", "add %t1, %one"))) << "it may not end";
  EXPECT_TRUE(stays(loop("lt %t0, %n", "add %t1, %n")));
  EXPECT_TRUE(stays(loop("lt %t0, %s0", "add %t1, %one"))) << "the end is carried";
  std::string wide = loop("lt %t0, %three", "add %t1, %two");
  wide.replace(wide.find("const 2 "), 8, "const 1048576 ");
  EXPECT_TRUE(stays(wide)) << "the way may be 2^63 and more";
}

} // namespace
} // namespace melix::transforms
