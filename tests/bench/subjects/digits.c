// Training of a network 64-128-10 as in examples/digits.mlx: a step of a batch of 64, and an epoch over n
// examples.
#include "network.h"

static void move_array(float* x, const float* g, int64_t n) {
  for (int64_t k = 0; k < n; ++k) x[k] -= 0.5f * g[k];
}

static void move(Mlp* m, const Mlp* g) {
  move_array(m->w1, g->w1, m->i * m->h);
  move_array(m->b1, g->b1, m->h);
  move_array(m->w2, g->w2, m->h * m->o);
  move_array(m->b2, g->b2, m->o);
}

static void copy(Mlp* to, const Mlp* from) {
  memcpy(to->w1, from->w1, (size_t)(to->i * to->h) * sizeof(float));
  memcpy(to->b1, from->b1, (size_t)to->h * sizeof(float));
  memcpy(to->w2, from->w2, (size_t)(to->h * to->o) * sizeof(float));
  memcpy(to->b2, from->b2, (size_t)to->o * sizeof(float));
}

static void epoch(Mlp* m, Mlp* g, const float* x, const int64_t* y, const int64_t* order, int64_t n,
                  Scratch* s) {
  static float rows[64 * 64];
  int64_t labels[64];
  for (int64_t from = 0; from < n; from += 64) {
    int64_t size = n - from < 64 ? n - from : 64;
    for (int64_t r = 0; r < size; ++r) {
      memcpy(rows + 64 * r, x + 64 * order[from + r], 64 * sizeof(float));
      labels[r] = y[order[from + r]];
    }
    gradient(m, g, rows, labels, size, s);
    move(m, g);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), *y = indices(n, 10, 6), *order = indices(n, 1, 0);
  Mlp start = mlp(64, 128, 10), m = mlp_of_zeros(64, 128, 10), g = mlp_of_zeros(64, 128, 10);
  Scratch s = scratch(&m, 64);
  float* x = vector32(64 * n, 5);
  for (int64_t k = 0; k < 64 * n; ++k) x[k] += 0.5f;
  for (int64_t k = 0; k < n; ++k) order[k] = n - 1 - k;
  MEASURE("step", checksum_mlp(&m), {
    copy(&m, &start);
    gradient(&m, &g, x, y, 64, &s);
    move(&m, &g);
  })
  MEASURE("epoch", checksum_mlp(&m), {
    copy(&m, &start);
    epoch(&m, &g, x, y, order, n, &s);
  })
  return 0;
}
