// What a turn reads where the turn in front of it wrote.
#include "transforms/counted_loops/carry_stored_values.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}); }

/// A loop of %n turns over %y, which is %x first, that begins so; `update` gives %z.
std::string loop(const std::string& update) {
  return "fn f [N] (%x: f32[N], %n: i64, %c: i64) -> (f32[N]) {\n  %1 = const 1 : i64\n  %2 = const 2 : i64\n"
         "  %r = for collects 0 %n, %x { (%t: i64, %y: f32[N])\n" +
         update + "    yield %z\n  } : f32[N]\n  yield %r\n}\n";
}

/// Whether the loop carries a number once the pass has run; what it gives stays, for all these turns.
bool carries(const std::string& update) {
  bool out = false;
  for (int64_t turns : {0, 1, 4}) {
    PassText m(loop(update));
    m.apply(carryStoredValues, {numbers(), Value::integer(turns), Value::integer(1)});
    out = m.count(": f32)\n") > 0;
  }
  return out;
}

const std::string sum = "    %w = add %a, %b : f32\n    %z = set %y[%i] = %w : f32[N]\n";
const std::string own = "    %b = get %y[%i] : f32\n";

TEST(CarryReads, TheElementInFront) {
  PassText m(
      loop("    %i = add %1, %t : i64\n    %j = sub %i, %1 : i64\n    %a = get %y[%j] : f32\n" + own + sum));
  m.apply(carryStoredValues, {numbers(), Value::integer(5), Value::integer(0)});
  EXPECT_EQ(m.text(), R"(fn f [N] (%x: f32[N], %n: i64, %c: i64) -> (f32[N]) {
  %0 = const 1 : i64
  %1 = const 2 : i64
  %2 = const 0 : i64
  %3 = cmp gt %n, %2 : bool
  %4 = const 0 : i64
  %5 = dim_value dims [N] : i64
  %6 = const 0 : i64
  %7 = cmp ge %4, %6 : bool
  %8 = and %3, %7 : bool
  %9 = cmp lt %4, %5 : bool
  %10 = and %8, %9 : bool
  %11 = if %10 {
    %12 = get %x[%4] : f32
    yield %12
  } {
    %13 = const 0.0 : f32
    yield %13
  } : f32
  %r, %14 = for collects 0 %n, %x, %11 { (%t: i64, %y: f32[N], %15: f32)
    %i = add %0, %t : i64
    %j = sub %i, %0 : i64
    %b = get %y[%i] : f32
    %w = add %15, %b : f32
    %z = set %y[%i] = %w : f32[N]
    yield %z, %w
  } : f32[N], f32
  yield %r
}
)");
}

TEST(CarryReads, AlsoOnePlaceThatAllTurnsUpdate) {
  const std::string updates =
      "    %i = add %c, %2 : i64\n    %a = get %y[%i] : f32\n    %b = get %x[%t] : f32\n";
  EXPECT_TRUE(carries(updates + sum));
}

TEST(CarryReads, OtherPlacesAreRead) {
  const std::string two = "    %i = add %t, %2 : i64\n    %j = sub %i, %2 : i64\n    %a = get %y[%j] : f32\n";
  EXPECT_FALSE(carries(two + own + sum));
  const std::string ahead =
      "    %i = add %t, %1 : i64\n    %j = add %i, %c : i64\n    %a = get %y[%j] : f32\n";
  EXPECT_FALSE(carries(ahead + own + sum));
}

TEST(CarryReads, NotWhatOnlySomeTurnsWrite) {
  const std::string update =
      "    %i = add %t, %1 : i64\n    %a = get %y[%t] : f32\n    %b = get %y[%i] : f32\n"
      "    %w = add %a, %b : f32\n    %g = cmp gt %t, %c : bool\n    %z = if %g {\n"
      "      %u = set %y[%i] = %w : f32[N]\n      yield %u\n    } {\n      yield %y\n    } : f32[N]\n";
  EXPECT_FALSE(carries(update));
}

TEST(CarryReads, AFirstPlaceOutOfRangeIsNotRead) {
  const std::string update =
      "    %0 = const 0 : i64\n    %g = cmp gt %t, %0 : bool\n    %a = if %g {\n"
      "      %j = sub %t, %1 : i64\n      %v = get %y[%j] : f32\n      yield %v\n    } {\n"
      "      %u = get %y[%t] : f32\n      yield %u\n    } : f32\n    %b = get %y[%t] : f32\n"
      "    %w = add %a, %b : f32\n    %z = set %y[%t] = %w : f32[N]\n";
  EXPECT_TRUE(carries(update));
}

} // namespace
} // namespace melix::transforms
