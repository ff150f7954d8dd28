// Constant data: texts as immortal blocks, type descriptors (melix/abi.h, sections 2 and 3).
#include "codegen/emitter.h"

#include "melix/abi.h"
#include "types/flat_enums.h"
#include "types/leaves.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

namespace melix::codegen {
namespace {

using loops::StoredType;
using types::TypeId;
using types::TypeKind;

uint8_t kindOf(TypeKind kind) {
  switch (kind) {
  case TypeKind::Bool: return MELIX_KIND_BOOL;
  case TypeKind::Char: return MELIX_KIND_CHAR;
  case TypeKind::I8: return MELIX_KIND_I8;
  case TypeKind::I16: return MELIX_KIND_I16;
  case TypeKind::I32: return MELIX_KIND_I32;
  case TypeKind::I64:
  case TypeKind::Exit: return MELIX_KIND_I64;
  case TypeKind::U8: return MELIX_KIND_U8;
  case TypeKind::U16: return MELIX_KIND_U16;
  case TypeKind::U32: return MELIX_KIND_U32;
  case TypeKind::U64: return MELIX_KIND_U64;
  case TypeKind::F16: return MELIX_KIND_F16;
  case TypeKind::BF16: return MELIX_KIND_BF16;
  case TypeKind::F32: return MELIX_KIND_F32;
  case TypeKind::F64: return MELIX_KIND_F64;
  case TypeKind::F8E4M3: return MELIX_KIND_F8E4M3;
  case TypeKind::F8E5M2: return MELIX_KIND_F8E5M2;
  case TypeKind::C64: return MELIX_KIND_C64;
  case TypeKind::C128: return MELIX_KIND_C128;
  case TypeKind::Str: return MELIX_KIND_STR;
  default: return MELIX_KIND_UNIT;
  }
}

llvm::GlobalVariable* constantGlobal(llvm::Module& m, llvm::Constant* value, const char* name) {
  auto* global =
      new llvm::GlobalVariable(m, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

} // namespace

llvm::Constant* ModuleEmitter::cString(llvm::StringRef text) {
  llvm::Constant*& made = strings_[text.str()];
  if (!made) made = constantGlobal(*llvm, llvm::ConstantDataArray::getString(context, text, true), "text");
  return made;
}

llvm::Constant* ModuleEmitter::text(const std::string& text) {
  llvm::Constant*& made = texts_[text];
  if (made) return made;
  auto* words = llvm::ArrayType::get(i64(), 6);
  auto* bytes = llvm::ConstantDataArray::getString(context, text, false);
  auto number = [&](llvm::IntegerType* type, uint64_t v) { return llvm::ConstantInt::get(type, v); };
  auto* i16 = llvm::Type::getInt16Ty(context);
  llvm::Constant* block = llvm::ConstantStruct::getAnon(
      {number(i32(), static_cast<uint32_t>(MELIX_IMMORTAL)), number(i16, 0), number(i16, 1),
       number(i64(), text.size()), llvm::ConstantAggregateZero::get(words), bytes});
  auto* global = new llvm::GlobalVariable(*llvm, block->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          block, "str");
  global->setAlignment(llvm::Align(MELIX_DATA_ALIGN));
  return made = llvm::ConstantExpr::getInBoundsGetElementPtr(i8(), global, number(i64(), MELIX_HEADER_BYTES));
}

// --- descriptors
// ------------------------------------------------------------------------------------------------------

llvm::Constant* ModuleEmitter::typeRecord(uint8_t kind, uint8_t rank, StoredType type, uint32_t fieldCount,
                                          uint32_t caseCount, llvm::Constant* name, llvm::Constant* elem,
                                          llvm::Constant* fields, llvm::Constant* cases) {
  loops::StoredForm form = held_->stored(type);
  auto orNull = [&](llvm::Constant* c) { return c ? c : llvm::ConstantPointerNull::get(ptr()); };
  auto byte = [&](uint8_t v) { return llvm::ConstantInt::get(i8(), v); };
  auto word = [&](uint32_t v) { return llvm::ConstantInt::get(i32(), v); };
  return llvm::ConstantStruct::get(records_.type,
                                   {byte(kind), byte(rank), byte(form.counted ? MELIX_HOLDS_REFS : 0),
                                    byte(static_cast<uint8_t>(form.align)), word(form.size), word(fieldCount),
                                    word(caseCount), orNull(name), orNull(elem), orNull(fields),
                                    orNull(cases), orNull(dimsInPlace(type))});
}

/// The sizes of an array that lies in place, else nothing.
llvm::Constant* ModuleEmitter::dimsInPlace(StoredType type) {
  if (!held_->isInPlace(type)) return nullptr;
  std::vector<uint64_t> dims;
  for (types::DimId d : held_->types[type.type].dims)
    dims.push_back(static_cast<uint64_t>(*held_->types.dims.asConstant(d)));
  return constantGlobal(*llvm, llvm::ConstantDataArray::get(context, dims), "dims");
}

llvm::Constant* ModuleEmitter::field(llvm::Constant* name, llvm::Constant* described, uint32_t offset) {
  return llvm::ConstantStruct::get(records_.field, {name ? name : llvm::ConstantPointerNull::get(ptr()),
                                                    described, llvm::ConstantInt::get(i32(), offset)});
}

llvm::Constant* ModuleEmitter::fieldTable(const std::vector<llvm::Constant*>& fields) {
  if (fields.empty()) return nullptr;
  auto* type = llvm::ArrayType::get(records_.field, fields.size());
  return constantGlobal(*llvm, llvm::ConstantArray::get(type, fields), "fields");
}

/// The name of a field of a struct or of a case, or null.
llvm::Constant* ModuleEmitter::fieldName(TypeId type, uint32_t c, uint32_t k) {
  const types::TypeStore& store = held_->types;
  const NameId id = store.recordInfo(store[type].record).cases[c].fields[k].name;
  if (!id) return nullptr;
  const std::string_view text = store.names.text(id);
  return cString({text.data(), text.size()});
}

llvm::Constant* ModuleEmitter::productFields(StoredType type, uint32_t shift) {
  std::vector<llvm::Constant*> fields;
  const bool isStruct = held_->types.kind(type.type) == TypeKind::Struct;
  for (uint32_t k = 0, n = held_->partCount(type.type); k < n; ++k)
    fields.push_back(field(isStruct ? fieldName(type.type, 0, k) : nullptr,
                           descriptorOf(held_->part(type, k)), held_->partOffset(type, k) + shift));
  return fieldTable(fields);
}

llvm::Constant* ModuleEmitter::caseRecord(TypeId type, uint32_t c, const FieldTable& fields, uint32_t bytes) {
  const types::TypeStore& store = held_->types;
  const NameId id = store.recordInfo(store[type].record).cases[c].name;
  const std::string_view name = id ? store.names.text(id) : std::string_view("?");
  llvm::Constant* table = fieldTable(fields);
  return llvm::ConstantStruct::get(records_.oneCase, {cString({name.data(), name.size()}),
                                                      table ? table : llvm::ConstantPointerNull::get(ptr()),
                                                      llvm::ConstantInt::get(i32(), fields.size()),
                                                      llvm::ConstantInt::get(i32(), bytes)});
}

llvm::Constant* ModuleEmitter::caseTable(const std::vector<llvm::Constant*>& cases) {
  if (cases.empty()) return nullptr;
  auto* type = llvm::ArrayType::get(records_.oneCase, cases.size());
  return constantGlobal(*llvm, llvm::ConstantArray::get(type, cases), "cases");
}

llvm::Constant* ModuleEmitter::casesInNodes(StoredType type) {
  std::vector<llvm::Constant*> cases;
  for (uint32_t c = 0, n = held_->caseCount(type.type); c < n; ++c) {
    FieldTable fields;
    for (uint32_t k = 0, m = held_->fieldCount(type.type, c); k < m; ++k)
      fields.push_back(field(fieldName(type.type, c, k), descriptorOf(held_->field(type, c, k)),
                             held_->fieldOffset(type, c, k)));
    cases.push_back(caseRecord(type.type, c, fields, held_->nodeBytes(type, c)));
  }
  return caseTable(cases);
}

/// The cases of a flat enum whose tag and slots are at these offsets.
llvm::Constant* ModuleEmitter::casesInSlots(StoredType type, Slots parts) {
  const std::vector<std::vector<uint32_t>> slotsOf = types::flatEnum(held_->types, type.type)->slotsOf;
  std::vector<llvm::Constant*> cases;
  for (uint32_t c = 0; c < slotsOf.size(); ++c) {
    std::vector<uint32_t> offsets;
    for (uint32_t slot : slotsOf[c]) offsets.push_back(parts[1 + slot]);
    Slots left = offsets;
    FieldTable fields;
    for (uint32_t k = 0, m = held_->fieldCount(type.type, c); k < m; ++k)
      fields.push_back(fieldInSlots(fieldName(type.type, c, k), held_->field(type, c, k), left));
    cases.push_back(caseRecord(type.type, c, fields, 0));
  }
  return caseTable(cases);
}

llvm::Constant* ModuleEmitter::fieldInSlots(llvm::Constant* name, StoredType type, Slots& slots) {
  if (types::isFlattened(held_->types, type.type)) return field(name, productInSlots(type, slots), 0);
  const uint32_t offset = slots.front();
  slots = slots.subspan(1);
  return field(name, descriptorOf(type), offset);
}

/// The descriptor of a product whose leaves are at these offsets.
llvm::Constant* ModuleEmitter::productInSlots(StoredType type, Slots& slots) {
  const bool isStruct = held_->types.kind(type.type) == TypeKind::Struct;
  const Slots own = slots;
  FieldTable fields;
  for (uint32_t k = 0, n = held_->partCount(type.type); k < n; ++k)
    fields.push_back(
        fieldInSlots(isStruct ? fieldName(type.type, 0, k) : nullptr, held_->part(type, k), slots));
  return constantGlobal(*llvm, describeProduct(type, type, fieldTable(fields), own), "type");
}

llvm::Constant* ModuleEmitter::recordName(TypeId type) {
  const types::TypeStore& store = held_->types;
  std::string_view text = store.names.text(store.recordInfo(store[type].record).name);
  return cString({text.data(), text.size()});
}

static uint8_t structKind(const types::TypeStore& store, TypeId type) {
  if (store.isDict(type)) return MELIX_KIND_DICT;
  return store.isSet(type) ? MELIX_KIND_SET : MELIX_KIND_STRUCT;
}

/// The hidden dims of a pack come first; a reader sees the inner product after them.
llvm::Constant* ModuleEmitter::packDescriptor(StoredType type) {
  const StoredType inner = held_->inMemory(held_->packInner(type.type));
  const TypeKind kind = held_->types.kind(inner.type);
  const uint32_t shift = held_->packOffset(type.type);
  if (kind == TypeKind::Struct || kind == TypeKind::Tuple)
    return describeProduct(type, inner, productFields(inner, shift), {});
  return typeRecord(MELIX_KIND_INSIDE, 0, type, 1, 0, nullptr, nullptr,
                    fieldTable({field(nullptr, descriptorOf(inner), shift)}), nullptr);
}

/// Of a product with these fields, or an array of products, in a value of type `type`: the product itself, or
/// a pack of it. The parts of an enum are at these offsets.
llvm::Constant* ModuleEmitter::describeProduct(StoredType type, StoredType product, llvm::Constant* fields,
                                               Slots parts) {
  const types::TypeStore& store = held_->types;
  const TypeId id = product.type;
  const uint32_t count = held_->partCount(id);
  switch (store.kind(id)) {
  case TypeKind::Array:
    return typeRecord(MELIX_KIND_RECORDS, static_cast<uint8_t>(store.rank(id)), type, count, 0, nullptr,
                      descriptorOf(store.element(id)), fields, nullptr);
  case TypeKind::Struct:
    return typeRecord(structKind(store, id), 0, type, count, 0, recordName(id), nullptr, fields, nullptr);
  case TypeKind::Enum:
    return typeRecord(MELIX_KIND_CASES, 0, type, count, held_->caseCount(id), recordName(id), nullptr, fields,
                      casesInSlots(product, parts));
  default: return typeRecord(MELIX_KIND_TUPLE, 0, type, count, 0, nullptr, nullptr, fields, nullptr);
  }
}

/// What stands in the descriptor of a type that is no scalar.
llvm::Constant* ModuleEmitter::makeDescriptor(StoredType type) {
  const types::TypeStore& store = held_->types;
  const TypeId id = type.type;
  if (held_->isProduct(id)) {
    std::vector<uint32_t> parts;
    for (uint32_t k = 0, n = held_->partCount(id); k < n; ++k) parts.push_back(held_->partOffset(type, k));
    return describeProduct(type, type, productFields(type, 0), parts);
  }
  switch (store.kind(id)) {
  case TypeKind::Array:
    return typeRecord(MELIX_KIND_ARRAY, static_cast<uint8_t>(store.rank(id)), type, 0, 0, nullptr,
                      descriptorOf(store.element(id)), nullptr, nullptr);
  case TypeKind::List:
    return typeRecord(MELIX_KIND_LIST, 0, type, 0, 0, nullptr, descriptorOf(store[id].parts[0]), nullptr,
                      nullptr);
  case TypeKind::Enum:
    return typeRecord(MELIX_KIND_ENUM, 0, type, 0, held_->caseCount(id), recordName(id), nullptr, nullptr,
                      casesInNodes(type));
  case TypeKind::Pack: return packDescriptor(type);
  default:
    return typeRecord(MELIX_KIND_OPAQUE, 0, type, 0, 0, cString(store.show(id)), nullptr, nullptr, nullptr);
  }
}

/// The descriptor of a value by itself.
llvm::Constant* ModuleEmitter::descriptorOf(TypeId type) { return descriptorOf(held_->inMemory(type)); }

llvm::Constant* ModuleEmitter::descriptorOf(StoredType stored) {
  const types::TypeStore& store = held_->types;
  const TypeId type = stored.type;
  const TypeKind kind = store.kind(type);
  if (types::scalarBits(kind) != 0 || kind == TypeKind::Str || kind == TypeKind::Exit || store.isUnit(type)) {
    auto* all = llvm->getOrInsertGlobal("melix_scalar_types", llvm::ArrayType::get(records_.type, 20));
    return llvm::ConstantExpr::getInBoundsGetElementPtr(records_.type, all,
                                                        llvm::ConstantInt::get(i64(), kindOf(kind)));
  }
  if (kind == TypeKind::Pack && held_->isArrayLeaf(held_->packInner(type)))
    return descriptorOf(held_->packInner(type));
  // Declared before it is filled: types may be recursive.
  llvm::GlobalVariable*& made = descriptors_[type.index];
  if (made) return made;
  auto* global = new llvm::GlobalVariable(*llvm, records_.type, true, llvm::GlobalValue::PrivateLinkage,
                                          nullptr, "type");
  made = global;
  global->setInitializer(makeDescriptor(stored));
  return global;
}

llvm::Constant* ModuleEmitter::descriptor(TypeId type) {
  return layouts.held([&](loops::Layouts& held) {
    held_ = &held;
    return descriptorOf(type);
  });
}

} // namespace melix::codegen
