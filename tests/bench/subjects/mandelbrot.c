// How soon the points of an n x n grid leave the Mandelbrot set, at most `limit` steps.
#include "timing.h"

static int64_t escape(double cx, double cy, int64_t limit) {
  double x = 0, y = 0;
  int64_t steps = 0;
  while (steps < limit && x * x + y * y <= 4) {
    double next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++steps;
  }
  return steps;
}

APART static void grid(int64_t* restrict steps, int64_t n, int64_t limit) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      steps[i * n + j] = escape(2 * (double)j / (double)n - 1.5, 2 * (double)i / (double)n - 1, limit);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int64_t n = argument(argv, 1), limit = argument(argv, 2);
  int64_t* steps = allocate((size_t)(n * n) * sizeof *steps);
  MEASURE("grid", checksum_int(steps, n * n), grid(steps, n, limit))
  return 0;
}
