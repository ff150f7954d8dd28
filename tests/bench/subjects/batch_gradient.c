// The gradient of a mean over a batch.
#include "network.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t batch = argument(argv, 1), *y = indices(batch, 10, 6);
  Mlp m = mlp(64, 128, 10), g = mlp_of_zeros(64, 128, 10);
  Scratch s = scratch(&m, batch);
  float* x = vector32(64 * batch, 5);
  for (int64_t k = 0; k < 64 * batch; ++k) x[k] += 0.5f;
  MEASURE("builder", checksum_mlp(&g), gradient(&m, &g, x, y, batch, &s))
  MEASURE("loop", checksum_mlp(&g), gradient(&m, &g, x, y, batch, &s))
  MEASURE("matrix", checksum_mlp(&g), gradient(&m, &g, x, y, batch, &s))
  return 0;
}
