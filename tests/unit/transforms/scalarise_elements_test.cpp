// Elements of arrays that are values.
#include "core/ir/work.h"
#include "transforms/canonical/scalarise_elements.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void forward(core::Module& m) {
  scalariseElements(m);
  simplify(m);
}

TEST(ForwardElements, ElementsOfLiteralsAreValues) {
  PassText m(R"(fn f (%x: f32, %y: f32) -> (f32, f32) {
  %a = array %x, %y : f32[2]
  %b = array %y, %x : f32[2]
  %c = array %a, %b : f32[2, 2]
  %0 = const 0 : i64
  %1 = const 1 : i64
  %r = get %c[%0] : f32[2]
  %s = get %r[%1] : f32
  %t = get %c[%1, %1] : f32
  yield %s, %t
}
)");
  m.apply(forward, {Value::f32(1), Value::f32(2)});
  EXPECT_EQ(m.text(), "fn f (%x: f32, %y: f32) -> (f32, f32) {\n  yield %y, %x\n}\n");
}

TEST(ForwardElements, UpdatesPartsAndReshapesAreFollowed) {
  PassText m(R"(fn f (%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %z = zero : f32[2, 3]
  %0 = const 0 : i64
  %1 = const 1 : i64
  %2 = const 2 : i64
  %a = set %z[%0, %1] = %x : f32[2, 3]
  %b = add_at %a[%0, %1] += %y : f32[2, 3]
  %row = array %y, %y, %x : f32[3]
  %c = set %b[%1] = %row : f32[2, 3]
  %d = reshape %c : f32[6]
  %odd = get %d[%1 +: 3 by 2] : f32[3]
  %p = get %odd[%0] : f32
  %q = get %odd[%1] : f32
  %r = get %odd[%2] : f32
  %col = get %c[:, %2] : f32[2]
  %s = get %col[%1] : f32
  yield %p, %q, %r, %s
}
)");
  m.apply(forward, {Value::f32(1), Value::f32(2)});
  EXPECT_EQ(m.count("get"), 0u) << m.text();
  EXPECT_EQ(m.count("zero"), 0u) << m.text();
}

TEST(ForwardElements, WhatIsNotKnownIsRead) {
  PassText m(R"(fn f (%x: f32, %v: f32[3], %k: i64) -> (f32, f32, f32) {
  %0 = const 0 : i64
  %a = array %x, %x, %x : f32[3]
  %r = get %a[%k] : f32
  %b = set %a[%k] = %r : f32[3]
  %s = get %b[%0] : f32
  %c = set %v[%0] = %x : f32[3]
  %t = get %c[%0] : f32
  yield %r, %s, %t
}
)");
  m.apply(forward, {Value::f32(1), Value::floats(std::vector<float>{1, 2, 3}), Value::integer(2)});
  EXPECT_EQ(m.count("get"), 3u) << m.text();
}

/// Elements hold in the regions of what comes after them.
TEST(ForwardElements, BodiesSeeTheElements) {
  PassText m(R"(fn f [N] (%x: f32, %v: f32[N]) -> (f32[N]) {
  %0 = const 0 : i64
  %a = array %x, %x : f32[2]
  %r = nest (%i: N) -> collect[i] {
    %s = get %a[%0] : f32
    %t = get %v[%i] : f32
    %u = mul %s, %t : f32
    yield %u
  } : f32[N]
  yield %r
}
)");
  m.apply(forward, {Value::f32(3), Value::floats(std::vector<float>{1, 2, 3})});
  EXPECT_EQ(m.count("array"), 0u) << m.text();
}

TEST(ForwardElements, WorkIsLinear) {
  auto work = [](int n) {
    std::string text = "fn f (%x: f32) -> (f32) {\n  %0 = const 0 : i64\n  %s0 = const 0.0 : f32\n";
    for (int i = 0; i < n; ++i) {
      const std::string k = std::to_string(i), l = std::to_string(i + 1);
      text += "  %a" + k + " = array %s" + k + ", %x : f32[2]\n  %b" + k + " = get %a" + k +
              "[%0] : f32\n  %s" + l + " = add %b" + k + ", %x : f32\n";
    }
    PassText m(text + "  yield %s" + std::to_string(n) + "\n}\n");
    const uint64_t before = core::work.total();
    scalariseElements(m.module);
    return core::work.total() - before;
  };
  EXPECT_LE(work(400), 9 * work(50));
}

} // namespace
} // namespace melix::transforms
