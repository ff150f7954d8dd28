// Scores of a network 784-128-10 for a batch.
#include "network.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t batch = argument(argv, 1);
  Mlp m = mlp(784, 128, 10);
  Scratch s = scratch(&m, batch);
  float* x = vector32(784 * batch, 5);
  MEASURE("forward", checksum32(s.scores, 10 * batch), forward(&m, x, s.hidden, s.scores, batch))
  return 0;
}
