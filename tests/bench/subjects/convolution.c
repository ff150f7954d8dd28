// Convolution of an n x n image with a window of 5 x 5, float: of a size known when compiling, of one that is
// not, and the gradient by the window.
#include "timing.h"

static inline void filter(const float* x, const float* w, float* restrict y, int64_t n, int64_t k) {
  for (int64_t i = 0; i <= n - k; ++i)
    for (int64_t j = 0; j <= n - k; ++j) {
      float sum = 0;
      for (int64_t a = 0; a < k; ++a)
        for (int64_t b = 0; b < k; ++b) sum += x[(i + a) * n + j + b] * w[a * k + b];
      y[i * (n - k + 1) + j] = sum;
    }
}

APART static void window_5(const float* x, const float* w, float* restrict y, int64_t n) {
  filter(x, w, y, n, 5);
}

APART static void window_k(const float* x, const float* w, float* restrict y, int64_t n, int64_t k) {
  filter(x, w, y, n, k);
}

/// Of half the mean of the squares of what is filtered.
APART static void gradient(const float* x, const float* w, float* restrict y, float* restrict g, int64_t n) {
  SUMS_IN_ANY_ORDER
  int64_t m = n - 4;
  window_5(x, w, y, n);
  for (int64_t a = 0; a < 5; ++a)
    for (int64_t b = 0; b < 5; ++b) {
      float sum = 0;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < m; ++j) sum += y[i * m + j] * x[(i + a) * n + j + b];
      g[a * 5 + b] = sum / (float)(m * m);
    }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), m = n - 4;
  float *x = vector32(n * n, 1), *w = vector32(25, 2), *y = zeros32(m * m), *g = zeros32(25);
  MEASURE("window_5", checksum32(y, m * m), window_5(x, w, y, n))
  MEASURE("window_k", checksum32(y, m * m), window_k(x, w, y, n, black_box(5)))
  MEASURE("gradient", checksum32(g, 25), gradient(x, w, y, g, n))
  return 0;
}
