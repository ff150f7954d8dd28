#include "loops/layout/layout.h"

#include "types/tangent.h"

namespace melix::loops {
namespace {

uint32_t alignUp(uint32_t offset, uint32_t align) { return (offset + align - 1) / align * align; }

} // namespace

bool Layouts::isProduct(TypeId type) const {
  return types::hasParts(types, type) ||
         (types.kind(type) == TypeKind::Array && types::isFlattened(types, type));
}

bool Layouts::inBlock(TypeId type) {
  leaves(type);
  return inBlock_.count(type) != 0;
}

bool Layouts::holdsItself(TypeId type) {
  return types::holdsItself(types, type, false); // lists are worked on by functions
}

void Layouts::addLeaves(TypeId type, std::vector<ValueType>& out) {
  TypeKind kind = types.kind(type);
  if (types::scalarBits(kind) != 0) return out.push_back(scalarType(kind));
  if (isProduct(type)) return addParts(type, out);
  switch (kind) {
  case TypeKind::Exit: return out.push_back(indexType);
  case TypeKind::Str: out.push_back(dataType); return out.push_back(indexType);
  case TypeKind::Array:
  case TypeKind::List: return out.push_back(dataType);
  case TypeKind::Enum: return out.push_back(wordType);
  case TypeKind::Pack:
    for (uint32_t k = 0; k < packCount(type); ++k) out.push_back(indexType);
    return append(packInner(type), out);
  case TypeKind::Acc: return addAddresses(types[type].parts[0], out);
  default: break;
  }
}

void Layouts::addParts(TypeId type, std::vector<ValueType>& out) {
  for (uint32_t k = 0, n = partCount(type); k < n; ++k) append(part(type, k), out);
  if (out.size() <= leafLimit) return;
  out = {dataType};
  inBlock_.insert(type);
}

void Layouts::append(TypeId type, std::vector<ValueType>& out) {
  const std::vector<ValueType>& own = leaves(type);
  out.insert(out.end(), own.begin(), own.end());
}

void Layouts::addAddresses(TypeId type, std::vector<ValueType>& out) {
  if (!isProduct(type)) return out.push_back(addressType);
  for (uint32_t k = 0, n = partCount(type); k < n; ++k) addAddresses(part(type, k), out);
}

const std::vector<ValueType>& Layouts::leaves(TypeId type) {
  if (auto found = leaves_.find(type); found != leaves_.end()) return found->second;
  std::vector<ValueType> list;
  addLeaves(type, list);
  return leaves_.emplace(type, std::move(list)).first->second;
}

uint32_t Layouts::partCount(TypeId type) const { return types::partsOf(types, type); }

TypeId Layouts::part(TypeId type, uint32_t k) { return types::partOf(types, type, k); }

uint32_t Layouts::firstLeaf(TypeId type, uint32_t k, bool inAcc) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < k; ++i) {
    TypeId p = part(type, i);
    first += leafCount(inAcc ? types.acc(p) : p);
  }
  return first;
}

uint32_t Layouts::partOffset(StoredType type, uint32_t k) {
  if (auto known = partOffsets_.find(type.type); known != partOffsets_.end()) return known->second[k];
  std::vector<uint32_t> offsets;
  uint32_t offset = 0;
  for (uint32_t i = 0, count = partCount(type.type); i < count; ++i) {
    const StoredForm form = stored(part(type, i));
    offset = alignUp(offset, form.align);
    offsets.push_back(offset);
    offset += form.size;
  }
  return partOffsets_.emplace(type.type, std::move(offsets)).first->second[k];
}

uint32_t Layouts::packOffset(TypeId pack) const {
  return isArrayLeaf(packInner(pack)) ? 0 : 8 * packCount(pack);
}

uint32_t Layouts::caseCount(TypeId enumType) const {
  return static_cast<uint32_t>(types.recordInfo(types[enumType].record).cases.size());
}

uint32_t Layouts::fieldCount(TypeId enumType, uint32_t c) const {
  return static_cast<uint32_t>(types.recordInfo(types[enumType].record).cases[c].fields.size());
}

uint32_t Layouts::fieldOffset(StoredType type, uint32_t c, uint32_t k) {
  uint32_t offset = 4;
  for (uint32_t i = 0;; ++i) {
    StoredForm form = stored(field(type, c, i));
    offset = alignUp(offset, form.align);
    if (i == k) return offset;
    offset += form.size;
  }
}

uint32_t Layouts::nodeBytes(StoredType type, uint32_t c) {
  uint32_t count = fieldCount(type.type, c);
  if (count == 0) return 8;
  return alignUp(fieldOffset(type, c, count - 1) + stored(field(type, c, count - 1)).size, 8);
}

StoredType Layouts::inMemory(TypeId type) {
  auto [known, isNew] = inMemory_.try_emplace(type);
  if (isNew) known->second = types.eraseDims(type);
  return {known->second};
}

StoredForm Layouts::stored(StoredType stored) {
  const TypeId type = stored.type;
  if (auto found = stored_.find(type); found != stored_.end()) return found->second;
  StoredForm form;
  TypeKind kind = types.kind(type);
  if (unsigned bits = types::scalarBits(kind)) {
    form = {bits / 8, std::min(bits / 8, 8u), false};
  } else if (kind == TypeKind::Exit) {
    form = {8, 8, false};
  } else if (kind == TypeKind::Str) {
    form = {16, 8, true};
  } else if (isInPlace(stored)) {
    const uint32_t align = this->stored(types.element(type)).align;
    form = {static_cast<uint32_t>(*types::bytesInPlace(types, type)), align, false};
  } else if (isArrayLeaf(type)) {
    form = {8 + 8 * static_cast<uint32_t>(types.rank(type)), 8, true};
  } else if (kind == TypeKind::Pack) {
    StoredForm inner = this->stored(packInner(type));
    form = {alignUp(packOffset(type) + inner.size, 8), 8, inner.counted};
  } else if (isProduct(type)) {
    for (uint32_t k = 0, n = partCount(type); k < n; ++k) {
      StoredForm part = this->stored(this->part(stored, k));
      form.size = alignUp(form.size, part.align) + part.size;
      form.align = std::max(form.align, part.align);
      form.counted |= part.counted;
    }
    form.size = alignUp(form.size, form.align);
  } else if (kind == TypeKind::List || kind == TypeKind::Enum) {
    form = {8, 8, true};
  }
  stored_[type] = form;
  return form;
}

std::string Layouts::unsupported(TypeId type) {
  if (supported_.count(type)) return {};
  switch (TypeKind kind = types.kind(type)) {
  case TypeKind::C64:
  case TypeKind::C128:
  case TypeKind::F8E4M3:
  case TypeKind::F8E5M2: return std::string(types::scalarName(kind));
  case TypeKind::Function: return "a function value that was not resolved";
  case TypeKind::Tuple:
  case TypeKind::Known:
  case TypeKind::Array:
  case TypeKind::List:
  case TypeKind::Pack:
  case TypeKind::Acc:
    for (TypeId part : types[type].parts)
      if (std::string text = unsupported(part); !text.empty()) return text;
    break;
  default: break;
  }
  supported_.insert(type);
  return {};
}

} // namespace melix::loops
