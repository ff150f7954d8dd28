// Sorting n numbers: by a merge sort, as stable sorts are, and by a quicksort in place.
#include "timing.h"

#define MERGE_SORT(name, type, before)                                                                       \
  static void name(type* x, type* scratch, int64_t n) {                                                      \
    if (n <= 12) {                                                                                           \
      for (int64_t i = 1; i < n; ++i) {                                                                      \
        type v = x[i];                                                                                       \
        int64_t j = i;                                                                                       \
        for (; j > 0 && before(v, x[j - 1]); --j) x[j] = x[j - 1];                                           \
        x[j] = v;                                                                                            \
      }                                                                                                      \
      return;                                                                                                \
    }                                                                                                        \
    int64_t half = n / 2, i = 0, j = half, k = 0;                                                            \
    name(x, scratch, half);                                                                                  \
    name(x + half, scratch, n - half);                                                                       \
    memcpy(scratch, x, (size_t)half * sizeof *x);                                                            \
    while (i < half && j < n) x[k++] = before(x[j], scratch[i]) ? x[j++] : scratch[i++];                     \
    while (i < half) x[k++] = scratch[i++];                                                                  \
  }

static const int64_t* keys;
#define LESS(a, b) ((a) < (b))
#define LESS_KEY(a, b) (keys[a] < keys[b])
MERGE_SORT(sort_int, int64_t, LESS)
MERGE_SORT(sort_double, double, LESS)
MERGE_SORT(sort_positions, int64_t, LESS_KEY)

static void quicksort(int64_t* x, int64_t from, int64_t to) {
  if (to - from < 2) return;
  int64_t pivot = x[from + (to - from) / 2], low = from, high = to - 1;
  while (low <= high) {
    while (x[low] < pivot) ++low;
    while (x[high] > pivot) --high;
    if (low <= high) {
      int64_t kept = x[low];
      x[low++] = x[high];
      x[high--] = kept;
    }
  }
  quicksort(x, from, high + 1);
  quicksort(x, low, to);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), state = 12345;
  size_t bytes = (size_t)n * sizeof(int64_t);
  int64_t *x = allocate(bytes), *y = allocate(bytes), *scratch = allocate(bytes);
  double *z = zeros64(n), *y64 = zeros64(n), *scratch64 = zeros64(n);
  for (int64_t i = 0; i < n; ++i) z[i] = (double)(x[i] = state = (state * 1103515245 + 12345) % 1073741824);
  keys = x;
  MEASURE("library", checksum_int(y, n), memcpy(y, x, bytes), sort_int(y, scratch, n))
  MEASURE("library_f64", checksum64(y64, n), memcpy(y64, z, bytes), sort_double(y64, scratch64, n))
  MEASURE("positions", checksum_int(y, n), {
    for (int64_t i = 0; i < n; ++i) y[i] = i;
    sort_positions(y, scratch, n);
  })
  MEASURE("quicksort", checksum_int(y, n), memcpy(y, x, bytes), quicksort(y, 0, n))
  return 0;
}
