// Nests: kinds of results, order of float reductions, accumulators.
#include "interp/run_text.h"

#include <cmath>

namespace melix::interp {
namespace {

TEST(InterpNest, MatrixProduct) {
  Running m(R"(fn f [M, K, N] (%x: f32[M, K], %y: f32[K, N]) -> (f32[M, N]) {
  %r = nest (%i: M, %j: N, %k: K) -> keep[i, j] sum {
    %a = get %x[%i, %k] : f32
    %b = get %y[%k, %j] : f32
    %p = mul %a, %b : f32
    yield %p
  } : f32[M, N]
  yield %r
}
)");
  std::vector<float> x{1, 2, 3, 4, 5, 6}, y{1, 0, 0, 1, 1, 1};
  std::vector<Value> r = m.run({Value::floats(x, {2, 3}), Value::floats(y, {3, 2})});
  EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{4, 5, 10, 11}));
}

TEST(InterpNest, KeptAxesMayBePermutedAndAnywhere) {
  Running m(R"(fn f [M, N] (%x: f32[M, N]) -> (f32[N, M], f32[N], f32[M], f32) {
  %t, %c, %r, %a = nest (%i: M, %j: N) -> collect[j, i], keep[j] sum, keep[i] max, keep[] prod {
    %v = get %x[%i, %j] : f32
    yield %v, %v, %v, %v
  } : f32[N, M], f32[N], f32[M], f32
  yield %t, %c, %r, %a
}
)");
  std::vector<float> x{1, 2, 3, 4, 5, 6};
  std::vector<Value> r = m.run({Value::floats(x, {2, 3})});
  EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(floatsOf(r[1]), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(floatsOf(r[2]), (std::vector<float>{3, 6}));
  EXPECT_EQ(r[3].asF32(), 720.0f);
}

TEST(InterpNest, EmptyReductionsGiveTheUnit) {
  Running m(R"(fn f [M, N] (%x: f32[M, N]) -> (f32[M], f32[M]) {
  %a, %b = nest (%i: M, %j: N) -> keep[i] sum lanes(64, j), keep[i] max {
    %v = get %x[%i, %j] : f32
    yield %v, %v
  } : f32[M], f32[M]
  yield %a, %b
}
)");
  std::vector<Value> r = m.run({Value::floats({}, {2, 0})});
  EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{0, 0}));
  EXPECT_EQ(floatsOf(r[1]), (std::vector<float>{-INFINITY, -INFINITY}));
}

TEST(InterpNest, ArgMaxGivesTheFirstMaximumOrTheFirstNan) {
  Running m(R"(fn f [M, N] (%x: f32[M, N]) -> (i64, i64, i64[M]) {
  %a, %b = nest (%i: M, %j: N) -> keep[] argmax {
    %v = get %x[%i, %j] : f32
    yield %v
  } : i64, i64
  %c = nest (%i$1: M, %j$1: N) -> keep[i$1] argmin {
    %v$1 = get %x[%i$1, %j$1] : f32
    yield %v$1
  } : i64[M]
  yield %a, %b, %c
}
)");
  std::vector<Value> r = m.run({Value::floats(std::vector<float>{1, 5, 2, 5, 0, 3}, {2, 3})});
  EXPECT_EQ(r[0].asInteger(), 0);
  EXPECT_EQ(r[1].asInteger(), 1);
  EXPECT_EQ(r[2].asArray().at(0).i, 0);
  EXPECT_EQ(r[2].asArray().at(1).i, 1);
  r = m.run({Value::floats(std::vector<float>{1, 5, 2, 5, NAN, NAN}, {2, 3})});
  EXPECT_EQ(r[0].asInteger(), 1);
  EXPECT_EQ(r[1].asInteger(), 1);
}

std::string sumText(const char* order) {
  return std::string("fn f [N] (%x: f32[N]) -> (f32) {\n  %r = nest (%i: N) -> keep[] sum ") + order + R"( {
    %v = get %x[%i] : f32
    %p = mul %v, %v : f32
    yield %p
  } : f32
  yield %r
}
)";
}

std::vector<float> someFloats(size_t n) {
  std::vector<float> x(n);
  uint32_t state = 1;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) * 0x1p-24f - 0.3f;
  }
  return x;
}

TEST(InterpNest, ChainAddsBlocksOf8192InIndexOrder) {
  std::vector<float> x = someFloats(20000);
  float total = -0.0f;
  for (size_t b = 0; b < x.size(); b += 8192) {
    float block = 0;
    for (size_t k = b; k < std::min(b + 8192, x.size()); ++k) block += x[k] * x[k];
    total += block;
  }
  EXPECT_EQ(Running(sumText("chain")).run({Value::floats(x)})[0].asF32(), total);
}

TEST(InterpNest, FusedChainUsesFma) {
  std::vector<float> x = someFloats(5000);
  float block = 0;
  for (float v : x) block = std::fma(v, v, block);
  EXPECT_EQ(Running(sumText("chain fused")).run({Value::floats(x)})[0].asF32(), block);
}

TEST(InterpNest, LanesAreCombinedPairwise) {
  std::vector<float> x = someFloats(9000);
  float total = -0.0f;
  for (size_t b = 0; b < x.size(); b += 8192) {
    float lanes[64] = {};
    for (size_t k = b; k < std::min(b + 8192, x.size()); ++k) lanes[(k - b) % 64] += x[k] * x[k];
    for (int half = 32; half >= 1; half /= 2)
      for (int k = 0; k < half; ++k) lanes[k] += lanes[k + half];
    total += lanes[0];
  }
  EXPECT_EQ(Running(sumText("lanes(64, i)")).run({Value::floats(x)})[0].asF32(), total);
}

TEST(InterpNest, AccumulatorsScatter) {
  Running m(R"(fn f [N, B] (%x: f32[N], %bin: i64[N], %h: f32[B]) -> (f32[B]) {
  %r = nest (%i: N) -> accs (%a = %h) {
    %v = get %x[%i] : f32
    %k = get %bin[%i] : i64
    %b = add_at %a[%k] += %v : acc f32[B]
    yield %b
  } : f32[B]
  yield %r
}
)");
  std::vector<int64_t> bins{1, 0, 1}, dims{3};
  std::vector<Value> r =
      m.run({Value::floats(std::vector<float>{1, 2, 3}), Value::array(TypeKind::I64, dims, bins.data()),
             Value::floats(std::vector<float>{10, 20})});
  EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{12, 24}));
}

TEST(InterpNest, FiltersKeepTheOrder) {
  Running m(R"(fn f [N] (%x: f32[N]) -> (f32[K]) defines [K] {
  %z = const 0.0 : f32
  %r = nest (%i: N) -> filter defines [K$1] {
    %v = get %x[%i] : f32
    %c = cmp gt %v, %z : bool
    yield %c, %v
  } : f32[K$1]
  yield %r dims [K$1]
}
)");
  std::vector<Value> r = m.run({Value::floats(std::vector<float>{3, -1, 2, 0, 5})});
  EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{3, 2, 5}));
}

TEST(InterpNest, CombineRunsARegion) {
  Running m(R"(fn f [M, N] (%x: f32[M, N]) -> (f32[M], f32[M]) {
  %u = const 1.0 : f32
  %w = const 0.0 : f32
  %a, %b = nest (%i: M, %j: N) -> keep[i] combine 2 region 1 units (%u, %w) {
    %v = get %x[%i, %j] : f32
    %n = const 2.0 : f32
    yield %n, %v
  } { (%s: f32, %t: f32, %p: f32, %q: f32)
    %k = mul %s, %p : f32
    %l = mul %t, %p : f32
    %m = add %l, %q : f32
    yield %k, %m
  } : f32[M], f32[M]
  yield %a, %b
}
)");
  std::vector<Value> r = m.run({Value::floats(std::vector<float>{1, 2, 3, 4}, {2, 2})});
  EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{4, 4}));
  EXPECT_EQ(floatsOf(r[1]), (std::vector<float>{4, 10}));
}

TEST(InterpNest, SumsOfArraysAndArrayValuedBodies) {
  Running m(R"(fn f [M, N] (%x: f32[M, N]) -> (f32[N], f32[M, N]) {
  %s, %c = nest (%i: M) -> keep[] sum, collect[i] {
    %row = get %x[%i] : f32[N]
    %d = nest (%j: N) -> collect[j] {
      %v = get %row[%j] : f32
      %w = add %v, %v : f32
      yield %w
    } : f32[N]
    yield %row, %d
  } : f32[N], f32[M, N]
  yield %s, %c
}
)");
  int64_t before = liveObjects();
  {
    std::vector<Value> r = m.run({Value::floats(std::vector<float>{1, 2, 3, 4}, {2, 2})});
    EXPECT_EQ(floatsOf(r[0]), (std::vector<float>{4, 6}));
    EXPECT_EQ(floatsOf(r[1]), (std::vector<float>{2, 4, 6, 8}));
  }
  EXPECT_EQ(liveObjects(), before);
}

TEST(InterpNest, WithoutAxesTheBodyRunsOnce) {
  Running m(R"(fn f (%x: f32) -> (f32, f32) {
  %a, %b = nest () -> collect[], keep[] sum {
    yield %x, %x
  } : f32, f32
  yield %a, %b
}
)");
  std::vector<Value> r = m.run({Value::f32(3)});
  EXPECT_EQ(r[0].asF32(), 3.0f);
  EXPECT_EQ(r[1].asF32(), 3.0f);
}

} // namespace
} // namespace melix::interp
