// Rows that choose a matrix for a product, or where the terms of its gradient are added.
#include "transforms/batch/batch_rows.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

constexpr int64_t rows = 21, depth = 10, columns = 16, kinds = 3;

/// Small whole numbers: their sums are exact in any order.
std::vector<float> numbers(int64_t n, int64_t step) {
  std::vector<float> out;
  for (int64_t k = 0; k < n; ++k) out.push_back(static_cast<float>(k * step % 5) - 2);
  return out;
}
/// The rows, the matrices, and a choice of each row; `of`: how many different ones.
std::vector<Value> arguments(int64_t of = kinds, int64_t count = rows) {
  std::vector<int64_t> choice;
  for (int64_t k = 0; k < count; ++k) choice.push_back(k * 5 % of);
  return {Value::floats(numbers(count * depth, 7), {count, depth}),
          Value::floats(numbers(kinds * depth * columns, 3), {kinds, depth, columns}),
          Value::array(types::TypeKind::I64, std::vector<int64_t>{count}, choice.data())};
}

/// The product of the row %row and the matrix %m; `n` makes names its own.
std::string product(const std::string& result, const std::string& n = "1", const std::string& m = "%m") {
  return result + " = nest (%j" + n + ": 16, %k" + n + ": 10) -> keep[j" + n + "] sum {\n%a" + n +
         " = get %row[%k" + n + "] : f32\n%b" + n + " = get " + m + "[%k" + n + ", %j" + n + "] : f32\n%p" +
         n + " = mul %a" + n + ", %b" + n + " : f32\nyield %p" + n + "\n} : f32[16]\n";
}
std::string function(const std::string& results, const std::string& body) {
  return "fn f [B] (%x: f32[B, 10], %w: f32[3, 10, 16], %c: i64[B]) -> (" + results + ") {\n" + body + "}\n";
}
std::string collected(const std::string& body) {
  return function("f32[B, 16]", "%all = nest (%r: B) -> collect[r] {\n%row = get %x[%r] : f32[10]\n" + body +
                                    "yield %y\n} : f32[B, 16]\nyield %all\n");
}
const std::string chosen = "%e = get %c[%r] : i64\n%m = get %w[%e] : f32[10, 16]\n";

TEST(ChosenSides, RowsAreGroupedByTheirChoice) {
  for (int64_t count : {rows, int64_t(5), int64_t(0)}) {
    PassText m(collected(chosen + product("%y")));
    m.apply(batchRows, arguments(kinds, count));
    EXPECT_EQ(m.count("set %"), 3u) << m.text();
    EXPECT_EQ(m.count("sum chain"), 2u) << m.text();
  }
  PassText same(collected(chosen + product("%y")));
  same.apply(batchRows, arguments(1));
}

TEST(ChosenSides, ASecondRunChangesNothing) {
  PassText m(collected(chosen + product("%y")));
  m.apply(batchRows, arguments());
  const std::string once = m.text();
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.text(), once);
}

TEST(ChosenSides, AChoiceThatIsComputedBecomesAnArray) {
  const std::string best = "%part = nest (%q: 3) -> collect[q] {\n%v = get %row[%q] : f32\nyield %v\n} : "
                           "f32[3]\n%e = nest (%q1: 3) -> keep[] argmax {\n%v1 = get %part[%q1] : f32\nyield "
                           "%v1\n} : i64\n%m = get %w[%e] : f32[10, 16]\n";
  PassText m(collected(best + product("%y")));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("argmax"), 1u) << m.text();
  EXPECT_EQ(m.count("sum chain"), 2u) << m.text();
}

/// The first row that fails is the same.
TEST(ChosenSides, ChecksOfTheChoiceComeBefore) {
  for (int64_t of : {int64_t(3), int64_t(4)}) {
    PassText m(
        collected("%e = get %c[%r] : i64\ncheck index \"\" %e dims [3]\n%m = get %w[%e] : f32[10, 16]\n" +
                  product("%y")));
    m.apply(batchRows, arguments(of));
    EXPECT_EQ(m.count("sum chain"), 2u) << m.text();
    EXPECT_LT(m.text().find("check index"), m.text().find("sum chain")) << m.text();
  }
}

TEST(ChosenSides, ProductsOfOneChoiceAreOneGroup) {
  PassText m(collected(chosen + product("%u", "1") + product("%v", "2") +
                       "%y = nest (%i: 16) -> collect[i] {\n%ui = get %u[%i] : f32\n%vi = get %v[%i] : f32\n"
                       "%s = add %ui, %vi : f32\nyield %s\n} : f32[16]\n"));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("bind_dim"), 1u) << m.text();
  EXPECT_EQ(m.count("sum chain"), 4u) << m.text();
}

TEST(ChosenSides, ProductsInLoopsAreGroupedInEachIteration) {
  PassText m(collected("%e = get %c[%r] : i64\n%two = const 2 : i64\n%z = zero : f32[16]\n"
                       "%y = for collects 0 %two, %z { (%t: i64, %h: f32[16])\n%n = add %e, %t : i64\n"
                       "%three = const 3 : i64\n%o = irem %n, %three : i64\n"
                       "%m = get %w[%o] : f32[10, 16]\n" +
                       product("%g") +
                       "%d = nest (%i: 16) -> collect[i] {\n%gi = get %g[%i] : f32\n%hi = get %h[%i] : f32\n"
                       "%s = add %gi, %hi : f32\nyield %s\n} : f32[16]\nyield %d\n} : f32[16]\n"));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("bind_dim"), 1u) << m.text();
  EXPECT_EQ(m.count("sum chain"), 2u) << m.text();
}

TEST(ChosenSides, OtherProductsStay) {
  const std::string
      shared = "%e = const 1 : i64\n%m = get %w[%e] : f32[10, 16]\n",
      row = "%e = const 0 : i64\n%all = dim_value dims [B] : i64\n%three = const 3 : i64\n"
            "%m = nest (%u: 10, %v: 16) -> collect[u, v] {\n%ce = get %c[%r] : i64\n"
            "%wv = get %w[%ce, %u, %v] : f32\n%wr = add %wv, %wv : f32\nyield %wr\n} : f32[10, 16]\n";
  for (const std::string& matrix : {shared, row}) {
    std::string body = matrix + product("%y");
    if (matrix == row) body.erase(body.find("%all"), body.find("%three") - body.find("%all"));
    PassText m(collected(body));
    m.apply(batchRows, arguments());
    EXPECT_EQ(m.count("sum chain"), 0u) << m.text();
  }
}

TEST(ChosenSides, RowsOfRowsAreRowsOfOneNest) {
  const std::string inner = "%row = get %x[%t] : f32[10]\n%e1 = add %e0, %t : i64\n%three = const 3 : i64\n"
                            "%e = irem %e1, %three : i64\n%m = get %w[%e] : f32[10, 16]\n";
  PassText m(function("f32[B, 5, 16]", "%out = nest (%r: B) -> collect[r] {\n%e0 = get %c[%r] : i64\n"
                                       "%in = nest (%t: 5) -> collect[t] {\n" +
                                           inner + product("%y") +
                                           "yield %y\n} : f32[5, 16]\nyield %in\n} : f32[B, 5, 16]\n"
                                           "yield %out\n"));
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("bind_dim"), 1u) << m.text();
}

TEST(ChosenSides, TermsAreAddedByGroups) {
  const std::string terms =
      "%sums = zero : f32[3, 10, 16]\n%g = nest (%r: B) -> accs (%s = %sums) {\n%row = get %x[%r] : f32[10]\n"
      "%e = get %c[%r] : i64\n%o = nest (%u: 10, %v: 16) -> collect[u, v] {\n%xu = get %row[%u] : f32\n"
      "%z = const 1 : i64\n%xz = get %row[%z] : f32\n%p = mul %xu, %xz : f32\nyield %p\n} : f32[10, 16]\n"
      "%t = add_at %s[%e] += %o : acc f32[3, 10, 16]\nyield %t\n} : f32[3, 10, 16]\nyield %g\n";
  for (int64_t count : {rows, int64_t(5), int64_t(0)}) {
    PassText m(function("f32[3, 10, 16]", terms));
    m.apply(batchSums, arguments(kinds, count));
    EXPECT_EQ(m.count("add_at"), 2u) << m.text();
    EXPECT_EQ(m.count("bind_dim"), 1u) << m.text();
  }
  PassText kept(function("f32[3, 10, 16]", terms));
  kept.apply(batchRows, arguments());
  EXPECT_EQ(kept.count("bind_dim"), 0u) << kept.text();
}

} // namespace
} // namespace melix::transforms
