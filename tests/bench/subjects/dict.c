// A Dict beside open addressing: numbers are counted, read by their keys, and texts are counted. Keys and
// values lie in the slots, which are filled to three quarters.
#include "timing.h"

static int64_t next(int64_t state) { return (state * 1103515245 + 12345) % 1073741824; }

static uint64_t mixed(uint64_t x) { return (x ^ (x >> 32)) * 0x9e3779b97f4a7c15; }

/// No key.
#define FREE INT64_MIN

typedef struct {
  int64_t key, value;
} Slot;

typedef struct {
  Slot* slots;
  int64_t count, size;
  int shift;
} Dict;

static Slot* slot(const Dict* d, int64_t key) {
  uint64_t at = mixed((uint64_t)key) >> d->shift;
  while (d->slots[at].key != FREE && d->slots[at].key != key) at = (at + 1) & (uint64_t)(d->count - 1);
  return &d->slots[at];
}

static void grow(Dict* d) {
  Dict larger = {
      .count = d->count ? 2 * d->count : 8, .size = d->size, .shift = d->count ? d->shift - 1 : 61};
  larger.slots = malloc((size_t)larger.count * sizeof(Slot));
  if (!larger.slots) exit(3);
  for (int64_t i = 0; i < larger.count; ++i) larger.slots[i] = (Slot){FREE, 0};
  for (int64_t i = 0; i < d->count; ++i)
    if (d->slots[i].key != FREE) *slot(&larger, d->slots[i].key) = d->slots[i];
  free(d->slots);
  *d = larger;
}

/// The value of a key, 0 where it is new.
static int64_t* value(Dict* d, int64_t key) {
  if (4 * d->size >= 3 * d->count) grow(d);
  Slot* s = slot(d, key);
  if (s->key == FREE) {
    *s = (Slot){key, 0};
    ++d->size;
  }
  return &s->value;
}

/// The sum of the squares of the counts.
APART static int64_t counted(int64_t n) {
  Dict d = {0};
  int64_t state = 12345, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    state = next(state);
    ++*value(&d, state >> 14);
  }
  for (int64_t i = 0; i < d.count; ++i) total += d.slots[i].value * d.slots[i].value;
  free(d.slots);
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
    const Slot* s = slot(d, 64 * ((state >> 10) * d->size >> 20));
    if (s->key == FREE) exit(3);
    total += s->value;
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
  return mixed(h ^ word);
}

typedef struct {
  Text key;
  uint64_t hash;
  int64_t value;
} TextSlot;

typedef struct {
  TextSlot* slots;
  int64_t count, size;
  int shift;
} Texts;

static TextSlot* text_slot(const Texts* d, Text key, uint64_t h) {
  uint64_t at = h >> d->shift;
  for (;; at = (at + 1) & (uint64_t)(d->count - 1)) {
    TextSlot* s = &d->slots[at];
    if (!s->key.data) return s;
    if (s->hash == h && s->key.size == key.size && !memcmp(s->key.data, key.data, (size_t)key.size)) return s;
  }
}

static void grow_texts(Texts* d) {
  Texts larger = {
      .count = d->count ? 2 * d->count : 8, .size = d->size, .shift = d->count ? d->shift - 1 : 61};
  larger.slots = calloc((size_t)larger.count, sizeof(TextSlot));
  if (!larger.slots) exit(3);
  for (int64_t i = 0; i < d->count; ++i)
    if (d->slots[i].key.data) *text_slot(&larger, d->slots[i].key, d->slots[i].hash) = d->slots[i];
  free(d->slots);
  *d = larger;
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
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (4 * d.size >= 3 * d.count) grow_texts(&d);
    uint64_t h = hash(words[i]);
    TextSlot* s = text_slot(&d, words[i], h);
    if (!s->key.data) {
      *s = (TextSlot){words[i], h, 0};
      ++d.size;
    }
    ++s->value;
  }
  for (int64_t i = 0; i < d.count; ++i) total += d.slots[i].value * d.slots[i].value;
  free(d.slots);
  return total;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t n = argument(argv, 1), value = 0;
  MEASURE("count", value, value = counted(black_box(n)))
  Dict d = numbered(n / 16);
  MEASURE("read", value, value = read(&d, black_box(n)))
  Text* words = texts(n / 4);
  MEASURE("texts", value, value = counted_texts(words, black_box(n / 4)))
  return 0;
}
