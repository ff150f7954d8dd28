// Loops in rows whose turns take products of a row and a matrix go around the rows.
#include "transforms/batch/batch_rows.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

constexpr int64_t rows = 5, turns = 3, columns = 17;

std::vector<Value> arguments() {
  auto numbers = [](int64_t n) {
    std::vector<float> out;
    for (int64_t k = 0; k < n; ++k) out.push_back(static_cast<float>(k % 5) - 2);
    return out;
  };
  return {Value::floats(numbers(rows * turns * columns), {rows, turns, columns}),
          Value::floats(numbers(columns * columns), {columns, columns}), Value::integer(1)};
}

/// What a turn makes of its row `%h`: a product and what stands beside it, `%g`.
const std::string product = R"(      %p = nest (%j: D, %i: D) -> keep[j] sum {
        %a = get %h[%i] : f32
        %m = get %w[%i, %j] : f32
        %q = mul %a, %m : f32
        yield %q
      } : f32[D]
      %s = get %row[%t] : f32[D]
      %g = nest (%o: D) -> collect[o] {
        %d = get %p[%o] : f32
        %e = get %s[%o] : f32
        %v = add %d, %e : f32
        yield %v
      } : f32[D]
)";

/// A loop in a nest over rows; beside the row it carries `%c`, of a type, which begins as zeros.
struct Loop {
  std::string turn = product;
  std::string next = "%c"; ///< of the second carry
  std::string type = "f32";
  std::string count = "%n";
  std::string point = ""; ///< in front of the loop
  std::string axis = "B";

  std::string text() const {
    return "fn f [B, T, D] (%x: f32[B, T, D], %w: f32[D, D], %k: i64) -> (f32[" + axis + ", D], " + behind() +
           ") {\n  %all, %ends = nest (%b: " + axis +
           ") -> collect[b], collect[b] {\n    %row = get %x[%b] : f32[T, D]\n"
           "    %n = dim_value dims [T] : i64\n    %zero = zero : f32[D]\n    %begun = zero : " +
           type + "\n" + point + "    %y, %end = for collects 0 " + count +
           ", %zero, %begun { (%t: i64, %h: f32[D], %c: " + type + ")\n" + turn + "      yield %g, " + next +
           "\n    } : f32[D], " + type + "\n    yield %y, %end\n  } : f32[" + axis + ", D], " + behind() +
           "\n  yield %all, %ends\n}\n";
  }
  std::string behind() const {
    const size_t open = type.find('[');
    return open == std::string::npos ? type + "[" + axis + "]"
                                     : type.substr(0, open) + "[" + axis + ", " + type.substr(open + 1);
  }
  /// After the pass, which changes no bits: whether what is carried is of all rows.
  bool goesAround() const {
    PassText m(text());
    m.apply(batchRows, arguments());
    return m.count("%c: " + behind() + ")") > 0;
  }
};
Loop with(const std::string& turn, const std::string& next, const std::string& type) {
  Loop loop;
  loop.turn += turn;
  loop.next = next;
  loop.type = type;
  return loop;
}

TEST(BatchedLoops, RowsAndNumbersGoAroundForAllRows) {
  EXPECT_TRUE(with("      %u = sub %c, %c : f32\n", "%u", "f32").goesAround());
  EXPECT_TRUE(with("", "%p", "f32[D]").goesAround());
}

TEST(BatchedLoops, PartsAreUpdatedForAllRowsAtOnce) {
  EXPECT_TRUE(with("      %u = set %c[%t] = %g : f32[T, D]\n", "%u", "f32[T, D]").goesAround());
  EXPECT_TRUE(
      with("      %one = const 1 : i64\n      %n1 = sub %n, %one : i64\n      %l = sub %n1, %t : i64\n"
           "      %u = add_at %c[%l] += %g : f32[T, D]\n      %u2 = add_at %u[%t] += %p : f32[T, D]\n",
           "%u2", "f32[T, D]")
          .goesAround())
      << "several, one after the other, also from the end";
}

TEST(BatchedLoops, NotPartsWhosePlacesDifferByRows) {
  EXPECT_FALSE(with("      %z = mul %b, %t : i64\n      %l = irem %z, %n : i64\n"
                    "      %u = set %c[%l] = %g : f32[T, D]\n",
                    "%u", "f32[T, D]")
                   .goesAround());
}

TEST(BatchedLoops, NotArraysOfSeveralAxesThatAreMadeAnew) {
  EXPECT_FALSE(with("      %u = nest (%i2: T, %o2: D) -> collect[i2, o2] {\n        %r = get %g[%o2] : f32\n"
                    "        yield %r\n      } : f32[T, D]\n",
                    "%u", "f32[T, D]")
                   .goesAround());
}

/// Of a row whose elements are updated one by one all would be copied at each turn.
TEST(BatchedLoops, NotRowsThatAreUpdatedInPlace) {
  const std::string place = "      %z = mul %b, %t : i64\n      %l = irem %z, %n : i64\n"
                            "      %e1 = get %g[%t] : f32\n";
  EXPECT_FALSE(with(place + "      %u = set %c[%l] = %e1 : f32[D]\n", "%u", "f32[D]").goesAround());
  EXPECT_FALSE(with(place + "      %is = cmp gt %l, %t : bool\n      %u = if %is {\n"
                            "        %o1 = set %c[%l] = %e1 : f32[D]\n        yield %o1\n      } {\n"
                            "        yield %c\n      } : f32[D]\n",
                    "%u", "f32[D]")
                   .goesAround());
}

TEST(BatchedLoops, AsManyIterationsForAllRowsOrTheirOwn) {
  Loop loop;
  loop.count = "%b";
  EXPECT_TRUE(loop.goesAround()) << "rows with counts of their own";
  loop.count = "%k";
  EXPECT_TRUE(loop.goesAround());
}

TEST(BatchedLoops, PartsAreUpdatedOfRowsWithTheirOwnCounts) {
  const std::string own = "    %own = irem %b, %n : i64\n";
  Loop loop = with("      %u = set %c[%t] = %g : f32[T, D]\n", "%u", "f32[T, D]");
  loop.point = own;
  loop.count = "%own";
  EXPECT_TRUE(loop.goesAround());
  loop =
      with("      %one = const 1 : i64\n      %last = sub %own, %one : i64\n      %l = sub %last, %t : i64\n"
           "      %back = get %row[%l] : f32[D]\n      %u = set %c[%t] = %back : f32[T, D]\n",
           "%u", "f32[T, D]");
  loop.point = own;
  loop.count = "%own";
  EXPECT_TRUE(loop.goesAround()) << "places of updates are counted from the beginning";
}

TEST(BatchedLoops, NotOfFewRows) {
  Loop loop;
  loop.axis = "2";
  EXPECT_FALSE(loop.goesAround());
}

TEST(BatchedLoops, ChecksStandInFrontIfTheyNeedNothingThatIsCarried) {
  Loop loop;
  loop.turn = "      check index \"\" %t dims [D]\n" + product;
  loop.point = "    check index \"\" %b dims [D]\n";
  EXPECT_TRUE(loop.goesAround());
  loop.turn = "      %f = get %h[%t] : f32\n      %i3 = convert saturate %f : i64\n"
              "      %j3 = mul %i3, %i3 : i64\n      check index \"\" %j3 dims [D]\n" +
              product;
  EXPECT_FALSE(loop.goesAround());
}

TEST(BatchedLoops, NotWithoutAProductOfTheRow) {
  Loop loop;
  loop.turn = R"(      %g = nest (%o: D) -> collect[o] {
        %d = get %h[%o] : f32
        %e = get %row[%t, %o] : f32
        %v = add %d, %e : f32
        yield %v
      } : f32[D]
)";
  EXPECT_FALSE(loop.goesAround());
}

/// Arrays of all rows are no larger than what the nest gives, and there are none of what is made of an index
/// and added.
TEST(BatchedLoops, NotWhereArraysOfAllRowsAreWhatNothingElseIs) {
  const auto summed = [](const std::string& row) {
    std::string text = with("", "%p", "f32[D]").text();
    const auto put = [&](const std::string& from, const std::string& by) {
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + by.size()))
        text.replace(at, from.size(), by);
    };
    put("collect[b], collect[b]", "keep[] sum, keep[] sum");
    put("f32[B, D], f32[B, D]) {", "f32[D], f32[D]) {");
    put("  } : f32[B, D], f32[B, D]\n  yield %all", "  } : f32[D], f32[D]\n  yield %all");
    put("    %row = get %x[%b] : f32[T, D]\n", row);
    PassText m(text);
    m.apply(batchRows, arguments());
    return m.count("%c: f32[B, D])") > 0;
  };
  EXPECT_TRUE(summed("    %row = get %x[%b] : f32[T, D]\n"));
  EXPECT_FALSE(summed("    %first = const 0 : i64\n    %row = get %x[%first] : f32[T, D]\n"));
  const std::string filled = "      %u = set %c[%t] = %g : f32[T, D]\n";
  std::string text = with(filled, "%u", "f32[T, D]").text();
  text.replace(text.find("collect[b], collect[b]"), 22, "collect[b], keep[] sum");
  for (size_t at; (at = text.find("f32[B, T, D]) {")) != std::string::npos;)
    text.replace(at, 15, "f32[T, D]) {");
  for (size_t at; (at = text.find("f32[B, D], f32[B, T, D]\n")) != std::string::npos;)
    text.replace(at, 24, "f32[B, D], f32[T, D]\n");
  PassText m(text);
  m.apply(batchRows, arguments());
  EXPECT_EQ(m.count("%c: f32[B, T, D])"), 0u) << m.text();
}

} // namespace
} // namespace melix::transforms
