// Checks that are the same at all points stand in front of a nest.
#include "transforms/hoisting/hoist_checks.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

std::vector<Value> arguments(int64_t k) {
  return {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}), Value::integer(k)};
}

std::string points(const std::string& body, const std::string& axes = "%i: N") {
  return "fn f [N, M] (%x: f32[N, M], %k: i64) -> (f32) {\n  %r = nest (" + axes + ") -> keep[] sum {\n" +
         body +
         "    %z = const 0 : i64\n    %v = get %x[%i, %z] : f32\n    yield %v\n  } : f32\n  yield %r\n}\n";
}
/// What stands in front of the nest.
std::string front(const PassText& m) {
  const std::string text = m.text();
  return text.substr(0, text.find(" nest ("));
}

TEST(HoistChecks, WhatIsTheSameAtAllPointsIsAskedIfThereAreAny) {
  for (int64_t k : {1, 5}) {
    PassText m(points("    check index \"\" %k dims [M]\n"));
    m.apply(hoistChecks, arguments(k));
    EXPECT_NE(front(m).find("check index"), std::string::npos) << m.text();
    EXPECT_NE(front(m).find("if "), std::string::npos) << m.text();
  }
}

TEST(HoistChecks, NotBehindAnotherEffectNorWhatNeedsThePoint) {
  for (const char* body : {"    check index \"\" %i dims [M]\n    check index \"\" %k dims [M]\n",
                           "    %j = add %i, %k : i64\n    check index \"\" %j dims [M]\n",
                           "    bind_dim %i defines [n]\n    check dim_equal \"\" dims [n, M]\n"}) {
    PassText m(points(body));
    m.apply(hoistChecks, arguments(1));
    EXPECT_EQ(front(m).find("check"), std::string::npos) << m.text();
  }
}

TEST(HoistChecks, OfANestInsideAsFarAsItIsTheSame) {
  const std::string inner = "    nest (%j: M) -> {\n      check index \"\" %k dims [M]\n      yield\n    }\n",
                    ofPoint =
                        "    nest (%j: M) -> {\n      check index \"\" %i dims [M]\n      yield\n    }\n";
  PassText both(points(inner));
  both.apply(hoistChecks, arguments(5));
  EXPECT_NE(front(both).find("check"), std::string::npos) << both.text();
  EXPECT_NE(front(both).find("and "), std::string::npos) << "both have points: " << both.text();
  PassText one(points(ofPoint));
  one.apply(hoistChecks, arguments(1));
  EXPECT_EQ(front(one).find("check"), std::string::npos) << one.text();
  EXPECT_LT(one.text().find("check"), one.text().find("nest (%j")) << one.text();
}

} // namespace
} // namespace melix::transforms
