// Products of an m x k and a k x n matrix, of floats, of integers, and of highest sums, and of matrices and
// vectors.
#include "timing.h"

#define PRODUCT(type, name)                                                                                  \
  APART static void name(const type* a, const type* b, type* restrict c, int64_t m, int64_t k, int64_t n) {  \
    memset(c, 0, (size_t)(m * n) * sizeof *c);                                                               \
    for (int64_t i = 0; i < m; ++i)                                                                          \
      for (int64_t l = 0; l < k; ++l)                                                                        \
        for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];                         \
  }
PRODUCT(float, product32)
PRODUCT(double, product64)
PRODUCT(int64_t, product_int)

APART static void highest(const float* a, const float* b, float* restrict c, int64_t m, int64_t k,
                          int64_t n) {
  for (int64_t i = 0; i < m * n; ++i) c[i] = -INFINITY;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) {
        float sum = a[i * k + l] + b[l * n + j];
        c[i * n + j] = sum > c[i * n + j] ? sum : c[i * n + j];
      }
}

static int64_t* integers(int64_t rows, int64_t columns, int64_t by_row, int64_t by_column) {
  int64_t* out = allocate((size_t)(rows * columns) * sizeof *out);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) out[i * columns + j] = (i * by_row + j * by_column) % 211 - 100;
  return out;
}

APART static void matrix_vector(const float* a, const float* x, float* restrict y, int64_t m, int64_t k) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < m; ++i) {
    float sum = 0;
    for (int64_t l = 0; l < k; ++l) sum += a[i * k + l] * x[l];
    y[i] = sum;
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int64_t m = argument(argv, 1), k = argument(argv, 2), n = argument(argv, 3);
  float *a = vector32(m * k, 1), *b = vector32(k * n, 2), *x = vector32(k, 3), *c = zeros32(m * n);
  double *a64 = vector64(m * k, 1), *b64 = vector64(k * n, 2), *c64 = zeros64(m * n);
  MEASURE("f32", checksum32(c, m * n), product32(a, b, c, m, k, n))
  MEASURE("f64", checksum64(c64, m * n), product64(a64, b64, c64, m, k, n))
  int64_t *whole = integers(m, k, 7919, 104729), *numbers = integers(k, n, 104729, 7919);
  int64_t* sums = allocate((size_t)(m * n) * sizeof *sums);
  MEASURE("int", checksum_int(sums, m * n), product_int(whole, numbers, sums, m, k, n))
  MEASURE("highest", checksum32(c, m * n), highest(a, b, c, m, k, n))
  MEASURE("matrix_vector", checksum32(c, m), matrix_vector(a, x, c, m, k))
  MEASURE("vector_matrix", checksum32(c, n), product32(x, b, c, 1, k, n))
  return 0;
}
