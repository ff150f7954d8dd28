// Convolution of a batch of images with channels, float, with windows of 3 x 3: as it is, every other pixel,
// with holes, of a size that is not known when compiling, and the gradients by images and windows.
#include "timing.h"

typedef struct {
  int64_t batch, n, c, o, k; ///< images, their side, channels in and out, side of the window
  int64_t stride, hole;      ///< pixels from a place to the next, and from a pixel of the window to the next
} Shape;

static inline int64_t sideOf(Shape s) { return (s.n - s.hole * (s.k - 1) - 1) / s.stride + 1; }

static inline const float* pixel(const float* x, Shape s, int64_t image, int64_t i, int64_t j, int64_t a,
                                 int64_t b) {
  return x + ((image * s.n + s.stride * i + s.hole * a) * s.n + s.stride * j + s.hole * b) * s.c;
}

/// For each place all outputs side by side.
static inline void filter(const float* x, const float* w, float* restrict y, Shape s) {
  int64_t m = sideOf(s);
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < m; ++j, y += s.o) {
        for (int64_t o = 0; o < s.o; ++o) y[o] = 0;
        for (int64_t a = 0; a < s.k; ++a)
          for (int64_t b = 0; b < s.k; ++b) {
            const float* p = pixel(x, s, image, i, j, a, b);
            for (int64_t c = 0; c < s.c; ++c)
              for (int64_t o = 0; o < s.o; ++o) y[o] += p[c] * w[((a * s.k + b) * s.c + c) * s.o + o];
          }
      }
}

APART static void window_3(const float* x, const float* w, float* restrict y, Shape s) {
  filter(x, w, y, (Shape){s.batch, s.n, s.c, s.o, 3, 1, 1});
}
APART static void strided(const float* x, const float* w, float* restrict y, Shape s) {
  filter(x, w, y, (Shape){s.batch, s.n, s.c, s.o, 3, 2, 1});
}
APART static void dilated(const float* x, const float* w, float* restrict y, Shape s) {
  filter(x, w, y, (Shape){s.batch, s.n, s.c, s.o, 3, 1, 2});
}
APART static void window_k(const float* x, const float* w, float* restrict y, Shape s) {
  filter(x, w, y, (Shape){s.batch, s.n, s.c, s.o, s.k, 1, 1});
}

/// Of half the sum of the squares of what is filtered, by the images.
APART static void by_images(const float* x, const float* w, float* restrict y, float* restrict g, Shape s) {
  SUMS_IN_ANY_ORDER
  window_3(x, w, y, s);
  int64_t m = sideOf(s);
  for (int64_t k = 0; k < s.batch * s.n * s.n * s.c; ++k) g[k] = 0;
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < m; ++j, y += s.o)
        for (int64_t a = 0; a < 3; ++a)
          for (int64_t b = 0; b < 3; ++b) {
            float* p = g + (pixel(x, s, image, i, j, a, b) - x);
            for (int64_t c = 0; c < s.c; ++c) {
              float sum = 0;
              for (int64_t o = 0; o < s.o; ++o) sum += y[o] * w[((a * 3 + b) * s.c + c) * s.o + o];
              p[c] += sum;
            }
          }
}

/// The same, by the windows.
APART static void by_windows(const float* x, const float* w, float* restrict y, float* restrict g, Shape s) {
  window_3(x, w, y, s);
  int64_t m = sideOf(s);
  for (int64_t k = 0; k < 9 * s.c * s.o; ++k) g[k] = 0;
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < m; ++j, y += s.o)
        for (int64_t a = 0; a < 3; ++a)
          for (int64_t b = 0; b < 3; ++b) {
            const float* p = pixel(x, s, image, i, j, a, b);
            for (int64_t c = 0; c < s.c; ++c)
              for (int64_t o = 0; o < s.o; ++o) g[((a * 3 + b) * s.c + c) * s.o + o] += p[c] * y[o];
          }
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  Shape s = {argument(argv, 1), argument(argv, 2), argument(argv, 3), argument(argv, 4), black_box(3), 1, 1};
  Shape every = s, holes = s;
  every.stride = 2, holes.hole = 2;
  int64_t side = sideOf(s), pixels = s.batch * s.n * s.n * s.c, weights = 9 * s.c * s.o;
  float *x = vector32(pixels, 1), *w = vector32(weights, 2), *y = zeros32(s.batch * side * side * s.o);
  float *gx = zeros32(pixels), *gw = zeros32(weights);
  int64_t places = s.batch * side * side * s.o;
  MEASURE("window_3", checksum32(y, places), window_3(x, w, y, s))
  MEASURE("strided", checksum32(y, s.batch * sideOf(every) * sideOf(every) * s.o), strided(x, w, y, s))
  MEASURE("dilated", checksum32(y, s.batch * sideOf(holes) * sideOf(holes) * s.o), dilated(x, w, y, s))
  MEASURE("window_k", checksum32(y, places), window_k(x, w, y, s))
  MEASURE("by_images", checksum32(gx, pixels), by_images(x, w, y, gx, s))
  MEASURE("by_windows", checksum32(gw, weights), by_windows(x, w, y, gw, s))
  return 0;
}
