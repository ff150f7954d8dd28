// Prefix sums of n numbers.
#include "timing.h"

APART static void cumsum(const float* x, float* restrict y, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) y[i] = sum += x[i];
}

APART static void cumsum_int(const int64_t* x, int64_t* restrict y, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) y[i] = sum += x[i];
}

APART static void scan_max(const float* x, float* restrict y, int64_t n) {
  float most = 0;
  for (int64_t i = 0; i < n; ++i) y[i] = most = x[i] > most ? x[i] : most;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), *k = indices(n, 100, 1), *sums = indices(n, 1, 0);
  float *x = vector32(n, 1), *y = zeros32(n);
  for (int64_t i = 0; i < n; ++i) x[i] += 0.5f;
  MEASURE("cumsum", checksum32(y, n), cumsum(x, y, n))
  MEASURE("cumsum_int", checksum_int(sums, n), cumsum_int(k, sums, n))
  MEASURE("scan_max", checksum32(y, n), scan_max(x, y, n))
  MEASURE("loop", checksum32(y, n), cumsum(x, y, n))
  return 0;
}
