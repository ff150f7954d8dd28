// Elementary functions of n numbers.
#include "timing.h"

static float geluf(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }
static float sigmoidf(float x) { return 1 / (1 + expf(-x)); }
static float siluf(float x) { return x * sigmoidf(x); }
static float softplusf(float x) { return (x > 0 ? x : 0) + log1pf(expf(-fabsf(x))); }
static float powerf(float x) { return powf(x, 1.7f); }
static double power(double x) { return pow(x, 1.7); }
static float tanh_slopef(float x) { return 1 - tanhf(x) * tanhf(x); }
static float sigmoid_slopef(float x) { return sigmoidf(x) * (1 - sigmoidf(x)); }
static float gelu_slopef(float x) {
  return 0.5f * (1 + erff(x * 0.70710678f)) + x * 0.39894228f * expf(-0.5f * x * x);
}

#define EACH(name, type, f)                                                                                  \
  APART static void name(const type* x, type* restrict y, int64_t n) {                                       \
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);                                                          \
  }
EACH(each_exp, float, expf)
EACH(each_exp2, float, exp2f)
EACH(each_expm1, float, expm1f)
EACH(each_tanh, float, tanhf)
EACH(each_log, float, logf)
EACH(each_log1p, float, log1pf)
EACH(each_pow, float, powerf)
EACH(each_sin, float, sinf)
EACH(each_cos, float, cosf)
EACH(each_tan, float, tanf)
EACH(each_asin, float, asinf)
EACH(each_atan, float, atanf)
EACH(each_erf, float, erff)
EACH(each_gelu, float, geluf)
EACH(each_sigmoid, float, sigmoidf)
EACH(each_silu, float, siluf)
EACH(each_softplus, float, softplusf)
EACH(each_tanh_slope, float, tanh_slopef)
EACH(each_gelu_slope, float, gelu_slopef)
EACH(each_sigmoid_slope, float, sigmoid_slopef)
EACH(each_exp_f64, double, exp)
EACH(each_log_f64, double, log)
EACH(each_tanh_f64, double, tanh)
EACH(each_sin_f64, double, sin)
EACH(each_cos_f64, double, cos)
EACH(each_erf_f64, double, erf)
EACH(each_pow_f64, double, power)

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1);
  float *x = vector32(n, 1), *positive = zeros32(n), *small = zeros32(n), *y = zeros32(n);
  double *x64 = vector64(n, 1), *positive64 = zeros64(n), *y64 = zeros64(n);
  for (int64_t i = 0; i < n; ++i) {
    x[i] *= 4, x64[i] *= 4;
    positive[i] = x[i] + 2.5f, positive64[i] = x64[i] + 2.5, small[i] = 0.25f * x[i];
  }
  MEASURE("exp", checksum32(y, n), each_exp(x, y, n))
  MEASURE("exp2", checksum32(y, n), each_exp2(x, y, n))
  MEASURE("expm1", checksum32(y, n), each_expm1(x, y, n))
  MEASURE("tanh", checksum32(y, n), each_tanh(x, y, n))
  MEASURE("log", checksum32(y, n), each_log(positive, y, n))
  MEASURE("log1p", checksum32(y, n), each_log1p(positive, y, n))
  MEASURE("pow", checksum32(y, n), each_pow(positive, y, n))
  MEASURE("sin", checksum32(y, n), each_sin(x, y, n))
  MEASURE("cos", checksum32(y, n), each_cos(x, y, n))
  MEASURE("tan", checksum32(y, n), each_tan(small, y, n))
  MEASURE("asin", checksum32(y, n), each_asin(small, y, n))
  MEASURE("atan", checksum32(y, n), each_atan(x, y, n))
  MEASURE("erf", checksum32(y, n), each_erf(x, y, n))
  MEASURE("gelu", checksum32(y, n), each_gelu(x, y, n))
  MEASURE("sigmoid", checksum32(y, n), each_sigmoid(x, y, n))
  MEASURE("silu", checksum32(y, n), each_silu(x, y, n))
  MEASURE("softplus", checksum32(y, n), each_softplus(x, y, n))
  MEASURE("tanh_slope", checksum32(y, n), each_tanh_slope(x, y, n))
  MEASURE("gelu_slope", checksum32(y, n), each_gelu_slope(x, y, n))
  MEASURE("sigmoid_slope", checksum32(y, n), each_sigmoid_slope(x, y, n))
  MEASURE("exp_f64", checksum64(y64, n), each_exp_f64(x64, y64, n))
  MEASURE("log_f64", checksum64(y64, n), each_log_f64(positive64, y64, n))
  MEASURE("tanh_f64", checksum64(y64, n), each_tanh_f64(x64, y64, n))
  MEASURE("sin_f64", checksum64(y64, n), each_sin_f64(x64, y64, n))
  MEASURE("cos_f64", checksum64(y64, n), each_cos_f64(x64, y64, n))
  MEASURE("erf_f64", checksum64(y64, n), each_erf_f64(x64, y64, n))
  MEASURE("pow_f64", checksum64(y64, n), each_pow_f64(positive64, y64, n))
  return 0;
}
