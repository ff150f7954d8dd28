// The Benchmarks Game's spectral norm: the largest singular value of a[i, j] = 1 / ((i + j)(i + j + 1) / 2 +
// i + 1).
#include "timing.h"

static double a(int64_t i, int64_t j) { return 1 / (double)((i + j) * (i + j + 1) / 2 + i + 1); }

APART static void times(const double* v, double* restrict y, int64_t n) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += a(i, j) * v[j];
    y[i] = sum;
  }
}

APART static void transposed_times(const double* v, double* restrict y, int64_t n) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += a(j, i) * v[j];
    y[i] = sum;
  }
}

static double dot(const double* x, const double* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

static double spectral_norm(double* u, double* v, double* w, int64_t n) {
  for (int64_t i = 0; i < n; ++i) u[i] = 1;
  for (int round = 0; round < 10; ++round) {
    times(u, w, n), transposed_times(w, v, n);
    times(v, w, n), transposed_times(w, u, n);
  }
  return sqrt(dot(u, v, n) / dot(v, v, n));
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  double *u = zeros64(n), *v = zeros64(n), *w = zeros64(n), norm = 0;
  MEASURE("norm", norm, norm = spectral_norm(u, v, w, n))
  return 0;
}
