// Square roots of n numbers by Newton's method, each lane as many steps as it needs, and their slopes.
#include "timing.h"

static double most(double a, double b) { return a > b ? a : b; }

APART static void roots(const double* a, double* restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double x = most(a[i], 1);
    while (fabs(x * x - a[i]) > 1e-12 * most(a[i], 1)) x = 0.5 * (x + a[i] / x);
    y[i] = x;
  }
}

APART static void slopes(const double* a, double* restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double x = most(a[i], 1), dx = a[i] >= 1;
    while (fabs(x * x - a[i]) > 1e-12 * most(a[i], 1)) {
      dx = 0.5 * (dx + 1 / x - a[i] / (x * x) * dx);
      x = 0.5 * (x + a[i] / x);
    }
    y[i] = dx;
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  double *a = vector64(n, 1), *y = zeros64(n);
  for (int64_t i = 0; i < n; ++i) a[i] = 1000 * (0.5001 + a[i]);
  MEASURE("value", checksum64(y, n), roots(a, y, n))
  MEASURE("slope", checksum64(y, n), slopes(a, y, n))
  return 0;
}
