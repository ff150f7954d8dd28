// ADBench's Gaussian mixture with a Wishart prior, n points, d dimensions, k parts: the objective and its
// gradient.
#include "timing.h"

typedef struct {
  double *alpha, *mu, *q, *l;
} Mixture;

static int64_t n, d, k, below;

/// Lower-triangular factors: exp(q) on the diagonal, l below it, column by column.
static void factors(const Mixture* p, double* restrict a) {
  memset(a, 0, (size_t)(k * d * d) * sizeof *a);
  for (int64_t s = 0; s < k; ++s, a += d * d) {
    const double* l = p->l + s * below;
    for (int64_t c = 0; c < d; ++c) {
      a[c * d + c] = exp(p->q[s * d + c]);
      for (int64_t r = c + 1; r < d; ++r) a[r * d + c] = *l++;
    }
  }
}

static double sum(const double* x, int64_t size) {
  double total = 0;
  for (int64_t i = 0; i < size; ++i) total += x[i];
  return total;
}

/// log(sum(exp(x))); x becomes its gradient.
static double logsumexp(double* x, int64_t size) {
  double most = x[0], total = 0;
  for (int64_t i = 1; i < size; ++i) most = x[i] > most ? x[i] : most;
  for (int64_t i = 0; i < size; ++i) total += x[i] = exp(x[i] - most);
  for (int64_t i = 0; i < size; ++i) x[i] /= total;
  return most + log(total);
}

static double log_multigamma(double a, int64_t dimension) {
  double value = 0.25 * (double)(dimension * (dimension - 1)) * log(M_PI);
  for (int64_t j = 0; j < dimension; ++j) value += lgamma(a - 0.5 * (double)j);
  return value;
}

/// The prior with gamma 1 and m 0.
static double log_wishart_prior(const Mixture* p) {
  double m = (double)(d + 1), total = 0;
  double c = -m * (double)d * 0.5 * log(2) - log_multigamma(0.5 * m, d);
  for (int64_t i = 0; i < k * d; ++i) total += 0.5 * exp(2 * p->q[i]);
  for (int64_t i = 0; i < k * below; ++i) total += 0.5 * p->l[i] * p->l[i];
  return total - (double)k * c;
}

/// u = a (x - mu), the exponent of part s.
static double exponent(const Mixture* p, const double* a, const double* x, int64_t s, double* restrict c,
                       double* restrict u) {
  SUMS_IN_ANY_ORDER
  double squares = 0;
  for (int64_t j = 0; j < d; ++j) c[j] = x[j] - p->mu[s * d + j];
  for (int64_t i = 0; i < d; ++i) {
    double v = 0;
    for (int64_t j = 0; j <= i; ++j) v += a[(s * d + i) * d + j] * c[j];
    u[i] = v;
    squares += v * v;
  }
  return p->alpha[s] + sum(p->q + s * d, d) - 0.5 * squares;
}

typedef struct {
  double *a, *da, *beta, *c, *u;
} Scratch;

/// Adds what point x gives to the gradient: the share of each part times that of its exponent.
static void add_point(const Mixture* p, Mixture* g, const double* x, Scratch* w) {
  for (int64_t s = 0; s < k; ++s) {
    double share = w->beta[s];
    exponent(p, w->a, x, s, w->c, w->u);
    g->alpha[s] += share;
    for (int64_t i = 0; i < d; ++i) {
      double du = -share * w->u[i];
      g->q[s * d + i] += share;
      for (int64_t j = 0; j <= i; ++j) {
        w->da[(s * d + i) * d + j] += du * w->c[j];
        g->mu[s * d + j] -= du * w->a[(s * d + i) * d + j];
      }
    }
  }
}

/// The gradient by q and l from that by the factors and the prior.
static void finish(const Mixture* p, Mixture* g, const Scratch* w) {
  for (int64_t s = 0; s < k; ++s) {
    int64_t next = s * below;
    for (int64_t c = 0; c < d; ++c) {
      double e = exp(p->q[s * d + c]);
      g->q[s * d + c] += w->da[(s * d + c) * d + c] * e - e * e;
      for (int64_t r = c + 1; r < d; ++r, ++next) g->l[next] = w->da[(s * d + r) * d + c] - p->l[next];
    }
  }
}

/// The objective, and its gradient unless g is null.
APART static double objective(const Mixture* p, Mixture* g, const double* x, Scratch* w) {
  factors(p, w->a);
  memcpy(w->beta, p->alpha, (size_t)k * sizeof(double));
  double value =
      -0.5 * (double)(n * d) * log(2 * M_PI) - (double)n * logsumexp(w->beta, k) - log_wishart_prior(p);
  if (g) {
    memset(g->mu, 0, (size_t)(k * d) * sizeof(double));
    memset(g->q, 0, (size_t)(k * d) * sizeof(double));
    memset(w->da, 0, (size_t)(k * d * d) * sizeof(double));
    for (int64_t s = 0; s < k; ++s) g->alpha[s] = -(double)n * w->beta[s];
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t s = 0; s < k; ++s) w->beta[s] = exponent(p, w->a, x + i * d, s, w->c, w->u);
    value += logsumexp(w->beta, k);
    if (g) add_point(p, g, x + i * d, w);
  }
  if (g) finish(p, g, w);
  return value;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  n = argument(argv, 1), d = argument(argv, 2), k = argument(argv, 3), below = d * (d - 1) / 2;
  Mixture p = {vector64(k, 1), vector64(k * d, 2), vector64(k * d, 3), vector64(k * below, 4)};
  Mixture g = {zeros64(k), zeros64(k * d), zeros64(k * d), zeros64(k * below)};
  Scratch w = {zeros64(k * d * d), zeros64(k * d * d), zeros64(k), zeros64(d), zeros64(d)};
  double *x = vector64(n * d, 5), value = 0;
  MEASURE("objective", value, value = objective(&p, NULL, x, &w))
  MEASURE("gradient",
          checksum64(g.alpha, k) + checksum64(g.mu, k * d) + checksum64(g.q, k * d) +
              checksum64(g.l, k * below),
          objective(&p, &g, x, &w))
  return 0;
}
