// Packs from outside of a nest are opened in front of it.
#include "transforms/hoisting/hoist_unpacks.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// What stands in front of the outermost nest, and how many of `word` that has.
size_t inFront(const PassText& m, std::string_view word) {
  const std::string all = m.text(), text = all.substr(0, all.find(" nest ("));
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

const std::string
    packed = "  %t = make %x, %y : (f32[N], f32[N])\n"
             "  %p = pack %t dims [N] : pack 1 (f32[_], f32[_])\n",
    opened = "%o = unpack %p defines [K] : (f32[K], f32[K])\n    %a = get %o.1 : f32[K]\n"
             "    %c = cast_dims %a : f32[N]\n",
    sum = "    %s = nest (%k: K) -> keep[] sum {\n      %e = get %a[%k] : f32\n"
          "      %g = get %c[%k] : f32\n      %d = mul %e, %g : f32\n      yield %d\n    } : f32\n";

TEST(HoistSizes, WhatIsOpenedAlikeAtAllPoints) {
  for (std::vector<float> x : {std::vector<float>{1, 2, 3}, std::vector<float>{}}) {
    const Value v = Value::floats(x, {static_cast<int64_t>(x.size())});
    PassText m("fn f [N] (%x: f32[N], %y: f32[N]) -> (f32[N]) {\n" + packed +
               "  %r = nest (%i: N) -> collect[i] {\n    " + opened + sum +
               "    yield %s\n  } : f32[N]\n  yield %r\n}\n");
    m.apply(hoistUnpacks, {v, v});
    EXPECT_EQ(inFront(m, "unpack"), 1u) << m.text();
    EXPECT_EQ(inFront(m, "get %"), 1u) << m.text();
    EXPECT_EQ(inFront(m, "cast_dims"), 1u) << m.text();
  }
}

TEST(HoistSizes, OutOfAllNestsThatItComesFromOutsideOf) {
  PassText m("fn f [N] (%x: f32[N], %y: f32[N]) -> (f32[N, N]) {\n" + packed +
             "  %r = nest (%i: N) -> collect[i] {\n    %q = nest (%j: N) -> collect[j] {\n    " + opened +
             sum + "    yield %s\n    } : f32[N]\n    yield %q\n  } : f32[N, N]\n  yield %r\n}\n");
  const Value v = Value::floats(std::vector<float>{1, 2, 3}, {3});
  m.apply(hoistUnpacks, {v, v});
  EXPECT_EQ(inFront(m, "unpack"), 1u) << m.text();
}

TEST(HoistSizes, NotWhatAPointMakes) {
  PassText m("fn f [N] (%x: f32[N], %y: f32[N]) -> (f32[N]) {\n  %r = nest (%i: N) -> collect[i] {\n" +
             packed + "    " + opened + sum + "    yield %s\n  } : f32[N]\n  yield %r\n}\n");
  const Value v = Value::floats(std::vector<float>{1, 2, 3}, {3});
  m.apply(hoistUnpacks, {v, v});
  EXPECT_EQ(inFront(m, "unpack"), 0u) << m.text();
}

} // namespace
} // namespace melix::transforms
