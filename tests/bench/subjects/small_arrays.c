// Work with arrays of few elements, n times.
#include "timing.h"

typedef float* restrict Out;

#define PRODUCTS(m)                                                                                          \
  APART static void products_##m(const float* a, const float* b, Out c, int64_t n) {                         \
    for (int64_t s = 0; s < n; ++s, a += m * m, b += m * m, c += m * m)                                      \
      for (int i = 0; i < m; ++i) {                                                                          \
        float row[m] = {0};                                                                                  \
        for (int k = 0; k < m; ++k)                                                                          \
          for (int j = 0; j < m; ++j) row[j] += a[i * m + k] * b[k * m + j];                                 \
        memcpy(c + i * m, row, sizeof row);                                                                  \
      }                                                                                                      \
  }
PRODUCTS(3)
PRODUCTS(4)

APART static void cross(const float* a, const float* b, Out c, int64_t n) {
  for (int64_t s = 0; s < n; ++s, a += 3, b += 3, c += 3) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
  }
}

APART static void units(const float* a, Out c, int64_t n) {
  for (int64_t s = 0; s < n; ++s, a += 3, c += 3) {
    float length = sqrtf(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + 1);
    for (int k = 0; k < 3; ++k) c[k] = a[k] / length;
  }
}

static void lorenz(const double* s, double* d) {
  d[0] = 10 * (s[1] - s[0]);
  d[1] = s[0] * (28 - s[2]) - s[1];
  d[2] = s[0] * s[1] - 8 / 3.0 * s[2];
}

/// y = s + h k
static void moved(const double* s, double h, const double* k, double* y) {
  for (int i = 0; i < 3; ++i) y[i] = s[i] + h * k[i];
}

/// Runge and Kutta's method of order 4.
static void step(double* s, double h) {
  double k1[3], k2[3], k3[3], k4[3], y[3];
  lorenz(s, k1);
  moved(s, h / 2, k1, y), lorenz(y, k2);
  moved(s, h / 2, k2, y), lorenz(y, k3);
  moved(s, h, k3, y), lorenz(y, k4);
  for (int i = 0; i < 3; ++i) s[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}

APART static void orbit(double* s, int64_t steps) {
  s[0] = 1, s[1] = 2, s[2] = 20;
  for (int64_t i = 0; i < steps; ++i) step(s, 1e-6);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  float *a = vector32(16 * n, 1), *b = vector32(16 * n, 2), *c = zeros32(16 * n);
  double* s = zeros64(3);
  MEASURE("products_3", checksum32(c, 9 * n), products_3(a, b, c, n))
  MEASURE("products_4", checksum32(c, 16 * n), products_4(a, b, c, n))
  MEASURE("cross", checksum32(c, 3 * n), cross(a, b, c, n))
  MEASURE("units", checksum32(c, 3 * n), units(a, c, n))
  MEASURE("runge_kutta", checksum64(s, 3), orbit(s, n))
  return 0;
}
