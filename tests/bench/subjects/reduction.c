// Reductions of a matrix of n rows and m columns, float.
#include "timing.h"

typedef float* restrict Out;

APART static void inner(const float* x, Out y, int64_t n, int64_t m) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < m; ++j) sum += x[i * m + j];
    y[i] = sum;
  }
}

APART static void outer(const float* x, Out y, int64_t n, int64_t m) {
  SUMS_IN_ANY_ORDER
  if (m == 1) {
    inner(x, y, 1, n);
    return;
  }
  memset(y, 0, (size_t)m * sizeof *y);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) y[j] += x[i * m + j];
}

APART static void largest(const float* x, Out y, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; ++i) {
    float most = -INFINITY;
    for (int64_t j = 0; j < m; ++j) most = larger(x[i * m + j], most);
    y[i] = most;
  }
}

APART static void squares(const float* x, Out y, int64_t n, int64_t m) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < m; ++j) sum += x[i * m + j] * x[i * m + j];
    y[i] = sum;
  }
}

APART static void weighted_rows(const float* x, const float* w, Out y, int64_t n, int64_t m) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < m; ++j) sum += x[i * m + j] * w[j];
    y[i] = sum;
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int64_t n = argument(argv, 1), m = argument(argv, 2);
  float *x = vector32(n * m, 1), *w = vector32(m, 2), *y = zeros32(n > m ? n : m);
  MEASURE("inner", checksum32(y, n), inner(x, y, n, m))
  MEASURE("outer", checksum32(y, m), outer(x, y, n, m))
  MEASURE("both", y[0], inner(x, y, 1, n * m))
  MEASURE("largest", checksum32(y, n), largest(x, y, n, m))
  MEASURE("squares", checksum32(y, n), squares(x, y, n, m))
  MEASURE("weighted", checksum32(y, n), weighted_rows(x, w, y, n, m))
  return 0;
}
