// Conway's life on a torus of n x n cells.
#include "timing.h"

APART static void step(const uint8_t* x, uint8_t* restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int64_t up = (i + n - 1) % n * n, down = (i + 1) % n * n, left = (j + n - 1) % n, right = (j + 1) % n;
      uint8_t around = x[up + left] + x[up + j] + x[up + right] + x[i * n + left] + x[i * n + right] +
                       x[down + left] + x[down + j] + x[down + right];
      y[i * n + j] = around == 3 || (around == 2 && x[i * n + j] == 1);
    }
}

static int64_t life(const uint8_t* start, uint8_t* x, uint8_t* y, int64_t n, int64_t steps) {
  int64_t alive = 0;
  memcpy(x, start, (size_t)(n * n));
  for (int64_t s = 0; s < steps; ++s) {
    step(x, y, n);
    uint8_t* kept = x;
    x = y;
    y = kept;
  }
  for (int64_t i = 0; i < n * n; ++i) alive += x[i];
  return alive;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int64_t n = argument(argv, 1), steps = argument(argv, 2), alive = 0;
  uint8_t *start = allocate((size_t)(n * n)), *x = allocate((size_t)(n * n)), *y = allocate((size_t)(n * n));
  for (int64_t i = 0; i < n * n; ++i) start[i] = sample(i, 1) > 0.2;
  MEASURE("steps", alive, alive = life(start, x, y, n, steps))
  return 0;
}
