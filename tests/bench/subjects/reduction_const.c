// Reductions of rows whose length is known when compiling, float.
#include "timing.h"

typedef float* restrict Out;

#define ROWS(m)                                                                                              \
  APART static void rows_##m(const float* x, Out y, int64_t n) {                                             \
    SUMS_IN_ANY_ORDER                                                                                        \
    for (int64_t i = 0; i < n; ++i) {                                                                        \
      float sum = 0;                                                                                         \
      for (int j = 0; j < m; ++j) sum += x[i * m + j];                                                       \
      y[i] = sum;                                                                                            \
    }                                                                                                        \
  }
ROWS(3)
ROWS(5)
ROWS(8)

APART static void dots(const float* x, const float* w, Out y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[3 * i] * w[0] + x[3 * i + 1] * w[1] + x[3 * i + 2] * w[2];
}

APART static void taps(const float* x, const float* w, Out y, int64_t n) {
  for (int64_t i = 0; i < n - 4; ++i) {
    float sum = 0;
    for (int k = 0; k < 5; ++k) sum += x[i + k] * w[k];
    y[i] = sum;
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  float *x = vector32(8 * n, 1), *w = vector32(5, 2), *y = zeros32(3 * n);
  MEASURE("rows_3", checksum32(y, n), rows_3(x, y, n))
  MEASURE("rows_5", checksum32(y, n), rows_5(x, y, n))
  MEASURE("rows_8", checksum32(y, n), rows_8(x, y, n))
  MEASURE("dots_3", checksum32(y, n), dots(x, w, y, n))
  MEASURE("taps_5", checksum32(y, 3 * n - 4), taps(x, w, y, 3 * n))
  return 0;
}
