// Products and sums that become one op.
#include "transforms/contractions/contract_fma.h"

#include "core/order/order.h"
#include "transforms/pass_text.h"

#include <cmath>

namespace melix::transforms {
namespace {

using interp::Value;

void choose(core::Module& module) {
  core::chooseOrders(module);
  contractFma(module);
}

/// A sum over %k, by %i, of what `term`, a value %t, gives of numbers %a and %b.
std::string sum(const std::string& term) {
  return "fn f (%x: f32[3, 4], %y: f32[4, 3]) -> (f32[3]) {\n"
         "  %r = nest (%i: 3, %k: 4) -> keep[i] sum {\n"
         "    %a = get %x[%i, %k] : f32\n    %b = get %y[%k, %i] : f32\n    %m = cmp lt %k, %i : bool\n"
         "    %z = const 0.0 : f32\n" +
         term + "    yield %t\n  } : f32[3]\n  yield %r\n}\n";
}
const std::string masked = "    %t = if %m {\n      %p = mul %a, %b : f32\n      yield %p\n    } {\n"
                           "      yield %z\n    } : f32\n";
std::string chosen(const std::string& term) {
  PassText m(sum(term));
  m.apply(choose);
  return m.text();
}
bool isFused(const std::string& term) { return chosen(term).find("fused") != std::string::npos; }

TEST(FormFma, ProductsInSumsAndReductions) {
  PassText m(R"(fn f [M, K] (%x: f32[M, K], %y: f32[K, M], %c: f32) -> (f32[M], f32) {
  %0 = const 0 : i64
  %r = nest (%i: M, %k: K) -> keep[i] sum {
    %a = get %x[%i, %k] : f32
    %b = get %y[%k, %i] : f32
    %p = mul %a, %b : f32
    yield %p
  } : f32[M]
  %a$1 = get %x[%0, %0] : f32
  %p$1 = mul %a$1, %c : f32
  %s = sub %p$1, %c : f32
  yield %r, %s
}
)");
  m.apply(choose);
  EXPECT_EQ(m.count("fused"), 1u) << m.text();
  EXPECT_EQ(m.count("fma"), 1u);
  EXPECT_EQ(m.count("neg"), 1u);
}

TEST(FormFma, TermsUnderAMaskAreProductsOfWhatItGives) {
  const std::string text = chosen(masked);
  EXPECT_NE(text.find("fused"), std::string::npos) << text;
  EXPECT_NE(text.find("yield %a, %b"), std::string::npos) << text;
  EXPECT_GT(text.find(" = mul "), text.find(" = if ")) << text;
  EXPECT_TRUE(isFused("    %t = if %m {\n      yield %z\n    } {\n      %p = mul %a, %b : f32\n      yield "
                      "%p\n    } : f32\n"));
  EXPECT_TRUE(isFused("    %t = if %m {\n      %p = mul %a, %b : f32\n      yield %p\n    } {\n"
                      "      %q = mul %b, %b : f32\n      yield %q\n    } : f32\n"));
  EXPECT_TRUE(
      isFused("    %n = cmp gt %k, %i : bool\n    %t = if %n {\n      %u = if %m {\n        %p = mul %a, "
              "%b : f32\n        yield %p\n      } {\n        yield %z\n      } : f32\n      yield %u\n"
              "    } {\n      yield %z\n    } : f32\n"));
}

TEST(FormFma, OtherTermsAreAdded) {
  EXPECT_FALSE(isFused("    %t = if %m {\n      %p = mul %a, %b : f32\n      yield %p\n    } {\n"
                       "      yield %b\n    } : f32\n"))
      << "another number";
  EXPECT_FALSE(isFused("    %p = mul %a, %b : f32\n    %t = if %m {\n      yield %p\n    } {\n"
                       "      yield %z\n    } : f32\n"))
      << "made whether it is taken or not";
  EXPECT_FALSE(isFused("    %t = if %m {\n      yield %z\n    } {\n      yield %z\n    } : f32\n"));
}

/// What the sums of x · y below the diagonal are, where y has these numbers in each column.
std::vector<float> sums(const std::vector<float>& x, const std::vector<float>& y) {
  PassText m(sum(masked));
  m.apply(choose);
  std::vector<float> columns;
  for (float each : y) columns.insert(columns.end(), 3, each);
  const interp::RunResult run = m.run(
      {Value::floats(x, std::vector<int64_t>{3, 4}), Value::floats(columns, std::vector<int64_t>{4, 3})});
  EXPECT_FALSE(run.panicked);
  const std::span<const float> out = run.values[0].asFloats();
  return {out.begin(), out.end()};
}

TEST(FormFma, WhatAMaskLeavesOutLeavesTheSumAsItIs) {
  const float inf = INFINITY, tiny = 1e-30F;
  const std::vector<float> some =
      sums({0, inf, NAN, inf, -tiny, 0, inf, 0, 1 + 0x1p-12F, 0, inf, NAN}, {tiny, 0, 0, 1});
  EXPECT_EQ(some[0], 0);
  EXPECT_FALSE(std::signbit(some[0]));
  EXPECT_EQ(some[1], 0);
  EXPECT_TRUE(std::signbit(some[1])) << "a product that rounds to -0 stays that";
}

} // namespace
} // namespace melix::transforms
