// What is done with each row of an n x m matrix, float.
#include "timing.h"

static float largest(const float* x, int64_t m) {
  float most = x[0];
  for (int64_t j = 1; j < m; ++j) most = larger(x[j], most);
  return most;
}

APART static void softmax(const float* x, float* restrict y, int64_t n, int64_t m) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i, x += m, y += m) {
    float most = largest(x, m), sum = 0;
    for (int64_t j = 0; j < m; ++j) sum += y[j] = expf(x[j] - most);
    for (int64_t j = 0; j < m; ++j) y[j] /= sum;
  }
}

APART static void logsumexp(const float* x, float* restrict y, int64_t n, int64_t m) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i, x += m) {
    float most = largest(x, m), sum = 0;
    for (int64_t j = 0; j < m; ++j) sum += expf(x[j] - most);
    y[i] = most + logf(sum);
  }
}

APART static void log_softmax(const float* x, float* restrict y, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; ++i, x += m, y += m) {
    float sum;
    logsumexp(x, &sum, 1, m);
    for (int64_t j = 0; j < m; ++j) y[j] = x[j] - sum;
  }
}

APART static void layer_norm(const float* x, const float* scale, const float* bias, float* restrict y,
                             int64_t n, int64_t m) {
  SUMS_IN_ANY_ORDER
  for (int64_t i = 0; i < n; ++i, x += m, y += m) {
    float mean = 0, variance = 0;
    for (int64_t j = 0; j < m; ++j) mean += x[j];
    mean /= (float)m;
    for (int64_t j = 0; j < m; ++j) variance += (x[j] - mean) * (x[j] - mean);
    float factor = 1 / sqrtf(variance / (float)m + 1e-5f);
    for (int64_t j = 0; j < m; ++j) y[j] = (x[j] - mean) * factor * scale[j] + bias[j];
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int64_t n = argument(argv, 1), m = argument(argv, 2);
  float *x = vector32(n * m, 1), *scale = vector32(m, 2), *bias = vector32(m, 3), *y = zeros32(n * m);
  for (int64_t i = 0; i < n * m; ++i) x[i] *= 8;
  for (int64_t j = 0; j < m; ++j) scale[j] += 1;
  MEASURE("softmax", checksum32(y, n * m), softmax(x, y, n, m))
  MEASURE("log_softmax", checksum32(y, n * m), log_softmax(x, y, n, m))
  MEASURE("logsumexp", checksum32(y, n), logsumexp(x, y, n, m))
  MEASURE("layer_norm", checksum32(y, n * m), layer_norm(x, scale, bias, y, n, m))
  return 0;
}
