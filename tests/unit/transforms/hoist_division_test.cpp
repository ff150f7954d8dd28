// Quotients of elements that are computed where the elements are made.
#include "transforms/fusion/hoist_division.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// An array of products, made by rows, and two sums of what `first` and `second`, values %p and %u, give.
std::string program(const std::string& first, const std::string& second, const std::string& front = "") {
  return "fn f (%x: f32[3, 4], %y: f32[4], %s: f32) -> (f32[3], f32[4]) {\n" + front +
         "  %a = nest (%i: 3) -> collect[i] {\n    %row = nest (%j: 4) -> collect[j] {\n"
         "      %v = get %x[%i, %j] : f32\n      %w = mul %v, %v : f32\n      yield %w\n    } : f32[4]\n"
         "    yield %row\n  } : f32[3, 4]\n"
         "  %r = nest (%i$1: 3, %k: 4) -> keep[i$1] sum {\n" +
         first +
         "    %b = get %y[%k] : f32\n    %t = mul %p, %b : f32\n    yield %t\n  } : f32[3]\n"
         "  %q = nest (%l: 4, %h: 3) -> keep[l] sum {\n" +
         second + "    yield %u\n  } : f32[4]\n  yield %r, %q\n}\n";
}
const std::string byFirst = "    %e = get %a[%i$1, %k] : f32\n    %p = div %e, %s : f32\n";
const std::string byOther = "    %d = get %a[%h, %l] : f32\n    %u = div %d, %s : f32\n";

/// Whether the first quotient is that of %w, and there is no other.
bool isMoved(const std::string& text) {
  PassText m(text);
  m.apply(hoistDivision, {Value::floats(std::vector<float>{1, -2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12},
                                        std::vector<int64_t>{3, 4}),
                          Value::floats(std::vector<float>{1, 2, 3, 4}), Value::f32(3)});
  return m.count(" = div ") == 1 && m.count("div %w") == 1;
}

TEST(DivideOnce, WhatAllWhoReadDivideBy) {
  EXPECT_TRUE(isMoved(program(byFirst, byOther)));
  EXPECT_TRUE(
      isMoved(program("    %c = cmp lt %k, %i$1 : bool\n    %p = if %c {\n      %e = get %a[%i$1, %k] : "
                      "f32\n      %g = div %e, %s : f32\n      yield %g\n    } {\n      %z = const 0.0 : "
                      "f32\n      yield %z\n    } : f32\n",
                      byOther)))
      << "in a branch";
}

TEST(DivideOnce, NumbersThatAreMadeAlike) {
  auto root = [](const std::string& mark) {
    return "    %n" + mark + " = dim_value dims [3] : i64\n    %o" + mark + " = convert saturate %n" + mark +
           " : f32\n    %h" + mark + "$1 = sqrt %o" + mark + " : f32\n";
  };
  const std::string one = root("") + "    %e = get %a[%i$1, %k] : f32\n    %p = div %e, %h$1 : f32\n";
  const std::string other = root("$2") + "    %d = get %a[%h, %l] : f32\n    %u = div %d, %h$2$1 : f32\n";
  EXPECT_TRUE(isMoved(program(one, other)));
  EXPECT_FALSE(isMoved(program(one, byOther))) << "two numbers";
}

TEST(DivideOnce, OthersStay) {
  EXPECT_FALSE(isMoved(program(byFirst, "    %u = get %a[%h, %l] : f32\n"))) << "read as it is";
  EXPECT_FALSE(isMoved(program("    %e = get %a[%i$1, %k] : f32\n    %p = div %s, %e : f32\n", byOther)))
      << "the divisor";
  EXPECT_FALSE(isMoved(program("    %c = get %y[%k] : f32\n    %e = get %a[%i$1, %k] : f32\n"
                               "    %p = div %e, %c : f32\n",
                               byOther)))
      << "not the same at all points";
  const std::string zero = "    %o = const 0 : i64\n";
  EXPECT_FALSE(
      isMoved(program(zero + "    %e = get %a[%o, %k] : f32\n    %p = div %e, %s : f32\n",
                      "    %o$1 = const 0 : i64\n    %d = get %a[%h, %o$1] : f32\n    %u = div %d, %s "
                      ": f32\n")))
      << "a row and a column only";
}

} // namespace
} // namespace melix::transforms
