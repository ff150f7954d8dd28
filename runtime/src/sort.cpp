// Stable sorting of indices: merge sort over keys that order as unsigned integers, or over texts.
#include "task.h"

#include <algorithm>

namespace melix::runtime {

namespace {

struct Item {
  uint64_t key;
  int64_t index;
};

bool isSignedKind(uint8_t kind) { return kind >= MELIX_KIND_I8 && kind <= MELIX_KIND_I64; }
bool isFloatKind(uint8_t kind) { return kind >= MELIX_KIND_F16 && kind <= MELIX_KIND_F8E5M2; }

/// Bits above which the magnitude of a float of this kind is a NaN.
uint64_t infinityBits(uint8_t kind) {
  switch (kind) {
  case MELIX_KIND_F16: return 0x7c00;
  case MELIX_KIND_BF16: return 0x7f80;
  case MELIX_KIND_F32: return 0x7f800000;
  case MELIX_KIND_F64: return 0x7ff0000000000000;
  case MELIX_KIND_F8E4M3: return 0x7e; // the largest number; there is no infinity
  default: return 0x7c;
  }
}

constexpr uint64_t lastKey = UINT64_MAX; // of NaN

/// A key whose unsigned order is the order of the values: sign-extended bits, the sign bit turned; -0 and 0
/// alike.
uint64_t keyOf(const uint8_t* value, uint8_t kind, uint32_t size, bool descending) {
  uint64_t bits = 0;
  memcpy(&bits, value, size);
  unsigned width = 8 * size;
  uint64_t sign = 1ull << (width - 1);
  uint64_t key = bits;
  if (isFloatKind(kind)) {
    uint64_t magnitude = bits & (sign - 1);
    if (magnitude > infinityBits(kind)) return lastKey;
    key = bits & sign ? sign - magnitude : sign + magnitude;
  } else if (isSignedKind(kind)) {
    key = bits ^ sign;
  }
  uint64_t all = width == 64 ? UINT64_MAX : (1ull << width) - 1;
  return descending ? all - key : key;
}

constexpr int64_t unpolledItems = 1 << 20;

/// Merges runs of doubling width; `after(a, b)` is true if b must come in front of a. Returns where the
/// result is. Looks for cancellation now and then: the items are the task's.
template <class Element, class After>
Element* mergeSort(MelixTask* task, Element* items, Element* spare, int64_t len, After after) {
  const auto poll = [&] {
    if (__atomic_load_n(&task->head.cancel, __ATOMIC_RELAXED)) [[unlikely]]
      melix_cancelled(task);
  };
  for (int64_t width = 1; width < len; width *= 2) {
    for (int64_t begin = 0; begin < len; begin += 2 * width) {
      int64_t middle = len - begin < width ? len : begin + width;
      int64_t end = len - begin < 2 * width ? len : begin + 2 * width;
      int64_t a = begin, b = middle;
      for (int64_t k = begin; k < end; poll())
        for (const int64_t stop = std::min(end, k + unpolledItems); k < stop; k++)
          spare[k] = b == end || (a < middle && !after(items[a], items[b])) ? items[a++] : items[b++];
    }
    Element* sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_argsort(MelixTask* task, const MelixType* elem, const void* data, int64_t len, int32_t descending,
                   int64_t* out) {
  if (len <= 0) return;
  auto* bytes = static_cast<const uint8_t*>(data);
  auto* items = static_cast<Item*>(melix_alloc(task, 2 * len * static_cast<int64_t>(sizeof(Item))));
  bool text = elem->kind == MELIX_KIND_STR;
  for (int64_t k = 0; k < len; k++) {
    const uint8_t* value = bytes + static_cast<uint64_t>(k) * elem->size;
    items[k] = {text ? 0 : keyOf(value, elem->kind, elem->size, descending != 0), k};
  }
  auto* texts = static_cast<const MelixStr*>(data);
  auto textAfter = [&](const Item& a, const Item& b) {
    const MelixStr &s = texts[a.index], &t = texts[b.index];
    int32_t order = melix_str_order(s.data, s.len, t.data, t.len);
    return descending ? order < 0 : order > 0;
  };
  auto keyAfter = [](const Item& a, const Item& b) { return a.key > b.key; };
  Item* sorted = text ? mergeSort(task, items, items + len, len, textAfter)
                      : mergeSort(task, items, items + len, len, keyAfter);
  for (int64_t k = 0; k < len; k++) out[k] = sorted[k].index;
  melix_release(task, items);
}
