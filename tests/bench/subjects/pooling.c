// The largest of windows of images and of rows, images made larger, and the gradients of these; the gradient
// by images of windows with holes. Images of n x n with c channels, which stand inside or as planes.
#include "timing.h"

#define AT(x, i, j, k) (x)[((i) * n + (j)) * c + (k)]
#define IN(x, m, k, i, j) (x)[((k) * (m) + (i)) * (m) + (j)]

/// The places of the largest of a window of w x w at 2·i, 2·j, and of channel k.
static inline const float* largest(const float* x, int64_t i, int64_t j, int64_t k, int64_t n, int64_t c,
                                   int64_t w) {
  const float* best = &AT(x, 2 * i, 2 * j, k);
  for (int64_t a = 0; a < w; ++a)
    for (int64_t b = 0; b < w; ++b) {
      const float* at = &AT(x, 2 * i + a, 2 * j + b, k);
      if (*at > *best) best = at;
    }
  return best;
}

APART static void pooled(const float* x, float* restrict y, int64_t n, int64_t c) {
  for (int64_t i = 0; i < n / 2; ++i)
    for (int64_t j = 0; j < n / 2; ++j)
      for (int64_t k = 0; k < c; ++k) {
        const float top = larger(AT(x, 2 * i, 2 * j, k), AT(x, 2 * i, 2 * j + 1, k)),
                    low = larger(AT(x, 2 * i + 1, 2 * j, k), AT(x, 2 * i + 1, 2 * j + 1, k));
        y[(i * (n / 2) + j) * c + k] = larger(top, low);
      }
}

APART static void pooled_gradient(const float* x, float* restrict d, int64_t n, int64_t c, int64_t w) {
  memset(d, 0, (size_t)(n * n * c) * sizeof *d);
  const int64_t m = w == 2 ? n / 2 : (n - 1) / 2;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t k = 0; k < c; ++k) {
        const float* at = largest(x, i, j, k, n, c, w);
        d[at - x] += 2 * *at;
      }
}

APART static void planes_gradient(const float* x, float* restrict d, int64_t n, int64_t c) {
  memset(d, 0, (size_t)(n * n * c) * sizeof *d);
  for (int64_t k = 0; k < c; ++k)
    for (int64_t i = 0; i < n / 2; ++i)
      for (int64_t j = 0; j < n / 2; ++j) {
        const float* best = &IN(x, n, k, 2 * i, 2 * j);
        for (int64_t a = 0; a < 2; ++a)
          for (int64_t b = 0; b < 2; ++b)
            if (IN(x, n, k, 2 * i + a, 2 * j + b) > *best) best = &IN(x, n, k, 2 * i + a, 2 * j + b);
        d[best - x] += 2 * *best;
      }
}

APART static void enlarged(const float* x, float* restrict y, int64_t n, int64_t c) {
  for (int64_t k = 0; k < c; ++k)
    for (int64_t i = 0; i < 2 * n; ++i)
      for (int64_t j = 0; j < 2 * n; ++j) IN(y, 2 * n, k, i, j) = IN(x, n, k, i / 2, j / 2);
}

APART static void enlarged_gradient(const float* x, float* restrict d, int64_t n, int64_t c) {
  memset(d, 0, (size_t)(n * n * c) * sizeof *d);
  for (int64_t k = 0; k < c; ++k)
    for (int64_t i = 0; i < 2 * n; ++i)
      for (int64_t j = 0; j < 2 * n; ++j) IN(d, n, k, i / 2, j / 2) += 2 * IN(x, n, k, i / 2, j / 2);
}

APART static void dilated_gradient(const float* x, const float* w, float* restrict y, float* restrict d,
                                   int64_t n, int64_t c) {
  SUMS_IN_ANY_ORDER
  memset(d, 0, (size_t)(n * n * c) * sizeof *d);
  for (int64_t i = 0; i < n - 4; ++i)
    for (int64_t j = 0; j < n - 4; ++j) {
      for (int64_t o = 0; o < c; ++o) y[o] = 0;
      for (int64_t a = 0; a < 3; ++a)
        for (int64_t b = 0; b < 3; ++b)
          for (int64_t k = 0; k < c; ++k)
            for (int64_t o = 0; o < c; ++o)
              y[o] += AT(x, i + 2 * a, j + 2 * b, k) * w[((a * 3 + b) * c + k) * c + o];
      for (int64_t a = 0; a < 3; ++a)
        for (int64_t b = 0; b < 3; ++b)
          for (int64_t k = 0; k < c; ++k) {
            float sum = 0;
            for (int64_t o = 0; o < c; ++o) sum += 2 * y[o] * w[((a * 3 + b) * c + k) * c + o];
            AT(d, i + 2 * a, j + 2 * b, k) += sum;
          }
    }
}

APART static void argmax_rows(const float* x, int64_t* restrict y, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; ++i, x += m) {
    int64_t best = 0;
    for (int64_t j = 1; j < m; ++j)
      if (x[j] > x[best]) best = j;
    y[i] = best;
  }
}

APART static void max_rows_gradient(const float* x, float* restrict d, int64_t n, int64_t m) {
  memset(d, 0, (size_t)(n * m) * sizeof *d);
  for (int64_t i = 0; i < n; ++i, x += m, d += m) {
    int64_t best;
    argmax_rows(x, &best, 1, m);
    d[best] = 2 * x[best];
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int64_t n = argument(argv, 1), c = argument(argv, 2), all = n * n * c;
  float *x = vector32(all, 1), *w = vector32(9 * c * c, 2), *y = zeros32(4 * all), *d = zeros32(all);
  int64_t* best = allocate((size_t)n * sizeof *best);
  MEASURE("pooled", checksum32(y, n / 2 * (n / 2) * c), pooled(x, y, n, c))
  MEASURE("pooled_gradient", checksum32(d, all), pooled_gradient(x, d, n, c, 2))
  MEASURE("overlapping_gradient", checksum32(d, all), pooled_gradient(x, d, n, c, 3))
  MEASURE("planes_gradient", checksum32(d, all), planes_gradient(x, d, n, c))
  MEASURE("enlarged", checksum32(y, 4 * all), enlarged(x, y, n, c))
  MEASURE("enlarged_gradient", checksum32(d, all), enlarged_gradient(x, d, n, c))
  MEASURE("dilated_gradient", checksum32(d, all), dilated_gradient(x, w, y, d, n, c))
  MEASURE("argmax_rows", checksum_int(best, n), argmax_rows(x, best, n, n * c))
  MEASURE("max_rows_gradient", checksum32(d, all), max_rows_gradient(x, d, n, n * c))
  return 0;
}
