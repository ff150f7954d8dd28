// The functions of numbers; what Melix does on intervals is beside them too.
#include "timing.h"

static double polynomial(double x) {
  double s = 0;
  for (int k = 0; k < 16; ++k) s = s * x + 0.5;
  return s;
}

static double newton(double a) {
  double x = a;
  for (int k = 0; k < 8; ++k) x = 0.5 * (x + a / x);
  return x;
}

static double elementary(double x) { return exp(x) * sin(x) + sqrt(x * x + x) / (1.5 + cos(x)) - log(x + 2); }

APART static double rosenbrock(const double* x, int64_t n) {
  double s = 0;
  for (int64_t i = 0; i + 1 < n; ++i) {
    double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    s += 100 * (a * a) + b * b;
  }
  return s;
}

#define CHAIN(NAME, F)                                                                                       \
  APART static double NAME(double y, int64_t n) {                                                            \
    for (int64_t i = 0; i < n; ++i) y = 0.25 + 0.001 * F(y);                                                 \
    return y;                                                                                                \
  }
#define EACH(NAME, F)                                                                                        \
  APART static void NAME(const double* x, double* restrict y, int64_t n) {                                   \
    for (int64_t i = 0; i < n; ++i) y[i] = F(x[i]);                                                          \
  }
CHAIN(chained, polynomial)
CHAIN(chained_elementary, elementary)
EACH(polynomials, polynomial)
EACH(roots, newton)
EACH(elementaries, elementary)

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  double *x = vector64(n, 1), *y = zeros64(n), s = 0;
  for (int64_t i = 0; i < n; ++i) x[i] = 0.75 + 0.5 * x[i];
  for (int again = 0; again < 2; ++again) {
    MEASURE(again ? "chain_intervals" : "chain", s, s = chained(x[0], n))
    MEASURE(again ? "chain_elementary_intervals" : "chain_elementary", s, s = chained_elementary(x[0], n))
    MEASURE(again ? "polynomial_intervals" : "polynomial", checksum64(y, n), polynomials(x, y, n))
    MEASURE(again ? "newton_intervals" : "newton", checksum64(y, n), roots(x, y, n))
    MEASURE(again ? "elementary_intervals" : "elementary", checksum64(y, n), elementaries(x, y, n))
    MEASURE(again ? "rosenbrock_intervals" : "rosenbrock", s, s = rosenbrock(x, n))
  }
  return 0;
}
