// Which of k centres is nearest to each of n points of d dimensions, float.
#include "timing.h"

APART static void assign(const float* points, const float* centres, int64_t* restrict nearest, int64_t n,
                         int64_t k, int64_t d) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i) {
    float least = INFINITY;
    for (int64_t c = 0; c < k; ++c) {
      float distance = 0;
      for (int64_t j = 0; j < d; ++j) {
        float difference = points[i * d + j] - centres[c * d + j];
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest[i] = c;
      }
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int64_t n = argument(argv, 1), k = argument(argv, 2), d = argument(argv, 3);
  float *points = vector32(n * d, 1), *centres = vector32(k * d, 2);
  int64_t* nearest = indices(n, 1, 0);
  MEASURE("assign", checksum_int(nearest, n), assign(points, centres, nearest, n, k, d))
  return 0;
}
