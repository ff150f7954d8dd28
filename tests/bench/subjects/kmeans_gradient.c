// GradBench's k-means: the gradient of the sum of squared distances of n points to the nearest of k centres,
// and Newton's direction, the gradient divided by the diagonal of the Hessian (which has nothing else).
#include "timing.h"

static int64_t n, k, d;

/// The centre nearest to a point.
static int64_t nearest(const double* centres, const double* point, double* least) {
  SUMS_IN_ANY_ORDER
  int64_t at = 0;
  *least = INFINITY;
  for (int64_t c = 0; c < k; ++c) {
    double distance = 0;
    for (int64_t j = 0; j < d; ++j) {
      double difference = centres[c * d + j] - point[j];
      distance += difference * difference;
    }
    if (distance < *least) *least = distance, at = c;
  }
  return at;
}

APART static double cost(const double* centres, const double* points) {
  double total = 0, least;
  for (int64_t i = 0; i < n; ++i) {
    nearest(centres, points + i * d, &least);
    total += least;
  }
  return total;
}

/// The gradient, and how many points each centre has.
APART static void gradient(const double* centres, const double* points, double* restrict g,
                           double* restrict count) {
  double least;
  memset(g, 0, (size_t)(k * d) * sizeof *g);
  memset(count, 0, (size_t)k * sizeof *count);
  for (int64_t i = 0; i < n; ++i) {
    int64_t c = nearest(centres, points + i * d, &least);
    count[c] += 1;
    for (int64_t j = 0; j < d; ++j) g[c * d + j] += 2 * (centres[c * d + j] - points[i * d + j]);
  }
}

static void direction(const double* centres, const double* points, double* g, double* count) {
  gradient(centres, points, g, count);
  for (int64_t i = 0; i < k * d; ++i) g[i] /= 2 * count[i / d];
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  n = argument(argv, 1), k = argument(argv, 2), d = argument(argv, 3);
  double *points = vector64(n * d, 1), *centres = vector64(k * d, 1), *g = zeros64(k * d),
         *count = zeros64(k);
  for (int64_t i = 0; i < k * d; ++i) centres[i] *= 0.9;
  double value = 0;
  MEASURE("cost", value, value = cost(centres, points))
  MEASURE("gradient", checksum64(g, k * d), gradient(centres, points, g, count))
  MEASURE("direction", checksum64(g, k * d), direction(centres, points, g, count))
  return 0;
}
