#include "driver/host_types.h"

#include <algorithm>
#include <cstring>

namespace melix::driver {

using types::TypeId;
using types::TypeKind;

namespace {

struct KindRow {
  TypeKind kind;
  MelixKind runtime;
};

constexpr KindRow scalarKinds[] = {
    {TypeKind::Bool, MELIX_KIND_BOOL},     {TypeKind::Char, MELIX_KIND_CHAR},
    {TypeKind::I8, MELIX_KIND_I8},         {TypeKind::I16, MELIX_KIND_I16},
    {TypeKind::I32, MELIX_KIND_I32},       {TypeKind::I64, MELIX_KIND_I64},
    {TypeKind::U8, MELIX_KIND_U8},         {TypeKind::U16, MELIX_KIND_U16},
    {TypeKind::U32, MELIX_KIND_U32},       {TypeKind::U64, MELIX_KIND_U64},
    {TypeKind::F8E4M3, MELIX_KIND_F8E4M3}, {TypeKind::F8E5M2, MELIX_KIND_F8E5M2},
    {TypeKind::F16, MELIX_KIND_F16},       {TypeKind::BF16, MELIX_KIND_BF16},
    {TypeKind::F32, MELIX_KIND_F32},       {TypeKind::F64, MELIX_KIND_F64},
    {TypeKind::C64, MELIX_KIND_C64},       {TypeKind::C128, MELIX_KIND_C128},
    {TypeKind::Str, MELIX_KIND_STR},
};

const MelixType* scalarDescriptor(TypeKind kind) {
  for (const KindRow& row : scalarKinds)
    if (row.kind == kind) return &melix_scalar_types[row.runtime];
  return nullptr;
}

uint32_t roundUp(uint32_t value, uint32_t align) { return (value + align - 1) / align * align; }

interp::Slot partOf(const interp::Record& record, size_t k) { return record.parts[k]; }

} // namespace

const char* HostTypes::text(std::string_view s) { return texts_.emplace_back(s).c_str(); }

TypeId HostTypes::opened(TypeId type) {
  if (types_.kind(type) != TypeKind::Pack) return type;
  std::vector<types::DimId> dims;
  for (uint32_t k = 0; k < types_[type].number; ++k) dims.push_back(types_.dims.symbol(types_.boundSym(k)));
  return types_.openPack(type, dims);
}

uint32_t HostTypes::layOut(std::span<const TypeId> parts, std::span<const NameId> names, uint32_t offset,
                           uint8_t& align, uint8_t& flags, const MelixField*& fields) {
  std::vector<MelixField> out;
  for (size_t k = 0; k < parts.size(); ++k) {
    const MelixType* part = descriptor(parts[k], true);
    offset = roundUp(offset, std::max<uint8_t>(part->align, 1));
    const char* name = k < names.size() && names[k] ? text(types_.names.text(names[k])) : nullptr;
    out.push_back({name, part, offset});
    offset += part->size;
    align = std::max(align, part->align);
    flags = static_cast<uint8_t>(flags | part->flags);
  }
  fields = fields_.emplace_back(std::move(out)).data();
  return offset;
}

/// A word, so that recursive enums need nothing of their own descriptor but its address.
void HostTypes::describeEnum(TypeId type, MelixType& out) {
  out.kind = MELIX_KIND_ENUM;
  out.size = out.align = 8;
  out.flags = MELIX_HOLDS_REFS;
  const types::Record& record = types_.recordInfo(types_[type].record);
  out.name = text(types_.names.text(record.name));
  std::vector<MelixCase> cases;
  for (uint32_t c = 0; c < record.cases.size(); ++c) {
    std::vector<TypeId> parts;
    std::vector<NameId> names;
    for (uint32_t k = 0; k < record.cases[c].fields.size(); ++k) {
      parts.push_back(types_.fieldType(type, c, k));
      names.push_back(record.cases[c].fields[k].name);
    }
    MelixCase made{};
    made.name = text(types_.names.text(record.cases[c].name));
    made.fieldCount = static_cast<uint32_t>(parts.size());
    uint8_t align = 4, flags = 0;
    made.size = layOut(parts, names, 4, align, flags, made.fields);
    cases.push_back(made);
  }
  out.caseCount = static_cast<uint32_t>(cases.size());
  out.cases = cases_.emplace_back(std::move(cases)).data();
}

const MelixType* HostTypes::describe(TypeId given) {
  const MelixType* out = descriptor(given, true);
  while (!waiting_.empty()) {
    auto [type, described] = waiting_.back();
    waiting_.pop_back();
    if (described->align == 0) fill(type, *described);
  }
  return out;
}

const MelixType* HostTypes::descriptor(TypeId given, bool inside) {
  TypeId type = types_.eraseDims(opened(given));
  if (const MelixType* scalar = scalarDescriptor(types_.kind(type))) return scalar;
  auto [known, fresh] = known_.try_emplace(type);
  if (fresh) known->second = &descriptors_.emplace_back();
  MelixType* out = known->second;
  if (!inside && fresh) waiting_.emplace_back(type, out);
  if (inside && out->align == 0) fill(type, *out);
  return out;
}

void HostTypes::fill(TypeId type, MelixType& out) {
  TypeKind kind = types_.kind(type);
  const types::Type& t = types_[type];
  switch (kind) {
  case TypeKind::Array:
    out.kind = MELIX_KIND_ARRAY;
    out.rank = static_cast<uint8_t>(t.dims.size());
    out.flags = MELIX_HOLDS_REFS;
    out.align = 8;
    out.size = 8 + 8 * out.rank;
    out.elem = descriptor(t.parts[0], false);
    break;
  case TypeKind::List:
    out.kind = MELIX_KIND_LIST;
    out.flags = MELIX_HOLDS_REFS;
    out.size = out.align = 8;
    out.elem = descriptor(t.parts[0], false);
    break;
  case TypeKind::Tuple:
  case TypeKind::Struct: {
    std::vector<TypeId> parts = t.parts;
    std::vector<NameId> names;
    if (kind == TypeKind::Struct) {
      const types::Record& record = types_.recordInfo(t.record);
      out.name = text(types_.names.text(record.name));
      parts.clear();
      for (uint32_t k = 0; k < record.cases[0].fields.size(); ++k) {
        parts.push_back(types_.fieldType(type, 0, k));
        names.push_back(record.cases[0].fields[k].name);
      }
    }
    out.kind = parts.empty() && kind == TypeKind::Tuple ? MELIX_KIND_UNIT
               : kind == TypeKind::Tuple                ? MELIX_KIND_TUPLE
               : types_.isDict(type)                    ? MELIX_KIND_DICT
               : types_.isSet(type)                     ? MELIX_KIND_SET
                                                        : MELIX_KIND_STRUCT;
    out.fieldCount = static_cast<uint32_t>(parts.size());
    out.align = 1;
    uint32_t end = layOut(parts, names, 0, out.align, out.flags, out.fields);
    out.size = roundUp(end, out.align);
    break;
  }
  case TypeKind::Enum: describeEnum(type, out); break;
  default:
    out.kind = MELIX_KIND_OPAQUE;
    out.align = 1;
    out.name = text(types_.show(type));
    break;
  }
}

void HostTypes::storeArray(TypeId type, const interp::Array& array, char* to) {
  const MelixType* element = describe(types_[type].parts[0]);
  int64_t bytes = array.count * element->size;
  bool counted = element->flags & MELIX_HOLDS_REFS || element->kind == MELIX_KIND_STR;
  void* data =
      counted ? melix_alloc_typed(task_, bytes, element, MELIX_LAYOUT_ELEMENTS) : melix_alloc(task_, bytes);
  if (!interp::isObject(array.element))
    std::memcpy(data, array.data, static_cast<size_t>(bytes));
  else
    for (int64_t k = 0; k < array.count; ++k)
      store(types_[type].parts[0], array.at(k), static_cast<char*>(data) + k * element->size);
  std::memcpy(to, &data, sizeof data);
  const std::span<const int64_t> dims(array.dims);
  std::memcpy(to + 8, dims.data(), dims.size_bytes());
}

void HostTypes::storeRecord(TypeId type, const interp::Record& record, char* to) {
  const MelixType* descriptor = describe(type);
  if (types_.kind(type) != TypeKind::Enum) {
    for (uint32_t k = 0; k < descriptor->fieldCount; ++k) {
      TypeId part =
          types_.kind(type) == TypeKind::Struct ? types_.fieldType(type, 0, k) : types_[type].parts[k];
      store(part, partOf(record, k), to + descriptor->fields[k].offset);
    }
    return;
  }
  const MelixCase& c = descriptor->cases[record.tag];
  uint64_t word = (static_cast<uint64_t>(record.tag) << 1) | 1;
  if (c.fieldCount > 0) {
    char* node = static_cast<char*>(melix_alloc_typed(task_, c.size, descriptor, MELIX_LAYOUT_NODE));
    std::memcpy(node, &record.tag, sizeof record.tag);
    for (uint32_t k = 0; k < c.fieldCount; ++k)
      store(types_.fieldType(type, record.tag, k), partOf(record, k), node + c.fields[k].offset);
    word = reinterpret_cast<uint64_t>(node);
  }
  std::memcpy(to, &word, sizeof word);
}

void HostTypes::store(TypeId given, interp::Slot value, char* to) {
  if (types_.kind(given) == TypeKind::Pack && value.o) // the hidden sizes come first
    value = static_cast<const interp::Record*>(value.o)->parts.back();
  TypeId type = opened(given);
  TypeKind held = interp::slotKind(types_, type);
  if (!interp::isObject(held)) return interp::storeSlot(held, to, value);
  const MelixType* descriptor = describe(type);
  std::memset(to, 0, descriptor->size);
  if (!value.o) return;
  switch (value.o->kind) {
  case interp::ObjectKind::Array: return storeArray(type, static_cast<const interp::Array&>(*value.o), to);
  case interp::ObjectKind::Record:
    if (descriptor->kind != MELIX_KIND_OPAQUE)
      storeRecord(type, static_cast<const interp::Record&>(*value.o), to);
    return;
  case interp::ObjectKind::List: {
    void* list = nullptr;
    TypeId element = types_[type].parts[0];
    for (interp::Slot item : static_cast<const interp::List&>(*value.o).items)
      store(element, item, static_cast<char*>(melix_list_push(task_, &list, descriptor->elem)));
    std::memcpy(to, &list, sizeof list);
    return;
  }
  case interp::ObjectKind::Str: {
    const std::string& s = static_cast<const interp::Str&>(*value.o).text;
    MelixStr out{nullptr, static_cast<int64_t>(s.size())};
    if (!s.empty()) {
      void* data = melix_alloc(task_, out.len);
      std::memcpy(data, s.data(), s.size());
      out.data = static_cast<const uint8_t*>(data);
    }
    std::memcpy(to, &out, sizeof out);
    return;
  }
  case interp::ObjectKind::Hidden: return;
  }
}

} // namespace melix::driver
