// The network of several subjects: two layers, and what its scores lose. network.mlx says the same in Melix.
#pragma once
#include "timing.h"

typedef struct {
  int64_t i, h, o;
  float *w1, *b1, *w2, *b2;
} Mlp;

static inline float* scaled32(int64_t n, int64_t seed) {
  float* x = vector32(n, seed);
  for (int64_t k = 0; k < n; ++k) x[k] *= 0.2f;
  return x;
}

static inline Mlp mlp(int64_t i, int64_t h, int64_t o) {
  return (Mlp){i, h, o, scaled32(i * h, 1), scaled32(h, 2), scaled32(h * o, 3), scaled32(o, 4)};
}

static inline Mlp mlp_of_zeros(int64_t i, int64_t h, int64_t o) {
  return (Mlp){i, h, o, zeros32(i * h), zeros32(h), zeros32(h * o), zeros32(o)};
}

/// The sum of the checksums of its parts.
static inline double checksum_mlp(const Mlp* m) {
  return checksum32(m->w1, m->i * m->h) + checksum32(m->b1, m->h) + checksum32(m->w2, m->h * m->o) +
         checksum32(m->b2, m->o);
}

/// y = x w + b, of n rows.
APART static void dense(const float* x, const float* w, const float* b, float* restrict y, int64_t n,
                        int64_t i, int64_t o) {
  for (int64_t r = 0; r < n; ++r, x += i, y += o) {
    memcpy(y, b, (size_t)o * sizeof *y);
    for (int64_t k = 0; k < i; ++k)
      for (int64_t j = 0; j < o; ++j) y[j] += x[k] * w[k * o + j];
  }
}

/// The gradients by w and b, and by x unless it is null, of a layer whose result has the gradient dy.
APART static void dense_backward(const float* x, const float* w, const float* dy, float* restrict dw,
                                 float* restrict db, float* restrict dx, int64_t n, int64_t i, int64_t o) {
  SUMS_IN_ANY_ORDER
  memset(dw, 0, (size_t)(i * o) * sizeof *dw);
  memset(db, 0, (size_t)o * sizeof *db);
  for (int64_t r = 0; r < n; ++r, x += i, dy += o) {
    for (int64_t j = 0; j < o; ++j) db[j] += dy[j];
    for (int64_t k = 0; k < i; ++k)
      for (int64_t j = 0; j < o; ++j) dw[k * o + j] += x[k] * dy[j];
    if (!dx) continue;
    for (int64_t k = 0; k < i; ++k) {
      float sum = 0;
      for (int64_t j = 0; j < o; ++j) sum += w[k * o + j] * dy[j];
      *dx++ = sum;
    }
  }
}

/// The scores of n examples; `hidden` keeps the first layer.
static inline void forward(const Mlp* m, const float* x, float* hidden, float* scores, int64_t n) {
  dense(x, m->w1, m->b1, hidden, n, m->i, m->h);
  for (int64_t k = 0; k < n * m->h; ++k) hidden[k] = hidden[k] > 0 ? hidden[k] : 0;
  dense(hidden, m->w2, m->b2, scores, n, m->h, m->o);
}

/// The mean cross entropy; scores become its gradient.
static inline float cross_entropy(float* scores, const int64_t* labels, int64_t n, int64_t o) {
  float total = 0;
  for (int64_t r = 0; r < n; ++r, scores += o) {
    float most = scores[0], sum = 0;
    for (int64_t j = 1; j < o; ++j) most = scores[j] > most ? scores[j] : most;
    float own = scores[labels[r]];
    for (int64_t j = 0; j < o; ++j) sum += scores[j] = expf(scores[j] - most);
    total += most + logf(sum) - own;
    for (int64_t j = 0; j < o; ++j) scores[j] = (scores[j] / sum - (j == labels[r])) / (float)n;
  }
  return total / (float)n;
}

/// Where a batch of at most n examples leaves what it computes.
typedef struct {
  float *hidden, *d_hidden, *scores;
} Scratch;

static inline Scratch scratch(const Mlp* m, int64_t n) {
  return (Scratch){zeros32(n * m->h), zeros32(n * m->h), zeros32(n * m->o)};
}

/// The loss of n examples and its gradient.
static inline float gradient(const Mlp* m, Mlp* g, const float* x, const int64_t* labels, int64_t n,
                             Scratch* s) {
  forward(m, x, s->hidden, s->scores, n);
  float loss = cross_entropy(s->scores, labels, n, m->o);
  dense_backward(s->hidden, m->w2, s->scores, g->w2, g->b2, s->d_hidden, n, m->h, m->o);
  for (int64_t k = 0; k < n * m->h; ++k)
    if (s->hidden[k] <= 0) s->d_hidden[k] = 0;
  dense_backward(x, m->w1, s->d_hidden, g->w1, g->b1, NULL, n, m->i, m->h);
  return loss;
}
