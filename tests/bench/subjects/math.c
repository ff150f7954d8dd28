// Elementary functions of n numbers.
#include "timing.h"

static float geluf(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }
static float sigmoidf(float x) { return 1 / (1 + expf(-x)); }

#define EACH(name, type, f)                                                                                  \
  APART static void name(const type* x, type* restrict y, int64_t n) {                                       \
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);                                                          \
  }
EACH(each_exp, float, expf)
EACH(each_tanh, float, tanhf)
EACH(each_log, float, logf)
EACH(each_sin, float, sinf)
EACH(each_cos, float, cosf)
EACH(each_erf, float, erff)
EACH(each_gelu, float, geluf)
EACH(each_sigmoid, float, sigmoidf)
EACH(each_exp_f64, double, exp)
EACH(each_log_f64, double, log)
EACH(each_tanh_f64, double, tanh)

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  float *x = vector32(n, 1), *positive = zeros32(n), *y = zeros32(n);
  double *x64 = vector64(n, 1), *positive64 = zeros64(n), *y64 = zeros64(n);
  for (int64_t i = 0; i < n; ++i) {
    x[i] *= 4, x64[i] *= 4;
    positive[i] = x[i] + 2.5f, positive64[i] = x64[i] + 2.5;
  }
  MEASURE("exp", checksum32(y, n), each_exp(x, y, n))
  MEASURE("tanh", checksum32(y, n), each_tanh(x, y, n))
  MEASURE("log", checksum32(y, n), each_log(positive, y, n))
  MEASURE("sin", checksum32(y, n), each_sin(x, y, n))
  MEASURE("cos", checksum32(y, n), each_cos(x, y, n))
  MEASURE("erf", checksum32(y, n), each_erf(x, y, n))
  MEASURE("gelu", checksum32(y, n), each_gelu(x, y, n))
  MEASURE("sigmoid", checksum32(y, n), each_sigmoid(x, y, n))
  MEASURE("exp_f64", checksum64(y64, n), each_exp_f64(x64, y64, n))
  MEASURE("log_f64", checksum64(y64, n), each_log_f64(positive64, y64, n))
  MEASURE("tanh_f64", checksum64(y64, n), each_tanh_f64(x64, y64, n))
  return 0;
}
