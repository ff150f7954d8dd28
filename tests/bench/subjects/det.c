// The determinant of an n x n matrix by expansion along the first row, and its gradient by the same recursion
// backwards.
#include "timing.h"

enum { most_n = 9 };

/// a without its first row and the column `col`.
static void minor(const double* a, double* m, int64_t n, int64_t col) {
  for (int64_t i = 0; i < n - 1; ++i)
    for (int64_t j = 0; j < n - 1; ++j) m[i * (n - 1) + j] = a[(i + 1) * n + (j < col ? j : j + 1)];
}

APART static double det(const double* a, int64_t n) {
  if (n == 0) return 1;
  double m[most_n * most_n], sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    minor(a, m, n, j);
    sum += (j % 2 == 0 ? 1 : -1) * a[j] * det(m, n - 1);
  }
  return sum;
}

/// Adds seed times the gradient to g; the determinant.
APART static double backwards(const double* a, double* g, double seed, int64_t n) {
  if (n == 0) return 1;
  double m[most_n * most_n], gm[most_n * most_n], sum = 0;
  for (int64_t col = 0; col < n; ++col) {
    double sign = col % 2 == 0 ? 1 : -1;
    minor(a, m, n, col);
    memset(gm, 0, (size_t)((n - 1) * (n - 1)) * sizeof *gm);
    double d = backwards(m, gm, seed * sign * a[col], n - 1);
    sum += sign * a[col] * d;
    g[col] += seed * sign * d;
    for (int64_t i = 0; i < n - 1; ++i)
      for (int64_t j = 0; j < n - 1; ++j) g[(i + 1) * n + (j < col ? j : j + 1)] += gm[i * (n - 1) + j];
  }
  return sum;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  double *a = vector64(n * n, 1), *g = zeros64(n * n), value = 0;
  MEASURE("value", value, value = det(a, n))
  MEASURE("gradient", checksum64(g, n * n), {
    memset(g, 0, (size_t)(n * n) * sizeof *g);
    backwards(a, g, 1, n);
  })
  return 0;
}
