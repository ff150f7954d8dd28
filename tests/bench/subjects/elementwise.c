// Chains of element-wise operations on n numbers, float.
#include "timing.h"

APART static void chain(const float* x, const float* y, float* restrict z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float v = 2 * x[i] + y[i];
    z[i] = (v > 0 ? v : 0) * y[i] - x[i];
  }
}

APART static void axpy(float a, const float* x, const float* y, float* restrict z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = a * x[i] + y[i];
}

APART static float sum(const float* x, int64_t n) {
  SUMS_IN_ANY_ORDER
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  float *x = vector32(n, 1), *y = vector32(n, 2), *z = zeros32(n), total = 0;
  MEASURE("chain_whole", checksum32(z, n), chain(x, y, z, n))
  MEASURE("chain_named", checksum32(z, n), chain(x, y, z, n))
  MEASURE("chain_builder", checksum32(z, n), chain(x, y, z, n))
  MEASURE("axpy", checksum32(z, n), axpy(1.5f, x, y, z, n))
  MEASURE("sum", total, total = sum(x, n))
  return 0;
}
