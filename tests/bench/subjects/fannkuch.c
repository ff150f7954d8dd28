// The Benchmarks Game's fannkuch: over all permutations of n, how often the first part must be reversed until
// 1 stands first. The value is 10,000 times the most flips plus the checksum.
#include "timing.h"

enum { most_n = 16 };

static int64_t flips(const int64_t* permutation, int64_t n) {
  int64_t p[most_n], count = 0;
  memcpy(p, permutation, (size_t)n * sizeof *p);
  for (; p[0] != 0; ++count)
    for (int64_t low = 0, high = p[0]; low < high; ++low, --high) {
      int64_t kept = p[low];
      p[low] = p[high];
      p[high] = kept;
    }
  return count;
}

APART static int64_t fannkuch(int64_t n) {
  int64_t p[most_n], counts[most_n] = {0}, most = 0, checksum = 0, sign = 1, r = n;
  for (int64_t i = 0; i < n; ++i) p[i] = i;
  for (;; sign = -sign) {
    for (; r != 1; --r) counts[r - 1] = r;
    int64_t f = flips(p, n);
    most = f > most ? f : most;
    checksum += sign * f;
    // The next permutation: the first r + 1 elements go round.
    for (;; ++r) {
      if (r == n) return 10000 * most + checksum;
      int64_t first = p[0];
      for (int64_t i = 0; i < r; ++i) p[i] = p[i + 1];
      p[r] = first;
      if (--counts[r] > 0) break;
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), value = 0;
  if (n > most_n) return 2;
  MEASURE("flips", value, value = fannkuch(black_box(n)))
  return 0;
}
