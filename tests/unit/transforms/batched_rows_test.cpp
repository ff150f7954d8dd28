// Loops whose rows have their own trip counts, rows of a while, calls.
#include "transforms/batch/batch_rows.h"
#include "transforms/row_text.h"

namespace melix::transforms {
namespace {

using namespace row_text;

TEST(BatchedRows, OwnTripCountsRunInFallingOrder) {
  PassText m(collected(counted()));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("argsort"), 1u) << m.text();
  PassText none(collected(counted()));
  none.apply(batchRows, arguments({0, -1, 0, 0, 0, 0, 0}));
}

/// A row reads what it has stacked, from its end.
TEST(BatchedRows, StackedRowsAreReadBack) {
  PassText m(collected(
      "%y0, %kept = for collects 1 %count, %row defines [S] { (%t: i64, %h: f32[D])\n" +
      step("%g", "%h", "1") +
      "yield %g, %h\n} : f32[D], f32[S, D]\n"
      "%y = for collects 0 %count, %y0 { (%i: i64, %c: f32[D])\n%one = const 1 : i64\n"
      "%last = sub %count, %one : i64\n%at = sub %last, %i : i64\n%was = get %kept[%at] : f32[D]\n" +
      step("%back", "%c", "2") +
      "%d = nest (%z: D) -> collect[z] {\n%r = get %was[%z] : f32\n%s = get %back[%z] : f32\n"
      "%v = sub %r, %s : f32\nyield %v\n} : f32[D]\nyield %d\n} : f32[D]\n"));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("argsort"), 2u) << m.text();
}

/// Terms of the row at hand, or of what a row reads at the iteration.
std::string summed(const std::string& term) {
  return function(
      "f32[D, D]",
      "%zero = zero : f32[D, D]\n%sum = nest (%b: B) -> accs (%acc = %zero) {\n"
      "%row = get %x[%b] : f32[D]\n%count = get %n[%b] : i64\n"
      "%y, %a2 = for collects 0 %count, %row, %acc { (%t: i64, %h: f32[D], %a: acc f32[D, D])\n" +
          step("%g", "%h", "1") +
          "%at = get %row[%t] : f32\n%te = nest (%tz: D) -> collect[tz] {\n%tr = get %g[%tz] : f32\n"
          "%tv = mul %tr, %at : f32\nyield %tv\n} : f32[D]\n" +
          outer("%sum1", "%a", "%h", term) +
          "yield %g, %sum1\n} : f32[D], acc f32[D, D]\nyield %a2\n} : f32[D, D]\nyield %sum\n");
}

TEST(BatchedRows, TermsOfOwnTripCountsAreAddedAfterTheLoop) {
  PassText m(summed("%te"));
  m.apply(batchSums, arguments());
  EXPECT_EQ(m.count("zero : f32[rows, D]"), 2u) << "the rows of both factors are stacked\n" << m.text();
}

/// There is no array of as many elements as iterations: one of all terms would be larger than all else.
TEST(BatchedRows, TermsAreAddedByIterationsWhereNothingIsAsLarge) {
  std::string text = summed("%g");
  text.replace(text.find("%at = get %row[%t] : f32"), 24, "%at = const 1.0 : f32");
  PassText m(text);
  m.apply(batchSums, arguments());
  EXPECT_EQ(m.count("argsort"), 1u) << m.text();
  EXPECT_EQ(m.count("zero : f32[rows, D]"), 0u) << m.text();
}

TEST(BatchedRows, TermsKeepTheirOrderWhereThatCounts) {
  PassText m(summed("%te"));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("argsort"), 0u) << m.text();
}

/// A loop in a loop adds, and gives what the outer one carries.
TEST(BatchedRows, SumsGoAroundWhereResultsDependOnTheAdds) {
  const std::string body =
      "%zero = zero : f32[D, D]\n%sum = nest (%b: B) -> accs (%acc = %zero) {\n"
      "%row = get %x[%b] : f32[D]\n%count = get %n[%b] : i64\n"
      "%y, %a3 = for collects 0 %count, %row, %acc { (%t: i64, %h: f32[D], %a: acc f32[D, D])\n"
      "%h2, %a2 = for collects 0 %count, %h, %a { (%t2: i64, %h1: f32[D], %ai: acc f32[D, D])\n" +
      step("%g", "%h1", "1") + outer("%sum1", "%ai", "%h1", "%g") +
      "yield %g, %sum1\n} : f32[D], acc f32[D, D]\nyield %h2, %a2\n} : f32[D], acc f32[D, D]\n"
      "yield %a3\n} : f32[D, D]\nyield %sum\n";
  PassText m(function("f32[D, D]", body));
  m.apply(batchSums, arguments());
  EXPECT_EQ(m.count("argsort"), 2u) << m.text();
}

std::string whileLoop() {
  return "%nought = const 0 : i64\n%y, %turns = while %row, %nought { (%h: f32[D], %i: i64)\n"
         "%go = cmp lt %i, %count : bool\nyield %go\n} { (%h1: f32[D], %i1: i64)\n" +
         step("%g", "%h1", "1") +
         "%odd = get %g[%at] : f32\n%fz = const 0.0 : f32\n%c = cmp gt %odd, %fz : bool\n%one = const 1 : "
         "i64\n"
         "%two = const 2 : i64\n%by = select %c, %one, %two : i64\n%i2 = add %i1, %by : i64\nyield %g, %i2\n"
         "} : f32[D], i64\n";
}

TEST(BatchedRows, RowsOfAWhileAreCompacted) {
  PassText m(collected("%at = const 3 : i64\n" + whileLoop()));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("filter defines"), 2u) << "those that go on, those that end\n" << m.text();
  PassText none(collected("%at = const 3 : i64\n" + whileLoop()));
  none.apply(batchRows, arguments({0, -1, 0, 0, 0, 0, 0}));
}

const std::string callee =
    "fn g [D] (%x: f32[D], %w: f32[D, D]) -> (f32[D]) {\n" + step("%y", "%x", "1") + "yield %y\n}\n";

TEST(BatchedRows, CallsTakeAllRowsAtOnce) {
  PassText m(collected("%y = call @g %row, %w dims [D] : f32[D]\n") + callee);
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("call @g$1"), 1u) << m.text();
}

/// A matrix that a call gives would be stored for each row.
TEST(BatchedRows, CallsThatGiveMatricesStay) {
  const std::string both = "fn g [D] (%x: f32[D], %w: f32[D, D]) -> (f32[D], f32[D, D]) {\n" +
                           step("%y", "%x", "1") + "yield %y, %w\n}\n";
  PassText m(collected("%y, %m = call @g %row, %w dims [D] : f32[D], f32[D, D]\n") + both);
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("call @g$1"), 0u) << m.text();
}

TEST(BatchedRows, CallsThatDoNotNeedEachOtherAreOne) {
  const std::string three =
      "%a = call @g %row, %w dims [D] : f32[D]\n%c = call @g %a, %w dims [D] : f32[D]\n"
      "%e = nest (%z: D) -> collect[z] {\n%r = get %row[%z] : f32\n%s = neg %r : f32\n"
      "yield %s\n} : f32[D]\n%d = call @g %e, %w dims [D] : f32[D]\n"
      "%y = nest (%z2: D) -> collect[z2] {\n%r2 = get %c[%z2] : f32\n%s2 = get %d[%z2] : f32\n"
      "%v = add %r2, %s2 : f32\nyield %v\n} : f32[D]\n";
  PassText m(collected(three) + callee);
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("call @g$1"), 2u) << "the first and the last are one\n" << m.text();
  EXPECT_EQ(m.count("dims [D, 2*B]"), 1u) << m.text();
}

/// Rows that recurse: a call is one of all rows that get there.
TEST(BatchedRows, RecursionGoesByDepth) {
  const std::string recursive =
      "fn g [D] (%x: f32[D], %n: i64, %w: f32[D, D]) -> (f32[D]) {\n%one = const 1 : i64\n"
      "%c = cmp lt %n, %one : bool\n%r = if %c {\nyield %x\n} {\n%less = sub %n, %one : i64\n" +
      step("%h", "%x", "2") +
      "%a = call @g %h, %less, %w dims [D] : f32[D]\n%b = call @g %x, %less, %w dims [D] : f32[D]\n" +
      step("%y", "%a", "1") +
      "%s = nest (%z: D) -> collect[z] {\n%ra = get %y[%z] : f32\n%rb = get %b[%z] : f32\n%v = sub %ra, %rb "
      ": f32\n"
      "yield %v\n} : f32[D]\nyield %s\n} : f32[D]\nyield %r\n}\n";
  PassText m(collected("%y = call @g %row, %count, %w dims [D] : f32[D]\n") + recursive);
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("call @g$1"), 4u) << "from outside and for both calls, of all rows and of a part\n"
                                      << m.text();
}

/// Rows of different arms recurse in one call.
TEST(BatchedRows, CallsInAllArmsAreOne) {
  const std::string recursive =
      "fn g [D] (%x: f32[D], %n: i64, %w: f32[D, D]) -> (f32[D]) {\n%one = const 1 : i64\n"
      "%two = const 2 : i64\n%c = cmp lt %n, %one : bool\n%r = if %c {\nyield %x\n} {\n"
      "%less = sub %n, %one : i64\n%rest = irem %n, %two : i64\n%odd = cmp eq %rest, %one : bool\n"
      "%q = if %odd {\n" +
      step("%h", "%x", "2") + "%a = call @g %h, %less, %w dims [D] : f32[D]\nyield %a\n} {\n" +
      "%b = call @g %x, %less, %w dims [D] : f32[D]\n" + step("%y", "%b", "1") +
      "yield %y\n} : f32[D]\nyield %q\n} : f32[D]\nyield %r\n}\n";
  PassText m(collected("%y = call @g %row, %count, %w dims [D] : f32[D]\n") + recursive);
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("call @g$1"), 4u) << "from outside and from both arms, of all rows and of a part\n"
                                      << m.text();
}

// --- accumulators

const std::string adding =
    "fn g [D] (%x: f32[D], %n: i64, %w: f32[D, D], %sum: acc f32[D, D]) -> (f32[D], acc f32[D, D]) inout 3=1 "
    "{\n"
    "%one = const 1 : i64\n%c = cmp lt %n, %one : bool\n%r, %se = if %c {\nyield %x, %sum\n} {\n"
    "%less = sub %n, %one : i64\n" +
    step("%h", "%x", "2") + "%a, %sa = call @g %h, %less, %w, %sum dims [D] : f32[D], acc f32[D, D]\n" +
    outer("%so", "%sa", "%x", "%h") +
    "%two = const 2 : i64\n%half = idiv %less, %two : i64\n"
    "%b, %sb = call @g %x, %half, %w, %so dims [D] : f32[D], acc f32[D, D]\n" +
    "%t = nest (%z: D) -> collect[z] {\n%ra = get %a[%z] : f32\n%rb = get %b[%z] : f32\n%dv = sub %ra, %rb "
    ": f32\nyield %dv\n} : f32[D]\nyield %t, %sb\n} : f32[D], acc f32[D, D]\nyield %r, %se\n}\n";

/// Calls that add to one accumulator do not need each other.
TEST(BatchedSums, RecursionThatAdds) {
  const std::string nest = "%zero = zero : f32[D, D]\n"
                           "%all, %grad = nest (%b: B) -> collect[b] accs (%sum = %zero) {\n"
                           "%row = get %x[%b] : f32[D]\n%count = get %n[%b] : i64\n"
                           "%y, %s = call @g %row, %count, %w, %sum dims [D] : f32[D], acc f32[D, D]\n"
                           "yield %y, %s\n} : f32[B, D], f32[D, D]\nyield %all, %grad\n";
  PassText m(function("f32[B, D], f32[D, D]", nest) + adding);
  m.apply(batchSums, arguments());
  EXPECT_EQ(m.count("call @g$1"), 4u) << "of both calls, of all rows and of a part\n" << m.text();
  EXPECT_EQ(m.count("filter defines"), 1u) << m.text();
  PassText none(function("f32[B, D], f32[D, D]", nest) + adding);
  none.apply(batchSums, arguments({0, -1, 0, 0, 0, 0, 0}));
}

TEST(BatchedSums, AddsInAnArm) {
  const std::string body =
      "%zero = zero : f32[D, D]\n%all, %grad = nest (%b: B) -> collect[b] accs (%sum = %zero) {\n"
      "%row = get %x[%b] : f32[D]\n%count = get %n[%b] : i64\n%two = const 2 : i64\n"
      "%c = cmp gt %count, %two : bool\n" +
      outer("%s0", "%sum", "%row", "%row") + "%y, %s1 = if %c {\n" + step("%h", "%row", "1") +
      "%s2 = nest (%u2: D, %v2: D) -> accs (%t2 = %s0) {\n%xu2 = get %h[%u2] : f32\n%yv2 = get %row[%v2] : "
      "f32\n"
      "%xy2 = mul %xu2, %yv2 : f32\n%t3 = add_at %t2[%u2, %v2] += %xy2 : acc f32[D, D]\nyield %t3\n} : acc "
      "f32[D, "
      "D]\n"
      "yield %h, %s2\n} {\nyield %row, %s0\n} : f32[D], acc f32[D, D]\n"
      "yield %y, %s1\n} : f32[B, D], f32[D, D]\nyield %all, %grad\n";
  PassText m(function("f32[B, D], f32[D, D]", body));
  m.apply(batchSums, arguments());
  EXPECT_EQ(m.count("filter defines"), 1u) << m.text();
}

/// More rows than a call of a recursive function takes.
TEST(BatchedRows, RecursionOfManyRowsGoesByParts) {
  const std::string callee =
      "fn g [D] (%x: f32[D], %n: i64, %w: f32[D, D]) -> (f32[D]) {\n%one = const 1 : i64\n"
      "%c = cmp lt %n, %one : bool\n%r = if %c {\nyield %x\n} {\n%less = sub %n, %one : i64\n" +
      step("%h", "%x", "2") +
      "%a = call @g %h, %less, %w dims [D] : f32[D]\nyield %a\n} : f32[D]\nyield %r\n}\n";
  constexpr int64_t many = 1030;
  std::vector<int64_t> counts;
  for (int64_t k = 0; k < many; ++k) counts.push_back(k % 3);
  PassText m(collected("%y = call @g %row, %count, %w dims [D] : f32[D]\n") + callee);
  m.apply(batchRows, {Value::floats(numbers(many * columns), {many, columns}),
                      Value::floats(numbers(columns * columns), {columns, columns}),
                      Value::array(types::TypeKind::I64, std::vector<int64_t>{many}, counts.data())});
}

/// A loop that only pushes is a nest that makes what it pushes.
TEST(BatchedRows, RowsThatAreOnlyPushed) {
  auto pushing = [](const std::string& between) {
    return function("f32[D]", "%l0 = list : List[f32[D]]\n%all = dim_value dims [B] : i64\n"
                              "%l = for collects 0 %all, %l0 { (%b: i64, %l1: List[f32[D]])\n"
                              "%row = get %x[%b] : f32[D]\n" +
                                  between + step("%y", "%row", "1") +
                                  "%l2 = push %l1, %y : List[f32[D]]\nyield %l2\n} : List[f32[D]]\n"
                                  "%at = const 2 : i64\n%r = get %l<%at> : f32[D]\nyield %r\n");
  };
  PassText m(pushing(""));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("max %all"), 1u) << m.text();
  PassText reads(pushing("%now = length %l1 : i64\n"));
  reads.apply(batchRows, arguments());
  EXPECT_EQ(reads.count("max %all"), 0u) << "the iteration reads the list\n" << reads.text();
}

} // namespace
} // namespace melix::transforms
