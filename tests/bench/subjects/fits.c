// GradBench's log-sum-exp of n numbers and least squares: a polynomial of m terms fitted to a step at n
// places. Gradients.
#include "timing.h"

APART static void softmax(const double* x, double* restrict g, int64_t n) {
  SUMS_IN_ANY_ORDER
  double most = x[0], sum = 0;
  for (int64_t i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
  for (int64_t i = 0; i < n; ++i) sum += g[i] = exp(x[i] - most);
  for (int64_t i = 0; i < n; ++i) g[i] /= sum;
}

APART static void least_squares(const double* x, double* restrict g, int64_t m, int64_t n) {
  memset(g, 0, (size_t)m * sizeof *g);
  for (int64_t i = 0; i < n; ++i) {
    double t = 2 * (double)i / (double)(n - 1) - 1, power = 1, fit = 0;
    for (int64_t j = 0; j < m; ++j, power *= t) fit += x[j] * power;
    double d = fit - (double)((t > 0) - (t < 0));
    power = 1;
    for (int64_t j = 0; j < m; ++j, power *= t) g[j] += d * power;
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int64_t n = argument(argv, 1), m = argument(argv, 2);
  double *x = vector64(n, 1), *y = vector64(m, 2), *gx = zeros64(n), *gy = zeros64(m);
  MEASURE("logsumexp", checksum64(gx, n), softmax(x, gx, n))
  MEASURE("least_squares", checksum64(gy, m), least_squares(y, gy, m, n))
  return 0;
}
