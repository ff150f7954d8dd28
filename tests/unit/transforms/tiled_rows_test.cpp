// Nests over rows in tiles.
#include "transforms/batch/tile_rows.h"
#include "transforms/row_text.h"

namespace melix::transforms {
namespace {

using namespace row_text;

bool inThrees(core::Module& m) { return tileRows(m, 3); }
bool bySize(core::Module& m) { return tileRows(m, std::nullopt); }

/// The sum of the values of all rows. `row` is the op that makes `%row`.
std::string summed(const std::string& row) {
  return function("f32", "%all = nest (%b: B) -> keep[] sum {\n" + row + step("%g", "%row", "1") +
                             "%y = nest (%o: D) -> keep[] sum {\n%e = get %g[%o] : f32\nyield %e\n} : f32\n"
                             "yield %y\n} : f32\nyield %all\n");
}
const std::string made = "%bf = convert saturate %b : f32\n%row = nest (%i: D) -> collect[i] {\n"
                         "%if = convert saturate %i : f32\n%p = sub %if, %bf : f32\nyield %p\n} : f32[D]\n";
const std::string readRow = "%row = get %x[%b] : f32[D]\n";

TEST(TiledRows, ArraysOfRows) {
  PassText m(collected(counted()));
  m.apply(inThrees, arguments());
  EXPECT_EQ(m.count("bind_dim"), 1u) << m.text();
  EXPECT_EQ(m.count("for collects 0"), 2u) << m.text();
}

TEST(TiledRows, SumsAndAccumulators) {
  PassText sum(summed(readRow));
  sum.apply(inThrees, arguments());
  EXPECT_EQ(sum.count("bind_dim"), 1u) << sum.text();
  PassText adds(function("f32[D, D]", "%z = zero : f32[D, D]\n%all = nest (%b: B) -> accs (%a = %z) {\n" +
                                          readRow + step("%g", "%row", "1") +
                                          outer("%a2", "%a", "%row", "%g") +
                                          "yield %a2\n} : f32[D, D]\nyield %all\n"));
  adds.apply(inThrees, arguments());
  EXPECT_EQ(adds.count("bind_dim"), 1u) << adds.text();
}

TEST(TiledRows, NoRows) {
  PassText m(collected(counted()));
  const std::vector<float> none;
  const int64_t counts = 0;
  m.apply(inThrees, {interp::Value::floats(none, {0, columns}),
                     interp::Value::floats(numbers(columns * columns), {columns, columns}),
                     interp::Value::array(types::TypeKind::I64, std::vector<int64_t>{0}, &counts)});
}

TEST(TiledRows, RowsInNoArray) {
  PassText m(summed(made));
  m.apply(bySize, arguments());
  EXPECT_EQ(m.count("bind_dim"), 1u) << m.text();
}

TEST(TiledRows, RowsInArraysStay) {
  for (const std::string& text : {summed(readRow), collected(counted())}) {
    PassText m(text);
    const std::string before = m.text();
    EXPECT_EQ(m.apply(bySize).text(), before);
  }
}

} // namespace
} // namespace melix::transforms
