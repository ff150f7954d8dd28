// Reference counts: who owns a block, what is released with it, copies for writing.
#include "device_hooks.h"
#include "guarded_memory.h"
#include "lists.h"

namespace melix::runtime {

namespace {

/// Blocks whose count went to zero, unlinked, linked by `next`: deep structures are dropped without
/// recursion.
struct Worklist {
  MelixTask* task;
  MelixBlock* first = nullptr;
};

/// True if that was the last owner.
bool giveUp(MelixTask* task, MelixBlock* block) {
  if (task->head.threaded) {
    if (__atomic_load_n(&block->refs, __ATOMIC_RELAXED) < 0) return false;
    return __atomic_sub_fetch(&block->refs, 1, __ATOMIC_ACQ_REL) == 0;
  }
  if (block->refs < 0) return false;
  return --block->refs == 0;
}

void addOwner(MelixTask* task, MelixBlock* block) {
  if (task->head.threaded) {
    if (__atomic_load_n(&block->refs, __ATOMIC_RELAXED) >= 0)
      __atomic_add_fetch(&block->refs, 1, __ATOMIC_RELAXED);
    return;
  }
  if (block->refs >= 0) block->refs++;
}

struct Retain {
  MelixTask* task;
  void operator()(void* data) const { addOwner(task, headerOf(data)); }
};

struct Release {
  Worklist* work;
  void operator()(void* data) const {
    MelixBlock* block = headerOf(data);
    if (!giveUp(work->task, block)) return;
    unlinkBlock(work->task, block);
    block->next = work->first;
    work->first = block;
  }
};

template <class Visit>
void visitValue(const MelixType* type, const uint8_t* value, const Visit& visit);

template <class Visit>
void visitFields(const MelixField* fields, uint32_t count, const uint8_t* base, const Visit& visit) {
  for (uint32_t k = 0; k < count; k++) {
    if (fields[k].type->flags & MELIX_HOLDS_REFS) visitValue(fields[k].type, base + fields[k].offset, visit);
  }
}

/// Calls visit(data) for every counted pointer that is part of the value. Recursion follows the type only.
template <class Visit>
void visitValue(const MelixType* type, const uint8_t* value, const Visit& visit) {
  if (!(type->flags & MELIX_HOLDS_REFS)) return;
  switch (type->kind) {
  case MELIX_KIND_STR:
  case MELIX_KIND_ARRAY:
  case MELIX_KIND_LIST:
  case MELIX_KIND_ENUM: {
    uintptr_t word;
    memcpy(&word, value, sizeof word);
    if (word != 0 && !(word & 1)) visit(reinterpret_cast<void*>(word));
    return;
  }
  case MELIX_KIND_TUPLE:
  case MELIX_KIND_INSIDE:
  case MELIX_KIND_DICT:
  case MELIX_KIND_SET:
  case MELIX_KIND_RECORDS:
  case MELIX_KIND_CASES:
  case MELIX_KIND_STRUCT: visitFields(type->fields, type->fieldCount, value, visit); return;
  default: return;
  }
}

template <class Visit>
void visitBlock(MelixBlock* block, const Visit& visit) {
  const MelixType* type = block->type;
  if (!type) return;
  const uint8_t* data = dataOf(block);
  if (block->layout == MELIX_LAYOUT_NODE) {
    uint32_t tag;
    memcpy(&tag, data, sizeof tag);
    if (tag < type->caseCount) visitFields(type->cases[tag].fields, type->cases[tag].fieldCount, data, visit);
    return;
  }
  if (!(type->flags & MELIX_HOLDS_REFS) || type->size == 0) return;
  uint64_t count = block->bytes / type->size;
  if (block->layout == MELIX_LAYOUT_LIST) {
    count = static_cast<uint64_t>(reinterpret_cast<const MelixListHead*>(data)->len);
    data += MELIX_LIST_ELEMENTS;
  }
  for (uint64_t k = 0; k < count; k++) visitValue(type, data + k * type->size, visit);
}

void finish(Worklist& work) {
  while (MelixBlock* block = work.first) {
    work.first = block->next;
    visitBlock(block, Release{&work});
    freeBlock(work.task, block);
  }
}

} // namespace

/// Counts the owners of blocks, which begin with none, and joins those that have one to a list, through which
/// what they own is found.
struct CountOwners {
  MelixTask* task;
  MelixBlock* owned; ///< sentinel of the list
  void operator()(void* data) const {
    MelixBlock* block = headerOf(data);
    if (block->refs < 0 || block->refs++ > 0) return;
    unlinkBlock(task, block);
    block->prev = owned->prev;
    block->next = owned;
    owned->prev->next = block;
    owned->prev = block;
  }
};

void retainContents(MelixTask* task, MelixBlock* block) { visitBlock(block, Retain{task}); }

} // namespace melix::runtime

using namespace melix::runtime;

void melix_retain(MelixTask* task, void* data) {
  if (data) addOwner(task, headerOf(data));
}

void melix_release(MelixTask* task, void* data) {
  if (!data) return;
  Worklist work{task};
  Release{&work}(data);
  finish(work);
}

void melix_retain_word(MelixTask* task, void* word) {
  if (!(reinterpret_cast<uintptr_t>(word) & 1)) melix_retain(task, word);
}

void melix_release_word(MelixTask* task, void* word) {
  if (!(reinterpret_cast<uintptr_t>(word) & 1)) melix_release(task, word);
}

void melix_retain_value(MelixTask* task, const MelixType* type, const void* value) {
  visitValue(type, static_cast<const uint8_t*>(value), Retain{task});
}

void melix_release_value(MelixTask* task, const MelixType* type, const void* value) {
  Worklist work{task};
  visitValue(type, static_cast<const uint8_t*>(value), Release{&work});
  finish(work);
}

/// What of a block's data is in use: not the room of a list.
static int64_t usedBytes(MelixBlock* block) {
  if (block->layout != MELIX_LAYOUT_LIST) return static_cast<int64_t>(block->bytes);
  const int64_t length = reinterpret_cast<const MelixListHead*>(dataOf(block))->len;
  return MELIX_LIST_ELEMENTS + length * static_cast<int64_t>(block->type->size);
}

void* melix_ensure_unique(MelixTask* task, void* data) { return melix_unique_beside(task, data, 0, 0); }

void* melix_unique_beside(MelixTask* task, void* data, int64_t first, int64_t last) {
  if (!data) return nullptr;
  MelixBlock* block = headerOf(data);
  int32_t refs = task->head.threaded ? __atomic_load_n(&block->refs, __ATOMIC_ACQUIRE) : block->refs;
  if (refs == 1) return data;
  const auto size = static_cast<int64_t>(block->bytes), bytes = usedBytes(block);
  void* copy = melix_alloc(task, size);
  MelixBlock* fresh = headerOf(copy);
  fresh->type = block->type;
  fresh->layout = block->layout;
  if (first < 0 || last > bytes || first >= last) first = last = 0;
  if (block->valid & MELIX_VALID_HOST) {
    memcpy(copy, data, static_cast<size_t>(first));
    memcpy(static_cast<uint8_t*>(copy) + last, static_cast<uint8_t*>(data) + last,
           static_cast<size_t>(bytes - last));
  } else {
    deviceHooks->copy(task, fresh, block);
  }
  guardRest(static_cast<uint8_t*>(copy), static_cast<uint64_t>(bytes), static_cast<uint64_t>(size));
  retainContents(task, fresh);
  melix_release(task, data);
  return copy;
}

void melix_count_owners(MelixTask* task, const MelixValue* values, int64_t count) {
  MelixBlock* all = &task->rootList;
  for (MelixBlock* block = all->next; block != all; block = block->next)
    if (block->refs >= 0) block->refs = 0;
  MelixBlock owned;
  makeEmptyList(owned);
  const CountOwners visit{task, &owned};
  for (int64_t k = 0; k < count; k++)
    visitValue(values[k].type, static_cast<const uint8_t*>(values[k].data), visit);
  for (MelixBlock* block = owned.next; block != &owned; block = block->next) visitBlock(block, visit);
  freeList(task, *all);
  spliceList(owned, *all);
}
