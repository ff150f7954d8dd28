// Text of any value by its type descriptor.
#include "builtins.h"
#include "format.h"
#include "stored_forms.h"

namespace melix::runtime {

namespace {

/// Above this many elements the middle of an array or list is left out, …
constexpr int64_t shownWhole = 1000;
/// … and this many are shown at each end of an axis.
constexpr int64_t shownAtEnd = 3;

struct Formatter {
  MelixTask* task;
  TextBuffer& out;
  const FormatSpec& spec;

  void value(const MelixType* type, const uint8_t* data, bool nested);
  void fields(const MelixField* fields, uint32_t count, const uint8_t* base);
  void caseOf(const MelixType* type, uint32_t tag, const uint8_t* base);
  void array(const MelixType* type, const uint8_t* stored, bool nested);
  void records(const MelixType* type, const uint8_t* stored, bool nested);
  void list(const MelixType* type, const uint8_t* stored);
  void entries(const MelixType* dict, const uint8_t* base, bool withValues);
};

/// The axes of an array, and how its element at a row-major index is shown.
template <class Element>
struct ArrayWriter {
  TextBuffer& out;
  const int64_t* dims;
  int rank;
  bool shorten;
  bool oneLine;
  Element element;

  void axis(int depth, int64_t first) {
    out.addByte('[');
    int64_t stride = 1;
    for (int k = depth + 1; k < rank; k++) stride *= dims[k];
    bool inner = depth + 1 == rank;
    for (int64_t i = 0; i < dims[depth]; i++) {
      if (i > 0) separate(depth, inner);
      if (shorten && dims[depth] > 2 * shownAtEnd && i == shownAtEnd) {
        out.add("…");
        i = dims[depth] - shownAtEnd - 1;
        continue;
      }
      if (inner)
        element(first + i);
      else
        axis(depth + 1, first + i * stride);
    }
    out.addByte(']');
  }

private:
  void separate(int depth, bool inner) {
    if (inner || oneLine) return out.add(", ");
    out.add(",\n");
    for (int k = 0; k <= depth; k++) out.addByte(' ');
  }
};

template <class Element>
void writeArray(TextBuffer& out, const int64_t* dims, int rank, bool nested, Element element) {
  if (sizeOf(dims, rank) == 0) { // no elements: the rows say nothing
    out.add("[]");
    return;
  }
  ArrayWriter<Element> writer{out, dims, rank, sizeOf(dims, rank) > shownWhole, nested, element};
  writer.axis(0, 0);
}

void Formatter::array(const MelixType* type, const uint8_t* stored, bool nested) {
  const ArrayAt at = arrayAt(type, stored);
  const MelixType* elem = type->elem;
  writeArray(out, at.dims, type->rank, nested,
             [&](int64_t i) { value(elem, at.data + static_cast<uint64_t>(i) * elem->size, true); });
}

/// The dims of an array of records, which begin those of each array that it is made of.
const int64_t* dimsOf(const MelixType* type, const uint8_t* stored) {
  for (; type->kind == MELIX_KIND_RECORDS; type = type->fields->type) stored += type->fields->offset;
  return arrayAt(type, stored).dims;
}

/// Copies to `out`, without owners, element `index` over the first `axes` axes: `to` is its type.
void copyElement(const MelixType* from, const uint8_t* stored, int axes, int64_t index, const MelixType* to,
                 uint8_t* out) {
  if (from->kind == MELIX_KIND_RECORDS) {
    for (uint32_t k = 0; k < from->fieldCount; k++)
      copyElement(from->fields[k].type, stored + from->fields[k].offset, axes, index, to->fields[k].type,
                  out + to->fields[k].offset);
    return;
  }
  const auto [data, dims] = arrayAt(from, stored);
  const int inner = from->rank - axes;
  const int64_t count = sizeOf(dims + axes, inner);
  const uint8_t* at = data + static_cast<uint64_t>(index * count) * from->elem->size;
  if (inner == 0 || to->dims) {
    memcpy(out, at, static_cast<uint64_t>(count) * from->elem->size);
    return;
  }
  memcpy(out, &at, sizeof at);
  memcpy(out + 8, dims + axes, sizeof(int64_t) * static_cast<size_t>(inner));
}

/// One element after another is put together.
void Formatter::records(const MelixType* type, const uint8_t* stored, bool nested) {
  auto* element = static_cast<uint8_t*>(__builtin_alloca(type->elem->size));
  writeArray(out, dimsOf(type, stored), type->rank, nested, [&](int64_t i) {
    copyElement(type, stored, type->rank, i, type->elem, element);
    value(type->elem, element, true);
  });
}

void Formatter::list(const MelixType* type, const uint8_t* stored) {
  const uint8_t* data;
  memcpy(&data, stored, sizeof data);
  int64_t len = melix_list_length(data);
  const MelixType* elem = type->elem;
  writeArray(out, &len, 1, true, [&](int64_t i) {
    value(elem, data + MELIX_LIST_ELEMENTS + static_cast<uint64_t>(i) * elem->size, true);
  });
}

/// The entries of a dictionary that count, or their keys alone.
void Formatter::entries(const MelixType* dict, const uint8_t* base, bool withValues) {
  const uint8_t *pairs, *table;
  int64_t gone, bits, at = 0;
  auto read = [&](MelixDictField field, auto& to) {
    memcpy(&to, base + dict->fields[field].offset, sizeof to);
  };
  read(MELIX_DICT_TABLE, table);
  read(MELIX_DICT_ENTRIES, pairs);
  read(MELIX_DICT_GONE, gone);
  read(MELIX_DICT_BITS, bits);
  const MelixType* pair = dict->fields[MELIX_DICT_ENTRIES].type->elem;
  gone &= UINT32_MAX;
  const int64_t count = melix_list_length(pairs), there = count - gone;
  const int32_t key = pair->fields[0].type->kind;
  const bool hasBits = MELIX_KIND_I8 <= key && key <= MELIX_KIND_U64;
  auto isThere = [&](int64_t k) {
    if (gone == 0) return true;
    const auto word = static_cast<uint64_t>((int64_t{1} << bits) + (hasBits ? k / 32 : k));
    uint32_t marks;
    memcpy(&marks, table + MELIX_LIST_ELEMENTS + sizeof marks * word, sizeof marks);
    return (marks >> (hasBits ? k % 32 : 31)) % 2 == 0;
  };
  for (int64_t k = 0; k < count; k++) {
    if (!isThere(k)) continue;
    const bool left = there > shownWhole && at >= shownAtEnd && at < there - shownAtEnd;
    const bool isFirstLeft = left && at == shownAtEnd;
    if (at++ > 0 && (!left || isFirstLeft)) out.add(", ");
    if (isFirstLeft) out.add("…");
    if (left) continue;
    const uint8_t* entry = pairs + MELIX_LIST_ELEMENTS + static_cast<uint64_t>(k) * pair->size;
    value(pair->fields[0].type, entry + pair->fields[0].offset, true);
    if (!withValues) continue;
    out.add(": ");
    value(pair->fields[1].type, entry + pair->fields[1].offset, true);
  }
}

void Formatter::fields(const MelixField* fields, uint32_t count, const uint8_t* base) {
  for (uint32_t k = 0; k < count; k++) {
    if (k > 0) out.add(", ");
    if (fields[k].name) {
      out.add(fields[k].name);
      out.add(": ");
    }
    value(fields[k].type, base + fields[k].offset, true);
  }
}

void Formatter::caseOf(const MelixType* type, uint32_t tag, const uint8_t* base) {
  if (tag >= type->caseCount) return;
  const MelixCase& c = type->cases[tag];
  out.add(c.name);
  if (c.fieldCount == 0) return;
  out.addByte('(');
  fields(c.fields, c.fieldCount, base);
  out.addByte(')');
}

void Formatter::value(const MelixType* type, const uint8_t* data, bool nested) {
  if (__builtin_frame_address(0) < task->stackLimit) [[unlikely]] {
    out.release();
    checkStack(task);
  }
  switch (type->kind) {
  case MELIX_KIND_ARRAY: return array(type, data, nested);
  case MELIX_KIND_RECORDS: return records(type, data, nested);
  case MELIX_KIND_LIST: return list(type, data);
  case MELIX_KIND_TUPLE:
    out.addByte('(');
    fields(type->fields, type->fieldCount, data);
    return out.add(type->fieldCount == 1 ? ",)" : ")");
  case MELIX_KIND_STRUCT:
    out.add(type->name);
    out.addByte('(');
    fields(type->fields, type->fieldCount, data);
    return out.addByte(')');
  case MELIX_KIND_DICT:
    out.addByte('[');
    entries(type, data, true);
    return out.addByte(']');
  case MELIX_KIND_SET: {
    const MelixField& items = type->fields[0];
    out.add("Set(");
    entries(items.type, data + items.offset, false);
    return out.addByte(')');
  }
  case MELIX_KIND_ENUM: {
    uintptr_t word;
    memcpy(&word, data, sizeof word);
    if (word & 1) return caseOf(type, static_cast<uint32_t>(word >> 1), nullptr);
    if (word == 0) return;
    uint32_t tag;
    memcpy(&tag, reinterpret_cast<const void*>(word), sizeof tag);
    return caseOf(type, tag, reinterpret_cast<const uint8_t*>(word));
  }
  case MELIX_KIND_CASES: return caseOf(type, tagOf(type->fields[0], data), data);
  case MELIX_KIND_INSIDE: return value(type->fields->type, data + type->fields->offset, nested);
  case MELIX_KIND_OPAQUE: return out.add(type->name);
  default: return formatScalar(out, type->kind, data, spec, nested);
  }
}

/// The first kind of scalar in a type that the specification does not fit; its complaint.
const char* misfit(const FormatSpec& spec, const MelixType* type) {
  return type->kind <= MELIX_KIND_STR ? checkSpec(spec, type->kind) : nullptr;
}

} // namespace

void formatValue(MelixTask* task, TextBuffer& out, const MelixType* type, const void* value,
                 const FormatSpec& spec, bool quoted) {
  auto* data = static_cast<const uint8_t*>(value);
  for (; type->kind == MELIX_KIND_INSIDE; type = type->fields->type) data += type->fields->offset;
  // A matrix is a row a line, quoted or not, unless it is part of another value.
  const bool nested = quoted && type->kind != MELIX_KIND_ARRAY && type->kind != MELIX_KIND_RECORDS;
  Formatter{task, out, spec}.value(type, data, nested);
}

} // namespace melix::runtime

using namespace melix::runtime;

MelixStr melix_format_value(MelixTask* task, const MelixType* type, const void* value, const uint8_t* text,
                            int64_t len, int32_t quoted, int64_t first, int64_t second) {
  checkStack(task);
  FormatSpec spec;
  const int64_t numbers[] = {first, second};
  const char* wrong = parseSpec(text, len, numbers, spec);
  const MelixType* leaf = type;
  while (leaf->kind == MELIX_KIND_ARRAY || leaf->kind == MELIX_KIND_RECORDS || leaf->kind == MELIX_KIND_LIST)
    leaf = leaf->elem;
  if (!wrong) wrong = misfit(spec, leaf);
  if (wrong) panicText(task, wrong);
  TextBuffer out;
  formatValue(task, out, type, value, spec, quoted != 0);
  return takeStr(task, out);
}
