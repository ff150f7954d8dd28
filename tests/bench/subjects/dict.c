// A Dict beside open addressing that keeps the order of its entries: numbers are counted, read by keys that
// are there, are not, or may be, and texts are counted; keys are inserted, replaced, removed and walked, of a
// large Dict and of a small one.
// Slots of 32 bits hold places of entries and as many bits of hashes as there is room for. They are filled to
// three quarters.
#include "timing.h"

static int64_t next(int64_t state) { return (state * 1103515245 + 12345) % 1073741824; }

static uint64_t mixed(uint64_t x) { return (x ^ (x >> 32)) * 0x9e3779b97f4a7c15; }

/// The bits of a hash that are looked at.
static uint64_t kept(uint64_t hash) { return hash >> 33; }

/// The slots of 2^bits, and the entries that there is room for.
typedef struct {
  uint32_t* slots;
  int64_t size, room, gone;
  int bits;
} Table;

static uint64_t last(const Table* t) { return (1ULL << t->bits) - 1; }
static uint64_t home(const Table* t, uint64_t hash) { return hash >> (31 - t->bits); }
static uint32_t tag(const Table* t, uint64_t hash) { return (uint32_t)(hash << t->bits); }
static int64_t place(const Table* t, uint32_t slot) { return (int64_t)(slot & last(t)) - 1; }

static void more_slots(Table* t) {
  t->bits = t->bits ? t->bits + 1 : 3;
  t->room = 3 * (1LL << t->bits) / 4;
  free(t->slots);
  t->slots = calloc(1ULL << t->bits, sizeof *t->slots);
  if (!t->slots) exit(3);
}

/// Of an entry that no slot has.
static void put(Table* t, uint64_t hash, int64_t place) {
  uint64_t at = home(t, hash);
  while (t->slots[at]) at = (at + 1) & last(t);
  t->slots[at] = tag(t, hash) | (uint32_t)(place + 1);
}

static void* entries_moved(const void* entries, size_t bytes, size_t size) {
  void* moved = realloc((void*)entries, bytes * size);
  if (!moved) exit(3);
  return moved;
}

typedef struct {
  int64_t key, value;
} Entry;

/// No key.
#define GONE INT64_MIN

typedef struct {
  Table table;
  Entry* entries;
} Dict;

static uint64_t hash_of(int64_t key) { return kept(mixed((uint64_t)key)); }

static void grow(Dict* d) {
  more_slots(&d->table);
  d->entries = entries_moved(d->entries, sizeof(Entry), (size_t)d->table.room);
  for (int64_t k = 0; k < d->table.size; ++k) put(&d->table, hash_of(d->entries[k].key), k);
}

/// The slot of a key, or the free one where it belongs.
static uint32_t* slot(const Dict* d, int64_t key, uint64_t hash) {
  const Table* t = &d->table;
  const uint32_t wanted = tag(t, hash);
  for (uint64_t at = home(t, hash);; at = (at + 1) & last(t)) {
    const uint32_t found = t->slots[at];
    if (!found) return &t->slots[at];
    if ((found ^ wanted) <= last(t) && d->entries[place(t, found)].key == key) return &t->slots[at];
  }
}

/// The value of a key, 0 where it is new.
static int64_t* value(Dict* d, int64_t key) {
  Table* t = &d->table;
  if (t->size >= t->room) grow(d);
  const uint64_t hash = hash_of(key);
  uint32_t* s = slot(d, key, hash);
  if (!*s) {
    d->entries[t->size++] = (Entry){key, 0};
    *s = tag(t, hash) | (uint32_t)t->size;
  }
  return &d->entries[place(t, *s)].value;
}

static void drop(Dict* d) {
  free(d->table.slots);
  free(d->entries);
}

/// The sum of the squares of the counts.
APART static int64_t counted(int64_t n) {
  Dict d = {0};
  int64_t state = 12345, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    state = next(state);
    ++*value(&d, state >> 14);
  }
  for (int64_t k = 0; k < d.table.size; ++k) total += d.entries[k].value * d.entries[k].value;
  drop(&d);
  return total;
}

static Dict numbered(int64_t n) {
  Dict d = {0};
  for (int64_t i = 0; i < n; ++i) *value(&d, 64 * i) = i;
  return d;
}

APART static int64_t read(const Dict* d, int64_t n) {
  int64_t state = 12345, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    state = next(state);
    const int64_t key = 64 * ((state >> 10) * d->table.size >> 20);
    const uint32_t* s = slot(d, key, hash_of(key));
    if (!*s) exit(3);
    total += d->entries[place(&d->table, *s)].value;
  }
  return total;
}

/// Of keys of which none or half are there; those that are not count 1.
APART static int64_t looked_up(const Dict* d, int64_t n, int64_t always, int64_t sometimes) {
  int64_t state = 12345, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    state = next(state);
    const int64_t key = 64 * ((state >> 10) * d->table.size >> 20) + always + ((state >> 12) & sometimes);
    const uint32_t* s = slot(d, key, hash_of(key));
    total += *s ? d->entries[place(&d->table, *s)].value : 1;
  }
  return total;
}

typedef struct {
  const char* data;
  int64_t size;
} Text;

static uint64_t hash(Text t) {
  uint64_t h = (uint64_t)t.size, word;
  int64_t at = 0;
  for (; at + 8 <= t.size; at += 8) {
    memcpy(&word, t.data + at, 8);
    h = mixed(h ^ word);
  }
  word = 0;
  memcpy(&word, t.data + at, (size_t)(t.size - at));
  return kept(mixed(h ^ word));
}

typedef struct {
  Text key;
  uint64_t hash;
  int64_t value;
} TextEntry;

typedef struct {
  Table table;
  TextEntry* entries;
} Texts;

static void grow_texts(Texts* d) {
  more_slots(&d->table);
  d->entries = entries_moved(d->entries, sizeof(TextEntry), (size_t)d->table.room);
  for (int64_t k = 0; k < d->table.size; ++k) put(&d->table, d->entries[k].hash, k);
}

static uint32_t* text_slot(const Texts* d, Text key, uint64_t h) {
  const Table* t = &d->table;
  const uint32_t wanted = tag(t, h);
  for (uint64_t at = home(t, h);; at = (at + 1) & last(t)) {
    const uint32_t found = t->slots[at];
    if (!found) return &t->slots[at];
    if ((found ^ wanted) > last(t)) continue;
    const Text other = d->entries[place(t, found)].key;
    if (other.size == key.size && !memcmp(other.data, key.data, (size_t)key.size)) return &t->slots[at];
  }
}

static Text* texts(int64_t n) {
  Text* out = allocate((size_t)n * sizeof *out);
  int64_t state = 12345;
  for (int64_t i = 0; i < n; ++i) {
    state = next(state);
    char* data = malloc(32);
    if (!data) exit(3);
    out[i] = (Text){data, snprintf(data, 32, "word %lld", (long long)(state >> 16))};
  }
  return out;
}

APART static int64_t counted_texts(const Text* words, int64_t n) {
  Texts d = {0};
  Table* t = &d.table;
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (t->size >= t->room) grow_texts(&d);
    const uint64_t h = hash(words[i]);
    uint32_t* s = text_slot(&d, words[i], h);
    if (!*s) {
      d.entries[t->size++] = (TextEntry){words[i], h, 0};
      *s = tag(t, h) | (uint32_t)t->size;
    }
    ++d.entries[place(t, *s)].value;
  }
  for (int64_t k = 0; k < t->size; ++k) total += d.entries[k].value * d.entries[k].value;
  free(t->slots);
  free(d.entries);
  return total;
}

/// n keys, all different.
static int64_t* scattered(int64_t n) {
  int64_t* out = allocate((size_t)n * sizeof *out);
  int64_t state = 12345;
  for (int64_t i = 0; i < n; ++i) out[i] = state = next(state);
  return out;
}

static Dict inserted(const int64_t* keys, int64_t n) {
  Dict d = {0};
  for (int64_t i = 0; i < n; ++i) *value(&d, keys[i]) = keys[i] & 1023;
  return d;
}

APART static int64_t number_inserted(const int64_t* keys, int64_t n) {
  Dict d = inserted(keys, n);
  drop(&d);
  return d.table.size;
}

static Dict copied(const Dict* d) {
  Dict copy = *d;
  const size_t slots = (1ULL << d->table.bits) * sizeof(uint32_t),
               entries = (size_t)d->table.room * sizeof(Entry);
  copy.table.slots = malloc(slots);
  copy.entries = malloc(entries);
  if (!copy.table.slots || !copy.entries) exit(3);
  memcpy(copy.table.slots, d->table.slots, slots);
  memcpy(copy.entries, d->entries, (size_t)d->table.size * sizeof(Entry));
  return copy;
}

/// The number of the key that comes k-th when they come in another order.
static int64_t shuffled(int64_t k, int64_t count) { return k * 7919 % count; }

/// A copy in which all values are others.
APART static int64_t replaced(const Dict* d, const int64_t* keys, int64_t n) {
  Dict changed = copied(d);
  for (int64_t k = 0; k < n; ++k) *value(&changed, keys[shuffled(k, n)]) = k;
  const int64_t total = *value(&changed, keys[0]) + 2 * *value(&changed, keys[n - 1]);
  drop(&changed);
  return total;
}

/// Takes the entries that are gone out of their row.
static void compact(Dict* d) {
  Table* t = &d->table;
  int64_t left = 0;
  for (int64_t k = 0; k < t->size; ++k)
    if (d->entries[k].key != GONE) d->entries[left++] = d->entries[k];
  t->size = left;
  t->gone = 0;
  memset(t->slots, 0, (1ULL << t->bits) * sizeof *t->slots);
  for (int64_t k = 0; k < left; ++k) put(t, hash_of(d->entries[k].key), k);
}

/// Frees a slot; those behind it that were kept from it move up.
static void free_slot(const Dict* d, uint64_t hole) {
  const Table* t = &d->table;
  for (uint64_t at = (hole + 1) & last(t); t->slots[at]; at = (at + 1) & last(t)) {
    const uint64_t begin = home(t, hash_of(d->entries[place(t, t->slots[at])].key));
    if (((at - begin) & last(t)) >= ((at - hole) & last(t))) {
      t->slots[hole] = t->slots[at];
      hole = at;
    }
  }
  t->slots[hole] = 0;
}

/// The value that a key had, 0 if it was not there.
static int64_t remove_key(Dict* d, int64_t key) {
  Table* t = &d->table;
  uint32_t* s = slot(d, key, hash_of(key));
  if (!*s) return 0;
  const int64_t at = place(t, *s);
  const int64_t value = d->entries[at].value;
  free_slot(d, (uint64_t)(s - t->slots));
  d->entries[at].key = GONE;
  ++t->gone;
  while (t->size > 0 && d->entries[t->size - 1].key == GONE) --t->size, --t->gone;
  if (2 * t->gone > t->size) compact(d);
  return value;
}

/// A copy from which every key is taken but one.
APART static int64_t removed(const Dict* d, const int64_t* keys, int64_t n) {
  Dict left = copied(d);
  int64_t total = 0;
  for (int64_t k = 1; k < n; ++k) total += remove_key(&left, keys[shuffled(k, n)]);
  total += left.table.size - left.table.gone;
  drop(&left);
  return total;
}

APART static int64_t walked(const Dict* d) {
  int64_t total = 0;
  for (int64_t k = 0; k < d->table.size; ++k)
    if (d->entries[k].key != GONE) total += d->entries[k].key & d->entries[k].value;
  return total;
}

#define MEASURE_CHANGES(size, count)                                                                         \
  {                                                                                                          \
    int64_t* keys = scattered(count);                                                                        \
    Dict d = inserted(keys, count);                                                                          \
    MEASURE("insert_" size, value, value = number_inserted(keys, black_box(count)))                          \
    MEASURE("replace_" size, value, value = replaced(&d, keys, black_box(count)))                            \
    MEASURE("remove_" size, value, value = removed(&d, keys, black_box(count)))                              \
    MEASURE("iterate_" size, value, value = walked(&d))                                                      \
  }

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), value = 0;
  MEASURE("count", value, value = counted(black_box(n)))
  Dict d = numbered(n / 16);
  MEASURE("read", value, value = read(&d, black_box(n)))
  MEASURE("read_absent", value, value = looked_up(&d, black_box(n), 1, 0))
  MEASURE("read_mixed", value, value = looked_up(&d, black_box(n), 0, 1))
  Text* words = texts(n / 4);
  MEASURE("texts", value, value = counted_texts(words, black_box(n / 4)))
  MEASURE_CHANGES("many", n)
  MEASURE_CHANGES("few", n / 1000)
  return 0;
}
