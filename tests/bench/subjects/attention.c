// Soft-max attention of t places, e wide, a place after the other: a row of weights is all that is kept.
#include "timing.h"

typedef struct {
  int64_t t, e;
  const float *q, *k, *v, *g;
  float *weights, *slopes; ///< a row each
} Heads;

/// Weights of the first `n` places for place i.
static void weigh(const Heads* h, int64_t i, int64_t n) {
  SUMS_IN_ANY_ORDER
  float scale = sqrtf((float)h->e), most = -INFINITY, sum = 0;
  for (int64_t u = 0; u < n; ++u) {
    float score = 0;
    for (int64_t c = 0; c < h->e; ++c) score += h->q[i * h->e + c] * h->k[u * h->e + c];
    h->weights[u] = score / scale;
    most = larger(h->weights[u], most);
  }
  for (int64_t u = 0; u < n; ++u) sum += h->weights[u] = expf(h->weights[u] - most);
  for (int64_t u = 0; u < n; ++u) h->weights[u] /= sum;
}

APART static void attend(const Heads* h, bool before, float* restrict y) {
  for (int64_t i = 0; i < h->t; ++i, y += h->e) {
    int64_t n = before ? i + 1 : h->t;
    weigh(h, i, n);
    for (int64_t c = 0; c < h->e; ++c) y[c] = 0;
    for (int64_t u = 0; u < n; ++u)
      for (int64_t c = 0; c < h->e; ++c) y[c] += h->weights[u] * h->v[u * h->e + c];
  }
}

/// Gradients of sum(attend * g) by q, k and v, one behind the other.
APART static void gradient(const Heads* h, bool before, float* restrict d) {
  SUMS_IN_ANY_ORDER
  int64_t size = h->t * h->e;
  float *dq = d, *dk = d + size, *dv = d + 2 * size, scale = sqrtf((float)h->e);
  memset(d, 0, 3 * (size_t)size * sizeof *d);
  for (int64_t i = 0; i < h->t; ++i, dq += h->e) {
    int64_t n = before ? i + 1 : h->t;
    const float *q = h->q + i * h->e, *g = h->g + i * h->e;
    float mean = 0;
    weigh(h, i, n);
    for (int64_t u = 0; u < n; ++u) {
      float slope = 0;
      for (int64_t c = 0; c < h->e; ++c) {
        slope += g[c] * h->v[u * h->e + c];
        dv[u * h->e + c] += h->weights[u] * g[c];
      }
      h->slopes[u] = slope;
      mean += slope * h->weights[u];
    }
    for (int64_t u = 0; u < n; ++u) {
      float slope = h->weights[u] * (h->slopes[u] - mean) / scale;
      for (int64_t c = 0; c < h->e; ++c) {
        dq[c] += slope * h->k[u * h->e + c];
        dk[u * h->e + c] += slope * q[c];
      }
    }
  }
}

static double checksums(const float* d, int64_t n) {
  return checksum32(d, n) + checksum32(d + n, n) + checksum32(d + 2 * n, n);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int64_t t = argument(argv, 1), e = argument(argv, 2), n = t * e;
  Heads h = {t, e, vector32(n, 1), vector32(n, 2), vector32(n, 3), vector32(n, 4), zeros32(t), zeros32(t)};
  float *y = zeros32(n), *d = zeros32(3 * n);
  MEASURE("all", checksum32(y, n), attend(&h, false, y))
  MEASURE("before", checksum32(y, n), attend(&h, true, y))
  MEASURE("rows", checksum32(y, n), attend(&h, false, y))
  MEASURE("all_gradient", checksums(d, n), gradient(&h, false, d))
  MEASURE("before_gradient", checksums(d, n), gradient(&h, true, d))
  MEASURE("rows_gradient", checksums(d, n), gradient(&h, false, d))
  return 0;
}
