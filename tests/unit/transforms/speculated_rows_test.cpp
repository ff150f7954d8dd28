// Rows whose checks depend on products: a copy of the nest, batched, gives whether they hold.
#include "transforms/batch/batch_rows.h"
#include "transforms/batch/checks_to_values.h"
#include "transforms/row_text.h"

namespace melix::transforms {
namespace {

using namespace row_text;

/// A check of an index made of an element of a row and the count: in range for counts from 3 to 12.
std::string checked(const std::string& row, const std::string& n, const std::string& count = "%count") {
  return "%cz" + n + " = const 0 : i64\n%cv" + n + " = get " + row + "[%cz" + n + "] : f32\n%ci" + n +
         " = convert saturate %cv" + n + " : i64\n%cx" + n + " = add %ci" + n + ", " + count +
         " : i64\ncheck index \"\" %cx" + n + " dims [D]\n";
}

/// The nest is batched, and gives the same, or panics with the same words.
void expectBatched(const std::string& text, const std::string& sign) {
  for (const std::vector<int64_t>& counts : {std::vector<int64_t>{3, 7, 5, 4, 12, 5, 3},
                                             {3, 7, 25, 4, -9, 5, 3},
                                             {30, 7, 25, 4, 9, 5, 3},
                                             {3, 7, 5, 4, 12, 5, -40}}) {
    PassText m(text);
    m.apply(batchRows, arguments(counts));
    EXPECT_GE(m.count("holds index"), 1u) << m.text();
    EXPECT_GE(m.count(sign), 1u) << m.text();
  }
}

TEST(SpeculatedRows, ProductsAfterAChecks) {
  expectBatched(collected(step("%g", "%row", "1") + checked("%g", "1") + step("%y", "%g", "2")),
                "keep[] and");
}

TEST(SpeculatedRows, AnArmAfterACheck) {
  expectBatched(collected(step("%g", "%row", "1") + checked("%g", "1") +
                          "%f5 = const 5 : i64\n%c = cmp gt %count, %f5 : bool\n%y = if %c {\n" +
                          step("%r", "%g", "2") + "yield %r\n} {\nyield %row\n} : f32[D]\n"),
                "filter defines");
}

TEST(SpeculatedRows, AnArmWithACheck) {
  expectBatched(collected("%f4 = const 4 : i64\n%c = cmp gt %count, %f4 : bool\n%y = if %c {\n" +
                          step("%r", "%row", "2") + checked("%r", "1") +
                          "yield %r\n} {\nyield %row\n} : f32[D]\n"),
                "filter defines");
}

TEST(SpeculatedRows, ALoopWithAnOwnTripCount) {
  expectBatched(collected("%y = for collects 0 %count, %row { (%t: i64, %h: f32[D])\n" +
                          step("%g", "%h", "1") + checked("%g", "1") + "yield %g\n} : f32[D]\n"),
                "argsort");
}

/// The check needs nothing that the loop carries, but a product: rows do not run that one by one first.
TEST(SpeculatedRows, ALoopWhoseCheckNeedsAProductOfTheRow) {
  expectBatched(collected("%y = for collects 0 %count, %row { (%t: i64, %h: f32[D])\n" +
                          step("%g", "%row", "1") + checked("%g", "1") + "yield %g\n} : f32[D]\n"),
                "argsort");
}

TEST(SpeculatedRows, AWhile) {
  const std::string body = step("%g", "%h1", "1") + checked("%g", "1") +
                           "%one = const 1 : i64\n%two = const 2 : i64\n%fz = const 0.0 : f32\n"
                           "%c = cmp gt %cv1, %fz : bool\n%by = select %c, %one, %two : i64\n"
                           "%i2 = add %i1, %by : i64\nyield %g, %i2\n";
  expectBatched(
      collected("%nought = const 0 : i64\n%y, %turns = while %row, %nought { (%h: f32[D], %i: i64)\n"
                "%go = cmp lt %i, %count : bool\nyield %go\n} { (%h1: f32[D], %i1: i64)\n" +
                body + "} : f32[D], i64\n"),
      "filter defines");
}

TEST(SpeculatedRows, AConditionOfAWhile) {
  const std::string condition = checked("%h", "1") + "%go = cmp lt %i, %count : bool\nyield %go\n";
  const std::string body =
      step("%g", "%h1", "1") + "%one = const 1 : i64\n%i2 = add %i1, %one : i64\nyield %g, %i2\n";
  expectBatched(
      collected("%nought = const 0 : i64\n%y, %turns = while %row, %nought { (%h: f32[D], %i: i64)\n" +
                condition + "} { (%h1: f32[D], %i1: i64)\n" + body + "} : f32[D], i64\n"),
      "filter defines");
}

TEST(SpeculatedRows, ACall) {
  const std::string callee = "fn g [D] (%x: f32[D], %n: i64, %w: f32[D, D]) -> (f32[D]) {\n" +
                             step("%h", "%x", "1") + checked("%h", "1", "%n") + step("%r", "%h", "2") +
                             "yield %r\n}\n";
  expectBatched(collected("%y = call @g %row, %count, %w dims [D] : f32[D]\n") + callee, "call @g$1");
}

/// Two calls between which something may fail are not one call.
TEST(SpeculatedRows, CallsAroundACheck) {
  const std::string callee = "fn g [D] (%x: f32[D], %n: i64, %w: f32[D, D]) -> (f32[D]) {\n" +
                             step("%h", "%x", "1") + checked("%h", "1", "%n") + "yield %h\n}\n";
  const std::string body = "%a = call @g %row, %count, %w dims [D] : f32[D]\n" + checked("%a", "3") +
                           "%e = get %row[%cx3] : f32\n%ec = convert saturate %e : i64\n"
                           "%m = add %count, %ec : i64\n"
                           "%y = call @g %row, %m, %w dims [D] : f32[D]\n";
  expectBatched(collected(body) + callee, "call @g$1");
}

TEST(SpeculatedRows, Recursion) {
  const std::string callee =
      "fn g [D] (%x: f32[D], %n: i64, %w: f32[D, D]) -> (f32[D]) {\n%one = const 1 : i64\n"
      "%c = cmp lt %n, %one : bool\n%r = if %c {\nyield %x\n} {\n%less = sub %n, %one : i64\n" +
      step("%h", "%x", "2") + checked("%h", "1", "%n") +
      "%a = call @g %h, %less, %w dims [D] : f32[D]\nyield %a\n} : f32[D]\nyield %r\n}\n";
  expectBatched(collected("%f5 = const 5 : i64\n%start = add %count, %f5 : i64\n"
                          "%y = call @g %row, %start, %w dims [D] : f32[D]\n") +
                    callee,
                "call @g$1");
}

TEST(SpeculatedRows, APanic) {
  const std::string text =
      collected(step("%g", "%row", "1") +
                "%z = const 0 : i64\n%neg = cmp lt %count, %z : bool\n%h = if %neg {\n"
                "%words = const \"below\" : str\npanic %words\nyield %row\n} {\nyield %g\n} : f32[D]\n" +
                "%f5 = const 5 : i64\n%c = cmp gt %count, %f5 : bool\n%y = if %c {\n" +
                step("%r", "%h", "2") + "yield %r\n} {\nyield %h\n} : f32[D]\n");
  for (const std::vector<int64_t>& counts :
       {std::vector<int64_t>{3, 7, 5, 4, 12, 5, 3}, {3, 7, 25, 4, -9, 5, 3}}) {
    PassText m(text);
    m.apply(batchRows, arguments(counts));
    EXPECT_GE(m.count("filter defines"), 1u) << m.text();
  }
}

/// Output keeps its order: the nest stays.
TEST(SpeculatedRows, NotWhatIsPrinted) {
  PassText m(collected(step("%g", "%row", "1") + checked("%g", "1") + "%d = debug %cv1 : f32\n" +
                       step("%y", "%g", "2")));
  m.apply(batchRows, arguments({3, 7, 5, 4, 12, 5, 3}));
  EXPECT_EQ(m.count("holds"), 0u) << m.text();
}

// --- a function alone

/// `f` and its form that gives whether checks hold agree.
void expectSame(const std::string& text, std::vector<std::vector<int64_t>> arguments) {
  for (const std::vector<int64_t>& numbers : arguments) {
    std::vector<interp::Value> args;
    for (int64_t n : numbers) args.push_back(interp::Value::integer(n));
    PassText m(text);
    m.expectVerified();
    const interp::RunResult before = m.run(args);
    checksToValues(m.module, {core::findFunction(m.module, "f")});
    m.expectVerified();
    const interp::RunResult after = m.run(args);
    ASSERT_FALSE(after.panicked) << after.panic.message << m.text();
    EXPECT_EQ(interp::sameBits(after.values.back(), interp::Value::boolean(true)), !before.panicked)
        << m.text();
    if (before.panicked) continue;
    ASSERT_EQ(after.values.size(), before.values.size() + 1);
    for (size_t k = 0; k < before.values.size(); ++k)
      EXPECT_TRUE(interp::sameBits(before.values[k], after.values[k])) << m.text();
  }
}

TEST(ChecksToValues, LinesOneAfterAnother) {
  expectSame("fn f (%a: i64, %b: i64) -> (i64) {\ncheck divisor \"\" %b\n%q = idiv %a, %b : i64\n"
             "check divisor \"\" %q\n%r = irem %a, %q : i64\nyield %r\n}\n",
             {{7, 2}, {7, 0}, {1, 2}});
}

TEST(ChecksToValues, ALoopThatStacks) {
  expectSame(
      "fn f (%a: i64, %b: i64) -> (i64, i64) {\n%z = const 0 : i64\n"
      "%s, %all = for collects 1 %a, %z defines [N] { (%t: i64, %c: i64)\n%d = sub %b, %t : i64\n"
      "check divisor \"\" %d\n%q = idiv %a, %d : i64\n%n = add %c, %q : i64\nyield %n, %q\n} : i64, i64[N]\n"
      "%m = nest (%k: N) -> keep[] sum {\n%v = get %all[%k] : i64\nyield %v\n} : i64\nyield %s, %m\n}\n",
      {{4, 9}, {4, 2}, {0, 0}, {5, 4}, {5, 5}});
}

TEST(ChecksToValues, AWhileAndItsCondition) {
  expectSame(
      "fn f (%a: i64, %b: i64) -> (i64) {\n%r = while %a { (%c: i64)\ncheck divisor \"\" %c\n"
      "%q = idiv %b, %c : i64\n%go = cmp lt %q, %b : bool\nyield %go\n} { (%d: i64)\n%t = const 3 : i64\n"
      "%e = sub %d, %t : i64\n%s = const 6 : i64\n%is = cmp ne %e, %s : bool\ncheck assert \"no\" %is\n"
      "yield %e\n} : i64\nyield %r\n}\n",
      {{10, 20}, {9, 20}, {6, 20}, {1, 5}, {0, 5}});
}

TEST(ChecksToValues, ANestOfPoints) {
  expectSame(
      "fn f (%a: i64, %b: i64) -> (i64) {\nbind_dim %a defines [N]\n"
      "%x, %s = nest (%i: N) -> collect[i], keep[] sum {\n%d = sub %b, %i : i64\ncheck divisor \"\" %d\n"
      "%q = idiv %a, %d : i64\nyield %q, %d\n} : i64[N], i64\n"
      "%m = nest (%k: N) -> keep[] sum {\n%v = get %x[%k] : i64\nyield %v\n} : i64\n"
      "%r = add %m, %s : i64\nyield %r\n}\n",
      {{4, 9}, {4, 2}, {0, 0}, {4, 4}});
}

TEST(ChecksToValues, ArmsAndCalls) {
  expectSame("fn f (%a: i64, %b: i64) -> (i64) {\n%c = cmp lt %a, %b : bool\n%r = if %c {\n"
             "%p = call @g %a : i64\n%q = call @g %p : i64\nyield %q\n} {\n%w = const \"no\" : str\n"
             "%e = cmp eq %a, %b : bool\n%u = if %e {\npanic %w\nyield %a\n} {\nyield %b\n} : i64\nyield "
             "%u\n} : i64\n"
             "yield %r\n}\n"
             "fn g (%n: i64) -> (i64) {\ncheck divisor \"\" %n\n%h = const 60 : i64\n%q = idiv %h, %n : i64\n"
             "%one = const 1 : i64\n%m = sub %q, %one : i64\nyield %m\n}\n",
             {{7, 20}, {0, 20}, {60, 90}, {5, 5}, {6, 5}});
}

/// A sum that a row adds to stays as it was where a check fails.
TEST(ChecksToValues, Accumulators) {
  expectSame("fn f (%a: i64, %b: i64) -> (i64) {\nbind_dim %a defines [N]\n%z = zero : i64[N]\n"
             "%s = nest (%i: N) -> accs (%acc = %z) {\n%t = add_at %acc[%i] += %i : acc i64[N]\n"
             "%d = sub %b, %i : i64\ncheck divisor \"\" %d\n%q = idiv %a, %d : i64\n"
             "%u = add_at %t[%i] += %q : acc i64[N]\nyield %u\n} : i64[N]\n"
             "%m = nest (%k: N) -> keep[] sum {\n%v = get %s[%k] : i64\nyield %v\n} : i64\nyield %m\n}\n",
             {{4, 9}, {4, 2}, {0, 0}});
}

} // namespace
} // namespace melix::transforms
