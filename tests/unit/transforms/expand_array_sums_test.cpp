// Sums of whole arrays are nests.
#include "transforms/canonical/expand_array_sums.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}); }

TEST(OpenSums, ArithmeticOnArrays) {
  PassText m(R"(fn f (%x: f32[6], %y: f32[6]) -> (f32[6]) {
  %a = add %x, %y : f32[6]
  %b = sub %a, %x : f32[6]
  %c = neg %b : f32[6]
  yield %c
}
)");
  m.apply(expandArraySums, {numbers(), numbers()});
  EXPECT_EQ(m.count("nest"), 3u) << m.text();
  EXPECT_EQ(m.count(" : f32\n"), 8u) << m.text();
}

TEST(OpenSums, AnUpdateByWhatIsMadeForItAlone) {
  PassText m(R"(fn f (%x: f32[6], %y: f32[6]) -> (f32[6]) {
  %v = nest (%i: 6) -> collect[i] {
    %a = get %y[%i] : f32
    %b = mul %a, %a : f32
    yield %b
  } : f32[6]
  %s = add_at %x += %v : f32[6]
  yield %s
}
)");
  m.apply(expandArraySums, {numbers(), numbers()});
  EXPECT_EQ(m.count("add_at"), 0u) << m.text();
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

/// There is no sweep to save.
TEST(OpenSums, OtherUpdatesStayInPlace) {
  PassText m(R"(fn f (%x: f32[6], %y: f32[6]) -> (f32[6], f32[6]) {
  %v = nest (%i: 6) -> collect[i] {
    %a = get %y[%i] : f32
    yield %a
  } : f32[6]
  %s = add_at %x += %v : f32[6]
  %t = add_at %s += %y : f32[6]
  yield %t, %v
}
)");
  m.apply(expandArraySums, {numbers(), numbers()});
  EXPECT_EQ(m.count("add_at"), 2u) << m.text();
}

/// Sums of lists and of records are no nests, and accumulators are only added to.
TEST(OpenSums, OtherTangentsStay) {
  PassText m(R"(fn f (%x: (f32, f32[6]), %y: (f32, f32[6])) -> ((f32, f32[6])) {
  %s = add %x, %y : (f32, f32[6])
  yield %s
}
)");
  m.apply(expandArraySums);
  EXPECT_EQ(m.count("nest"), 0u) << m.text();
}

} // namespace
} // namespace melix::transforms
