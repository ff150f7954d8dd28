// Growable lists: a block with length and capacity in front of the elements; null is the empty list.
#include "lists.h"

#include "guarded_memory.h"

namespace melix::runtime {

namespace {

constexpr int64_t leastCapacity = 4;

uint8_t* elementsOf(void* list) { return static_cast<uint8_t*>(list) + MELIX_LIST_ELEMENTS; }
MelixListHead* headOf(void* list) { return static_cast<MelixListHead*>(list); }

void* makeList(MelixTask* task, const MelixType* elem, int64_t cap) {
  int64_t bytes;
  if (__builtin_mul_overflow(cap, static_cast<int64_t>(elem->size), &bytes) || bytes > INT64_MAX / 4 ||
      cap > MELIX_MAX_EXTENT)
    panicText(task, "a list of this length does not fit into memory");
  void* list = melix_alloc(task, MELIX_LIST_ELEMENTS + bytes);
  MelixBlock* block = headerOf(list);
  block->type = elem;
  block->layout = MELIX_LAYOUT_LIST;
  *headOf(list) = {0, cap};
  return list;
}

/// From now on the first `count` elements of a list may be touched.
void guardBehind(void* list, const MelixType* elem, int64_t count) {
  const uint64_t used = MELIX_LIST_ELEMENTS + static_cast<uint64_t>(count) * elem->size;
  guardRest(static_cast<uint8_t*>(list), used, headerOf(list)->bytes);
}

} // namespace

bool isUnique(MelixTask* task, void* data) {
  MelixBlock* block = headerOf(data);
  return (task->head.threaded ? __atomic_load_n(&block->refs, __ATOMIC_ACQUIRE) : block->refs) == 1;
}

static void growList(MelixTask* task, void** list, const MelixType* elem, int64_t cap) {
  void* old = *list;
  int64_t len = old ? headOf(old)->len : 0;
  void* fresh = makeList(task, elem, cap);
  if (old) memcpy(elementsOf(fresh), elementsOf(old), static_cast<size_t>(len) * elem->size);
  headOf(fresh)->len = len;
  guardBehind(fresh, elem, len);
  if (old) {
    if (isUnique(task, old))
      headOf(old)->len = 0; // the elements have moved
    else
      retainContents(task, headerOf(fresh));
    melix_release(task, old);
  }
  *list = fresh;
}

} // namespace melix::runtime

using namespace melix::runtime;

int64_t melix_list_length(const void* list) {
  return list ? static_cast<const MelixListHead*>(list)->len : 0;
}

void melix_list_reserve(MelixTask* task, void** list, const MelixType* elem, int64_t cap) {
  if (*list && isUnique(task, *list) && headOf(*list)->cap >= cap) return guardBehind(*list, elem, cap);
  int64_t len = melix_list_length(*list);
  if (len > cap) cap = len;
  if (!*list && cap <= 0) return;
  // Who asks again and again pays for a copy of each element once.
  int64_t room = *list && headOf(*list)->cap < cap && cap < len * 2 ? len * 2 : cap;
  growList(task, list, elem, room < leastCapacity ? leastCapacity : room);
  guardBehind(*list, elem, cap); // who asks for room fills it
}

void* melix_list_push(MelixTask* task, void** list, const MelixType* elem) {
  int64_t len = melix_list_length(*list);
  int64_t cap = *list ? headOf(*list)->cap : 0;
  if (!*list || len == cap || !isUnique(task, *list)) {
    int64_t want = len < cap ? cap : len * 2;
    growList(task, list, elem, want < leastCapacity ? leastCapacity : want);
  }
  headOf(*list)->len = len + 1;
  guardBehind(*list, elem, len + 1);
  uint8_t* place = elementsOf(*list) + static_cast<uint64_t>(len) * elem->size;
  memset(place, 0, elem->size);
  return place;
}

void* melix_list_pop(MelixTask* task, void** list, const MelixType* elem) {
  int64_t len = melix_list_length(*list);
  if (len == 0) return nullptr;
  if (!isUnique(task, *list)) growList(task, list, elem, headOf(*list)->cap);
  headOf(*list)->len = len - 1;
  return elementsOf(*list) + static_cast<uint64_t>(len - 1) * elem->size;
}

void* melix_list_to_array(MelixTask* task, const void* list, const MelixType* elem) {
  int64_t len = melix_list_length(list);
  int64_t bytes = len * static_cast<int64_t>(elem->size);
  void* data = melix_alloc_typed(task, bytes, elem, MELIX_LAYOUT_ELEMENTS);
  if (len > 0) memcpy(data, elementsOf(const_cast<void*>(list)), static_cast<size_t>(bytes));
  retainContents(task, headerOf(data));
  return data;
}

void* melix_list_from_array(MelixTask* task, const void* data, int64_t len, const MelixType* elem) {
  if (len <= 0) return nullptr;
  void* list = makeList(task, elem, len);
  memcpy(elementsOf(list), data, static_cast<size_t>(len) * elem->size);
  headOf(list)->len = len;
  retainContents(task, headerOf(list));
  return list;
}
