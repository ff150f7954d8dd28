// MELIX_DEVICE=check: what a block gives on the device and on this processor must have the same bits.
#include "device.h"

#include "../format.h"
#include "../stored_forms.h"

namespace melix::runtime {

namespace {

/// Walks two values of a type side by side up to the first part that differs, and remembers its place.
class Comparison {
public:
  Comparison(MelixTask* task, TextBuffer& path) : task_(task), path_(path) {}

  bool same(const MelixType* type, const uint8_t* a, const uint8_t* b) {
    checkStack(task_);
    if (isAbsent(type, a) || isAbsent(type, b)) return true;
    switch (type->kind) {
    case MELIX_KIND_ARRAY: return sameArray(type, a, b);
    case MELIX_KIND_LIST: return sameList(type, a, b);
    case MELIX_KIND_RECORDS:
    case MELIX_KIND_TUPLE:
    case MELIX_KIND_STRUCT: return sameFields(type->fields, type->fieldCount, a, b);
    case MELIX_KIND_ENUM: return sameBoxes(type, a, b);
    case MELIX_KIND_CASES: {
      const uint32_t tag = tagOf(type->fields[0], a);
      return tag == tagOf(type->fields[0], b) ? sameCase(type, tag, a, b) : differ(type, a, b);
    }
    case MELIX_KIND_INSIDE:
      return same(type->fields->type, a + type->fields->offset, b + type->fields->offset);
    case MELIX_KIND_OPAQUE: return true;
    default: return sameText(type, a, b);
    }
  }

  const MelixType* type = nullptr; ///< of the parts that differ
  const uint8_t *here = nullptr, *there = nullptr;

private:
  /// Whether there is no value: the block was left before it had one. A number of its own says how it was
  /// left, and differs where only one side was. (An empty List is no memory either.)
  static bool isAbsent(const MelixType* type, const uint8_t* at) {
    const void* word = nullptr;
    switch (type->kind) {
    case MELIX_KIND_ARRAY:
      if (type->dims) return false;
      [[fallthrough]];
    case MELIX_KIND_STR: memcpy(&word, at, sizeof word); return word == nullptr;
    case MELIX_KIND_DICT:
    case MELIX_KIND_SET: {
      bool isThere = false;
      for (uint32_t k = 0; k < type->fieldCount; k++)
        isThere = isThere || !isAbsent(type->fields[k].type, at + type->fields[k].offset);
      return !isThere;
    }
    default: return false;
    }
  }

  bool differ(const MelixType* of, const uint8_t* a, const uint8_t* b) {
    type = of;
    here = a;
    there = b;
    return false;
  }

  /// Scalars, texts, Dicts and Sets: values that differ are shown differently. All NaNs are alike.
  bool sameText(const MelixType* of, const uint8_t* a, const uint8_t* b) {
    const bool isNumber = of->kind < MELIX_KIND_STR;
    if (isNumber && memcmp(a, b, of->size) == 0) return true;
    ScopedBuffer first, second;
    formatValue(task_, first, of, a, {}, true);
    formatValue(task_, second, of, b, {}, true);
    const bool isSame =
        first.len == second.len && memcmp(first.data, second.data, static_cast<size_t>(first.len)) == 0;
    return isSame || differ(of, a, b);
  }

  template <class Same>
  bool samePart(const char* before, const char* name, int64_t index, const char* after, const Same& isSame) {
    const int64_t length = path_.len;
    path_.add(before);
    if (name)
      path_.add(name);
    else
      path_.addInt(index);
    path_.add(after);
    const bool result = isSame();
    if (result) path_.len = length;
    return result;
  }

  bool sameFields(const MelixField* fields, uint32_t count, const uint8_t* a, const uint8_t* b) {
    for (uint32_t k = 0; k < count; k++) {
      const MelixField& f = fields[k];
      auto isSame = [&] { return same(f.type, a + f.offset, b + f.offset); };
      if (!samePart(".", f.name, k, "", isSame)) return false;
    }
    return true;
  }

  bool sameElements(const MelixType* elem, const uint8_t* a, const uint8_t* b, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
      const uint64_t at = static_cast<uint64_t>(k) * elem->size;
      if (elem->kind < MELIX_KIND_STR && memcmp(a + at, b + at, elem->size) == 0) continue;
      if (!samePart("[", nullptr, k, "]", [&] { return same(elem, a + at, b + at); })) return false;
    }
    return true;
  }

  /// An index into an array of several axes is that of its elements one after another.
  bool sameArray(const MelixType* of, const uint8_t* a, const uint8_t* b) {
    const ArrayAt here = arrayAt(of, a), there = arrayAt(of, b);
    if (memcmp(here.dims, there.dims, sizeof(int64_t) * of->rank) != 0) return differ(of, a, b);
    return sameElements(of->elem, here.data, there.data, sizeOf(here.dims, of->rank));
  }

  bool sameList(const MelixType* of, const uint8_t* a, const uint8_t* b) {
    const uint8_t *dataA, *dataB;
    memcpy(&dataA, a, sizeof dataA);
    memcpy(&dataB, b, sizeof dataB);
    const int64_t count = melix_list_length(dataA);
    if (count != melix_list_length(dataB)) return differ(of, a, b);
    return sameElements(of->elem, dataA + MELIX_LIST_ELEMENTS, dataB + MELIX_LIST_ELEMENTS, count);
  }

  bool sameCase(const MelixType* of, uint32_t tag, const uint8_t* a, const uint8_t* b) {
    if (tag >= of->caseCount) return true;
    return sameFields(of->cases[tag].fields, of->cases[tag].fieldCount, a, b);
  }

  bool sameBoxes(const MelixType* of, const uint8_t* a, const uint8_t* b) {
    uintptr_t wordA, wordB;
    memcpy(&wordA, a, sizeof wordA);
    memcpy(&wordB, b, sizeof wordB);
    if (wordA == wordB) return true;
    if (wordA == 0 || wordB == 0 || (wordA | wordB) & 1) return differ(of, a, b);
    const auto *boxA = reinterpret_cast<const uint8_t*>(wordA),
               *boxB = reinterpret_cast<const uint8_t*>(wordB);
    uint32_t tag, other;
    memcpy(&tag, boxA, sizeof tag);
    memcpy(&other, boxB, sizeof other);
    return tag == other ? sameCase(of, tag, boxA, boxB) : differ(of, a, b);
  }

  MelixTask* task_;
  TextBuffer& path_;
};

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_device_compare(MelixTask* task, const MelixType* type, const void* here, const void* there,
                          const char* name) {
  static TextBuffer path, text; // a panic leaves this frame
  path.clear();
  path.add(name);
  Comparison comparison(task, path);
  if (comparison.same(type, static_cast<const uint8_t*>(here), static_cast<const uint8_t*>(there))) return;
  text.clear();
  text.add("MELIX_DEVICE=check: ");
  text.add(path.data, path.len);
  text.add(" is ");
  formatValue(task, text, comparison.type, comparison.here, {}, true);
  text.add(" on this processor and ");
  formatValue(task, text, comparison.type, comparison.there, {}, true);
  text.add(" on the device");
  melix_panic(task, text.data, text.len);
}
