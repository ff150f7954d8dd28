// melix_argsort is stable, puts NaN last and knows the order of every kind of element.
#include "runtime_fixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace melix::test {
namespace {

class Sort : public RuntimeTest {
protected:
  template <class T>
  std::vector<int64_t> order(int kind, const std::vector<T>& x, bool descending = false) {
    std::vector<int64_t> out(x.size(), -1);
    melix_argsort(task, scalar(kind), x.data(), static_cast<int64_t>(x.size()), descending, out.data());
    return out;
  }
  using Order = std::vector<int64_t>;
};

TEST_F(Sort, floats_with_nan_and_both_zeros) {
  float nan = std::nanf(""), inf = INFINITY;
  EXPECT_EQ(order<float>(MELIX_KIND_F32, {1, nan, -1, 0.0f, -inf, -0.0f, inf, -nan}),
            (Order{4, 2, 3, 5, 0, 6, 1, 7}));
  EXPECT_EQ(order<float>(MELIX_KIND_F32, {1, nan, -1, 0.0f, 1}, true), (Order{0, 4, 3, 2, 1}));
  EXPECT_EQ(order<double>(MELIX_KIND_F64, {3, -1e300, 1e-310, -1e-310}), (Order{1, 3, 2, 0}));
  EXPECT_EQ(order<uint16_t>(MELIX_KIND_BF16, {0x3f80, 0xbf80, 0x7fc0, 0x4000}), (Order{1, 0, 3, 2}));
}

TEST_F(Sort, integers_bools_and_texts) {
  EXPECT_EQ(order<int8_t>(MELIX_KIND_I8, {3, -128, 127, 0}), (Order{1, 3, 0, 2}));
  EXPECT_EQ(order<int64_t>(MELIX_KIND_I64, {INT64_MAX, INT64_MIN, 0}, true), (Order{0, 2, 1}));
  EXPECT_EQ(order<uint64_t>(MELIX_KIND_U64, {UINT64_MAX, 0, 1}), (Order{1, 2, 0}));
  EXPECT_EQ(order<uint8_t>(MELIX_KIND_BOOL, {1, 0, 1, 0}), (Order{1, 3, 0, 2}));
  EXPECT_EQ(order<MelixStr>(MELIX_KIND_STR, {str("b"), str(""), str("ab"), str("b")}), (Order{1, 2, 0, 3}));
  EXPECT_EQ(order<MelixStr>(MELIX_KIND_STR, {str("b"), str(""), str("ab"), str("b")}, true),
            (Order{0, 3, 2, 1}));
  EXPECT_EQ(order<int32_t>(MELIX_KIND_I32, {}), Order{});
}

TEST_F(Sort, agrees_with_a_stable_sort_of_the_library) {
  std::mt19937 random(5);
  for (size_t n : {1u, 2u, 3u, 100u, 1000u, 1023u}) {
    std::vector<int32_t> x(n);
    for (int32_t& v : x) v = static_cast<int32_t>(random() % 50) - 25;
    Order expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
      return x[static_cast<size_t>(a)] < x[static_cast<size_t>(b)];
    });
    EXPECT_EQ(order(MELIX_KIND_I32, x), expected);
  }
  EXPECT_EQ(live(), 0);
}

} // namespace
} // namespace melix::test
