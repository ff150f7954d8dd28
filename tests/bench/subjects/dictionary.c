// A dictionary made of lists: n words are counted, keys in buckets that grow.
#include "timing.h"

typedef struct {
  int64_t key, count;
} Entry;

typedef struct {
  Entry* entries;
  int64_t size, room;
} Bucket;

typedef struct {
  Bucket* buckets;
  int64_t count, size;
} Dictionary;

static Dictionary dictionary(int64_t buckets) {
  return (Dictionary){.buckets = calloc((size_t)buckets, sizeof(Bucket)), .count = buckets};
}

static void drop(Dictionary* d) {
  for (int64_t i = 0; i < d->count; ++i) free(d->buckets[i].entries);
  free(d->buckets);
}

static Bucket* bucket(const Dictionary* d, int64_t key) {
  return &d->buckets[(key * 2654435761 >> 7) & (d->count - 1)];
}

static void push(Bucket* b, Entry e) {
  if (b->size == b->room) {
    b->room = b->room ? 2 * b->room : 4;
    b->entries = realloc(b->entries, (size_t)b->room * sizeof e);
    if (!b->entries) exit(3);
  }
  b->entries[b->size++] = e;
}

static void grow(Dictionary* d) {
  Dictionary larger = dictionary(2 * d->count);
  larger.size = d->size;
  for (int64_t i = 0; i < d->count; ++i)
    for (int64_t j = 0; j < d->buckets[i].size; ++j) {
      Entry e = d->buckets[i].entries[j];
      push(bucket(&larger, e.key), e);
    }
  drop(d);
  *d = larger;
}

static void count(Dictionary* d, int64_t key) {
  Bucket* b = bucket(d, key);
  for (int64_t i = 0; i < b->size; ++i)
    if (b->entries[i].key == key) {
      ++b->entries[i].count;
      return;
    }
  push(b, (Entry){key, 1});
  if (++d->size > 2 * d->count) grow(d);
}

/// The sum of the squares of the counts.
APART static int64_t counted(int64_t n) {
  Dictionary d = dictionary(8);
  int64_t state = 12345, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    state = (state * 1103515245 + 12345) % 1073741824;
    count(&d, state >> 14);
  }
  for (int64_t i = 0; i < d.count; ++i)
    for (int64_t j = 0; j < d.buckets[i].size; ++j) {
      int64_t c = d.buckets[i].entries[j].count;
      total += c * c;
    }
  drop(&d);
  return total;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), value = 0;
  MEASURE("count", value, value = counted(black_box(n)))
  return 0;
}
