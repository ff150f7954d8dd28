// ADBench's LSTM: diagonal weights, two layers of width 14, state carried through a text of n characters.
#include "timing.h"

enum { layers = 2, width = 14, gates = 4 };
enum { Forget, In, Out, Change };

typedef double Row[width];

typedef struct {
  Row weight[layers][gates], bias[layers][gates], in_weight, out_weight, out_bias;
} Model;

/// What a step leaves for the way back: of each layer its input, the state before, the gates and the new
/// cell's tanh.
typedef struct {
  Row x[layers], h[layers], c[layers], gate[layers][gates], cell[layers], y, share;
} Step;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/// One step; h and c are the state.
static void step(const Model* m, Row* h, Row* c, const double* input, Step* s) {
  Row x;
  for (int j = 0; j < width; ++j) x[j] = input[j] * m->in_weight[j];
  for (int i = 0; i < layers; ++i) {
    memcpy(s->x[i], x, sizeof x), memcpy(s->h[i], h[i], sizeof x), memcpy(s->c[i], c[i], sizeof x);
    for (int j = 0; j < width; ++j) {
      double f = s->gate[i][Forget][j] = sigmoid(x[j] * m->weight[i][Forget][j] + m->bias[i][Forget][j]);
      double in = s->gate[i][In][j] = sigmoid(h[i][j] * m->weight[i][In][j] + m->bias[i][In][j]);
      double out = s->gate[i][Out][j] = sigmoid(x[j] * m->weight[i][Out][j] + m->bias[i][Out][j]);
      double change = s->gate[i][Change][j] = tanh(h[i][j] * m->weight[i][Change][j] + m->bias[i][Change][j]);
      c[i][j] = c[i][j] * f + in * change;
      s->cell[i][j] = tanh(c[i][j]);
      x[j] = h[i][j] = out * s->cell[i][j];
    }
  }
  for (int j = 0; j < width; ++j) s->y[j] = x[j] * m->out_weight[j] + m->out_bias[j];
}

APART static double loss(const Model* m, const Row* h0, const Row* c0, const Row* text, int64_t n,
                         Step* steps) {
  Row h[layers], c[layers];
  double total = 0;
  memcpy(h, h0, sizeof h), memcpy(c, c0, sizeof c);
  for (int64_t t = 0; t + 1 < n; ++t) {
    Step* s = &steps[t];
    double sum = 2;
    step(m, h, c, text[t], s);
    for (int j = 0; j < width; ++j) sum += s->share[j] = exp(s->y[j]);
    for (int j = 0; j < width; ++j) {
      total += text[t + 1][j] * (s->y[j] - log(sum));
      s->share[j] /= sum;
    }
  }
  return -total / (double)((n - 1) * width);
}

/// The gradient of a = activation(x w + b) where its argument has the gradient d; adds to dx.
static void gate_backward(double d, double x, int i, int gate, int j, const Model* m, Model* g, double* dx) {
  g->weight[i][gate][j] += d * x;
  g->bias[i][gate][j] += d;
  *dx += d * m->weight[i][gate][j];
}

/// Backwards through layer i of a step: dx is the gradient of its output and becomes that of its input.
static void layer_backward(const Model* m, Model* g, const Step* s, int i, double* dx, double* dh,
                           double* dc) {
  for (int j = 0; j < width; ++j) {
    double f = s->gate[i][Forget][j], in = s->gate[i][In][j], out = s->gate[i][Out][j],
           change = s->gate[i][Change][j];
    double d = dx[j] + dh[j], cell = s->cell[i][j], d_cell = dc[j] + d * out * (1 - cell * cell);
    dx[j] = dh[j] = 0;
    dc[j] = d_cell * f;
    gate_backward(d * cell * out * (1 - out), s->x[i][j], i, Out, j, m, g, &dx[j]);
    gate_backward(d_cell * s->c[i][j] * f * (1 - f), s->x[i][j], i, Forget, j, m, g, &dx[j]);
    gate_backward(d_cell * change * in * (1 - in), s->h[i][j], i, In, j, m, g, &dh[j]);
    gate_backward(d_cell * in * (1 - change * change), s->h[i][j], i, Change, j, m, g, &dh[j]);
  }
}

APART static void gradient(const Model* m, Model* g, const Row* h0, const Row* c0, const Row* text, int64_t n,
                           Step* steps) {
  Row dh[layers] = {0}, dc[layers] = {0};
  loss(m, h0, c0, text, n, steps);
  memset(g, 0, sizeof *g);
  for (int64_t t = n - 2; t >= 0; --t) {
    const Step* s = &steps[t];
    Row dx;
    double letters = 0;
    for (int j = 0; j < width; ++j) letters += text[t + 1][j];
    for (int j = 0; j < width; ++j) {
      double dy = (s->share[j] * letters - text[t + 1][j]) / (double)((n - 1) * width);
      double h = s->gate[layers - 1][Out][j] * s->cell[layers - 1][j];
      g->out_weight[j] += dy * h;
      g->out_bias[j] += dy;
      dx[j] = dy * m->out_weight[j];
    }
    for (int i = layers - 1; i >= 0; --i) layer_backward(m, g, s, i, dx, dh[i], dc[i]);
    for (int j = 0; j < width; ++j) g->in_weight[j] += dx[j] * text[t][j];
  }
}

static double checksum_model(const Model* m) {
  double sum = 0;
  for (int i = 0; i < layers; ++i)
    for (int k = 0; k < gates; ++k)
      sum += checksum64(m->weight[i][k], width) + checksum64(m->bias[i][k], width);
  return sum + checksum64(m->in_weight, width) + checksum64(m->out_weight, width) +
         checksum64(m->out_bias, width);
}

static void fill(double* x, int64_t n, int64_t seed) {
  for (int64_t i = 0; i < n; ++i) x[i] = sample(i, seed);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), *letters = indices(n, width, 22);
  Model *m = allocate(sizeof *m), *g = allocate(sizeof *g);
  Row *h = allocate(sizeof(Row[layers])), *c = allocate(sizeof(Row[layers]));
  Row* text = allocate((size_t)n * sizeof *text);
  Step* steps = allocate((size_t)n * sizeof *steps);
  for (int i = 0; i < layers; ++i)
    for (int k = 0; k < gates; ++k)
      fill(m->weight[i][k], width, 8 * i + k + 1), fill(m->bias[i][k], width, 8 * i + k + 5);
  fill(m->in_weight, width, 17), fill(m->out_weight, width, 18), fill(m->out_bias, width, 19);
  fill(h[0], layers * width, 20), fill(c[0], layers * width, 21);
  for (int64_t t = 0; t < n; ++t) text[t][letters[t]] = 1;
  double value = 0;
  MEASURE("loss", value, value = loss(m, h, c, text, n, steps))
  MEASURE("gradient", checksum_model(g), gradient(m, g, h, c, text, n, steps))
  return 0;
}
