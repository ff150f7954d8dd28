// What is reduced over both sides of a product, by rows.
#include "transforms/contractions/split_reductions.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}); }

/// Reduces what a point makes of the product %s.
std::string reduced(const std::string& how, const std::string& index = "%j") {
  return "fn f (%x: f32[3, 2], %y: f32[3, 2]) -> (f32) {\n  %r = nest (%i: 3, %j: 3) -> keep[] " + how +
         " {\n    %s = nest (%k: 2) -> keep[] sum {\n      %a = get %x[%i, %k] : f32\n      %b = get %y[" +
         index +
         ", %k] : f32\n      %p = mul %a, %b : f32\n      yield %p\n    } : f32\n    %q = mul %s, %s : f32\n"
         "    yield %q\n  } : f32\n  yield %r\n}\n";
}

TEST(SumRows, SumsAndExtremesOfProducts) {
  for (const char* how : {"sum", "max", "min"}) {
    PassText m(reduced(how));
    m.apply(splitReductions, {numbers(), numbers()});
    EXPECT_EQ(m.count(std::string("keep[i] ") + how), 1u) << m.text();
    EXPECT_EQ(m.count(std::string("keep[] ") + how), how == std::string("sum") ? 2u : 1u) << m.text();
  }
}

TEST(SumRows, NotOfOneSide) {
  PassText m(reduced("sum", "%i"));
  m.apply(splitReductions, {numbers(), numbers()});
  EXPECT_EQ(m.count("keep[i]"), 0u) << m.text();
}

TEST(SumRows, NumbersOfRowsBesideOtherSweepsAreOfTheirOwn) {
  const std::string
      row = "    %t = nest (%j: 3) -> keep[] sum {\n"
            "      %s = nest (%k: 2) -> keep[] sum {\n        %a = get %x[%i, %k] : f32\n"
            "        %b = get %y[%j, %k] : f32\n        %p = mul %a, %b : f32\n        yield %p\n"
            "      } : f32\n      %q = mul %s, %s : f32\n      yield %q\n    } : f32\n",
      other = "    %u = nest (%l: 2) -> keep[] sum {\n      %c = get %x[%i, %l] : f32\n      yield %c\n"
              "    } : f32\n    %v = mul %t, %u : f32\n";
  auto points = [](const std::string& body, const std::string& value) {
    return "fn f (%x: f32[3, 2], %y: f32[3, 2]) -> (f32[3]) {\n  %r = nest (%i: 3) -> collect[i] {\n" + body +
           "    yield " + value + "\n  } : f32[3]\n  yield %r\n}\n";
  };
  PassText beside(points(row + other, "%v"));
  beside.apply(splitReductions, {numbers(), numbers()});
  EXPECT_EQ(beside.count("keep[i] sum"), 1u) << beside.text();
  PassText alone(points(row, "%t"));
  alone.apply(splitReductions, {numbers(), numbers()});
  EXPECT_EQ(alone.count("collect[i]"), 1u) << alone.text();
}

} // namespace
} // namespace melix::transforms
