// One product of n x n matrices of floats, spelled in twelve ways.
#include "timing.h"

typedef float* restrict Out;

/// c = a b, of n x k and k x m.
APART static void product(const float* a, const float* b, Out c, int64_t n, int64_t k, int64_t m) {
  memset(c, 0, (size_t)(n * m) * sizeof *c);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < m; ++j) c[i * m + j] += a[i * k + l] * b[l * m + j];
}

APART static void transposed_result(const float* a, const float* b, Out c, Out scratch, int64_t n) {
  product(a, b, scratch, n, n, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) c[j * n + i] = scratch[i * n + j];
}

/// a times the transpose of b.
APART static void times_transposed(const float* a, const float* b, Out c, int64_t n) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < n; ++k) sum += a[i * n + k] * b[j * n + k];
      c[i * n + j] = sum;
    }
}

/// The transpose of a, times b.
APART static void transposed_times(const float* a, const float* b, Out c, int64_t n) {
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[k * n + i] * b[k * n + j];
}

APART static void scaled(const float* a, const float* b, Out c, int64_t n, float s) {
  product(a, b, c, n, n, n);
  for (int64_t i = 0; i < n * n; ++i) c[i] *= s;
}

APART static void biased(const float* a, const float* b, const float* bias, Out c, int64_t n) {
  product(a, b, c, n, n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float v = c[i * n + j] + bias[j];
      c[i * n + j] = v > 0 ? v : 0;
    }
}

APART static void prologue(const float* a, const float* mu, const float* b, Out c, int64_t n) {
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += (a[i * n + k] - mu[k]) * b[k * n + j];
}

APART static void gathered(const float* a, const int64_t* rows, const float* b, Out c, int64_t n) {
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[rows[i] * n + k] * b[k * n + j];
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), nn = n * n;
  float *a = vector32(nn, 1), *b = vector32(nn, 2), *bias = vector32(n, 3);
  int64_t* rows = indices(n, n, 4);
  float *c = zeros32(4 * nn), *d = zeros32(nn), *batch = zeros32(4 * nn);
  for (int64_t i = 0; i < 4 * nn; ++i) batch[i] = a[i % nn] + (float)(i / nn);
  MEASURE("at", checksum32(c, nn), product(a, b, c, n, n, n))
  MEASURE("builder", checksum32(c, nn), product(a, b, c, n, n, n))
  MEASURE("permuted", checksum32(c, nn), transposed_result(a, b, c, d, n))
  MEASURE("transposed", checksum32(c, nn), times_transposed(a, b, c, n))
  MEASURE("batched", checksum32(c, 4 * nn), {
    for (int64_t i = 0; i < 4; ++i) product(batch + i * nn, batch + i * nn, c + i * nn, n, n, n);
  })
  MEASURE("scaled", checksum32(c, nn), scaled(a, b, c, n, 0.5f))
  MEASURE("biased", checksum32(c, nn), biased(a, b, bias, c, n))
  MEASURE("two_axes", checksum32(c, nn), product(a, b, c, n, n, n))
  MEASURE("prologue", checksum32(c, nn), prologue(a, bias, b, c, n))
  MEASURE("gathered", checksum32(c, nn), gathered(a, rows, b, c, n))
  MEASURE("field", checksum32(c, nn), product(a, b, c, n, n, n))
  MEASURE("in_gradient", checksum32(d, nn), {
    product(a, b, c, n, n, n);
    transposed_times(a, c, d, n);
  })
  return 0;
}
