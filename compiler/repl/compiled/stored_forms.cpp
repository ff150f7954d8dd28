#include "repl/compiled/stored_forms.h"

#include "types/leaves.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace melix::repl {

using interp::Slot;
using interp::Value;
using types::TypeId;
using types::TypeKind;

namespace {

template <class T>
T read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void write(char* at, const void* value, size_t bytes) { std::memcpy(at, value, bytes); }

bool isScalar(const MelixType& t) { return t.kind > MELIX_KIND_UNIT && t.kind < MELIX_KIND_STR; }

/// The sizes of an array that lies at `at`, or in place.
std::span<const int64_t> dimsOf(const MelixType& t, const char* at) {
  if (t.dims) return {t.dims, t.rank};
  return {reinterpret_cast<const int64_t*>(at + sizeof(void*)), t.rank};
}

int64_t productOf(std::span<const int64_t> dims) {
  int64_t out = 1;
  for (int64_t d : dims) out *= d;
  return out;
}

/// What of a type stands at element, part or field `k`.
class Types {
public:
  explicit Types(types::TypeStore& store) : store(store) {}
  types::TypeStore& store;

  TypeKind kind(TypeId t) const { return store.kind(t); }
  TypeKind held(TypeId t) const { return interp::slotKind(store, t); }
  TypeId inner(TypeId t) const { return store[t].parts[0]; } ///< an element, or what a pack hides
  TypeId part(TypeId t, uint32_t k) const { return types::partOf(store, t, k); }
  TypeId field(TypeId t, uint32_t c, uint32_t k) const { return store.fieldType(t, c, k); }
  uint32_t hidden(TypeId pack) const { return store[pack].number; }

  /// The hidden size `h` of a pack of an array with these sizes.
  int64_t hiddenOf(TypeId array, uint32_t h, std::span<const int64_t> dims) const {
    for (size_t k = 0; k < dims.size(); ++k)
      if (store.dims.asSymbol(store[array].dims[k]) == store.boundSym(h)) return dims[k];
    return 0;
  }
};

/// Reads the flat form of a stored value.
class Reader {
public:
  Reader(types::TypeStore& store, std::shared_ptr<StoredValue> whole)
      : types_(store), whole_(std::move(whole)) {}

  Value value(TypeId type, const MelixType& t, const char* at) {
    if (types_.kind(type) == TypeKind::Pack) return pack(type, t, at);
    if (isScalar(t)) {
      const TypeKind kind = types_.kind(type);
      return Value(kind, interp::loadSlot(kind, at));
    }
    switch (t.kind) {
    case MELIX_KIND_STR: return text(at);
    case MELIX_KIND_ARRAY: return array(type, t, at);
    case MELIX_KIND_LIST: return list(type, t, read<const char*>(at));
    case MELIX_KIND_ENUM: return variant(type, t, read<const char*>(at));
    case MELIX_KIND_UNIT:
    case MELIX_KIND_OPAQUE: return Value::tuple({});
    default: return parts(type, t, at);
    }
  }

private:
  static Value text(const char* at) {
    const auto s = read<MelixStr>(at);
    return Value::text(s.data ? std::string(reinterpret_cast<const char*>(s.data), static_cast<size_t>(s.len))
                              : "");
  }

  Value array(TypeId type, const MelixType& t, const char* at) {
    const std::span<const int64_t> dims = dimsOf(t, at);
    const char* data = t.dims ? at : read<const char*>(at);
    const int64_t count = productOf(dims);
    if (!data && count > 0) return Value::ofObject(nullptr); // nothing reads it
    const TypeId element = types_.inner(type);
    const TypeKind kind = types_.held(element);
    if (!interp::isObject(kind) && data) return Value::ofObject(new interp::Array(kind, dims, data, whole_));
    auto* made = new interp::Array(kind, dims);
    Value out = Value::ofObject(made);
    for (int64_t k = 0; k < count; ++k)
      made->put(k, value(element, *t.elem, data + k * t.elem->size).takeSlot());
    return out;
  }

  Value list(TypeId type, const MelixType& t, const char* data) {
    const TypeId element = types_.inner(type);
    std::vector<Value> items;
    for (int64_t k = 0, n = melix_list_length(data); k < n; ++k)
      items.push_back(value(element, *t.elem, data + MELIX_LIST_ELEMENTS + k * t.elem->size));
    return Value::list(types_.held(element), std::move(items));
  }

  Value variant(TypeId type, const MelixType& t, const char* word) {
    const auto bits = reinterpret_cast<uintptr_t>(word);
    if (bits == 0) return Value::ofObject(nullptr);
    if (bits & 1) return Value::variant(static_cast<uint32_t>(bits >> 1), {});
    const auto tag = read<uint32_t>(word);
    const MelixCase& c = t.cases[tag];
    std::vector<Value> fields;
    for (uint32_t k = 0; k < c.fieldCount; ++k)
      fields.push_back(value(types_.field(type, tag, k), *c.fields[k].type, word + c.fields[k].offset));
    return Value::variant(tag, std::move(fields));
  }

  Value parts(TypeId type, const MelixType& t, const char* at) {
    std::vector<Value> out;
    for (uint32_t k = 0; k < t.fieldCount; ++k)
      out.push_back(value(types_.part(type, k), *t.fields[k].type, at + t.fields[k].offset));
    return Value::tuple(std::move(out));
  }

  Value pack(TypeId type, const MelixType& t, const char* at) {
    const TypeId inner = types_.inner(type);
    std::vector<Value> out;
    for (uint32_t h = 0; h < types_.hidden(type); ++h)
      out.push_back(Value::integer(t.kind == MELIX_KIND_ARRAY ? types_.hiddenOf(inner, h, dimsOf(t, at))
                                                              : read<int64_t>(at + 8 * h)));
    const bool isInside = t.kind == MELIX_KIND_INSIDE;
    out.push_back(isInside ? value(inner, *t.fields[0].type, at + t.fields[0].offset) : value(inner, t, at));
    return Value::tuple(std::move(out));
  }

  Types types_;
  std::shared_ptr<StoredValue> whole_;
};

/// Writes a value in the flat form to memory whose bytes are 0. It may panic, and owns nothing there.
class Writer {
public:
  Writer(types::TypeStore& store, MelixTask* task) : types_(store), task_(task) {}

  void value(TypeId type, const MelixType& t, Slot v, char* to) {
    if (isScalar(t)) return interp::storeSlot(types_.kind(type), to, v);
    if (!v.o) return;
    if (types_.kind(type) == TypeKind::Pack) return pack(type, t, record(v), to);
    switch (t.kind) {
    case MELIX_KIND_STR: return text(static_cast<const interp::Str&>(*v.o).text, to);
    case MELIX_KIND_ARRAY: return array(type, t, static_cast<const interp::Array&>(*v.o), to);
    case MELIX_KIND_LIST: return list(type, t, static_cast<const interp::List&>(*v.o), to);
    case MELIX_KIND_ENUM: return variant(type, t, record(v), to);
    case MELIX_KIND_UNIT:
    case MELIX_KIND_OPAQUE: return;
    default: return parts(type, t, record(v), to);
    }
  }

private:
  static const interp::Record& record(Slot v) { return static_cast<const interp::Record&>(*v.o); }

  void text(const std::string& s, char* to) {
    if (s.empty()) return;
    const MelixStr out{static_cast<const uint8_t*>(melix_alloc(task_, static_cast<int64_t>(s.size()))),
                       static_cast<int64_t>(s.size())};
    std::memcpy(const_cast<uint8_t*>(out.data), s.data(), s.size());
    write(to, &out, sizeof out);
  }

  void array(TypeId type, const MelixType& t, const interp::Array& a, char* to) {
    const int64_t bytes = a.count * t.elem->size;
    char* data = to;
    if (!t.dims) {
      const bool counted = t.elem->flags & MELIX_HOLDS_REFS;
      data = static_cast<char*>(counted ? melix_alloc_typed(task_, bytes, t.elem, MELIX_LAYOUT_ELEMENTS)
                                        : melix_alloc_zeroed(task_, bytes));
      write(to, &data, sizeof data);
      const std::span<const int64_t> dims(a.dims);
      write(to + sizeof data, dims.data(), dims.size_bytes());
    }
    if (!interp::isObject(a.element)) return write(data, a.data, static_cast<size_t>(bytes));
    for (int64_t k = 0; k < a.count; ++k)
      value(types_.inner(type), *t.elem, a.at(k), data + k * t.elem->size);
  }

  void list(TypeId type, const MelixType& t, const interp::List& from, char* to) {
    if (from.items.empty()) return;
    void* data = nullptr;
    melix_list_reserve(task_, &data, t.elem, static_cast<int64_t>(from.items.size()));
    for (const Slot item : from.items) {
      auto* place = static_cast<char*>(melix_list_push(task_, &data, t.elem));
      std::memset(place, 0, t.elem->size);
      value(types_.inner(type), *t.elem, item, place);
    }
    write(to, &data, sizeof data);
  }

  void variant(TypeId type, const MelixType& t, const interp::Record& from, char* to) {
    const MelixCase& c = t.cases[from.tag];
    uintptr_t word = (static_cast<uintptr_t>(from.tag) << 1) | 1;
    if (c.fieldCount > 0) {
      auto* node = static_cast<char*>(melix_alloc_typed(task_, c.size, &t, MELIX_LAYOUT_NODE));
      write(node, &from.tag, sizeof from.tag);
      for (uint32_t k = 0; k < c.fieldCount; ++k)
        value(types_.field(type, from.tag, k), *c.fields[k].type, from.parts[k], node + c.fields[k].offset);
      word = reinterpret_cast<uintptr_t>(node);
    }
    write(to, &word, sizeof word);
  }

  void parts(TypeId type, const MelixType& t, const interp::Record& from, char* to) {
    for (uint32_t k = 0; k < t.fieldCount; ++k)
      value(types_.part(type, k), *t.fields[k].type, from.parts[k], to + t.fields[k].offset);
  }

  void pack(TypeId type, const MelixType& t, const interp::Record& from, char* to) {
    const uint32_t hidden = types_.hidden(type);
    for (uint32_t h = 0; h < hidden && t.kind != MELIX_KIND_ARRAY; ++h)
      write(to + 8 * h, &from.parts[h].i, 8);
    const bool isInside = t.kind == MELIX_KIND_INSIDE;
    value(types_.inner(type), isInside ? *t.fields[0].type : t, from.parts[hidden],
          to + (isInside ? t.fields[0].offset : 0));
  }

  Types types_;
  MelixTask* task_;
};

bool holdsFunctions(types::TypeStore& types, TypeId type, std::set<TypeId>& seen) {
  if (!seen.insert(type).second) return false;
  const TypeKind kind = types.kind(type);
  if (kind == TypeKind::Function) return true;
  if (kind == TypeKind::Struct || kind == TypeKind::Enum) {
    const types::Record& record = types.recordInfo(types[type].record);
    for (uint32_t c = 0; c < record.cases.size(); ++c)
      for (uint32_t k = 0; k < record.cases[c].fields.size(); ++k)
        if (holdsFunctions(types, record.cases[c].fields[k].type, seen)) return true;
    return false;
  }
  const std::vector<TypeId> parts = types[type].parts;
  return std::ranges::any_of(parts, [&](TypeId part) { return holdsFunctions(types, part, seen); });
}

} // namespace

bool isStorable(types::TypeStore& types, TypeId type) {
  std::set<TypeId> seen;
  return !holdsFunctions(types, type, seen);
}

Value StoredForms::plain(TypeId type, const std::shared_ptr<StoredValue>& stored) {
  const auto* at = reinterpret_cast<const char*>(stored->place());
  return forms_.outward(type, Reader(types_, stored).value(type, *stored->type(), at));
}

std::shared_ptr<StoredValue> StoredForms::stored(TypeId type, const Value& plain, const MelixType* descriptor,
                                                 std::string& problem) {
  const Value flat = forms_.inward(type, plain);
  std::shared_ptr<StoredValue> out = values_.make(descriptor);
  const auto writeAll = [&] {
    Writer(types_, values_.task())
        .value(type, *descriptor, flat.slot(), reinterpret_cast<char*>(out->place()));
  };
  const int32_t status = melix_catch(
      values_.task(), [](MelixTask*, void* work) { (*static_cast<decltype(writeAll)*>(work))(); },
      const_cast<void*>(static_cast<const void*>(&writeAll)));
  if (status == MELIX_OK) return out;
  std::memset(out->place(), 0, descriptor->size); // what it had been given is freed
  int64_t length = 0;
  const char* message = melix_panic_message(values_.task(), &length);
  problem = std::string(message, static_cast<size_t>(length));
  return nullptr;
}

} // namespace melix::repl
