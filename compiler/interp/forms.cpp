#include "interp/forms.h"

#include "types/flat_enums.h"
#include "types/leaves.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace melix::interp {

using types::TypeId;

// --- types
// --------------------------------------------------------------------------------------------------------

/// Whether the two forms of a value differ in how the parts of the type itself are held.
bool Forms::isFlat(TypeId type) const {
  if (!areFlat_) return false;
  return types_.kind(type) == TypeKind::Array ? types::isFlattened(types_, type) : isFlatEnum(type);
}
bool Forms::isFlatEnum(TypeId type) const { return types::flatEnum(types_, type) != nullptr; }

bool Forms::isRecord(TypeId type) const {
  return (types::hasParts(types_, type) && !isFlatEnum(type)) || isFlat(type);
}

const Forms::Unsized& Forms::unsized(TypeId type) {
  if (auto found = unsized_.find(type); found != unsized_.end()) return found->second;
  Unsized made{types_.eraseDims(type), false};
  made.differs = made.type == type ? holdsFlat(type) : unsized(made.type).differs;
  return unsized_.emplace(type, made).first->second;
}

bool Forms::holdsFlat(TypeId type) {
  std::unordered_set<TypeId> seen{type};
  std::vector<TypeId> open{type};
  while (!open.empty()) {
    const TypeId at = open.back();
    open.pop_back();
    if (isFlat(at)) return true;
    for (TypeId within : inside(at))
      if (TypeId next = types_.eraseDims(within); seen.insert(next).second) open.push_back(next);
  }
  return false;
}

/// The types of all values that a value of the type may hold.
std::vector<TypeId> Forms::inside(TypeId type) {
  std::vector<TypeId> out;
  if (types_.kind(type) == TypeKind::Enum) {
    const size_t cases = types_.recordInfo(types_[type].record).cases.size();
    for (uint32_t c = 0; c < cases; ++c)
      for (uint32_t k = 0; k < types_.recordInfo(types_[type].record).cases[c].fields.size(); ++k)
        out.push_back(types_.fieldType(type, c, k));
  } else if (types::hasParts(types_, type)) {
    for (uint32_t k = 0; k < types::partsOf(types_, type); ++k) out.push_back(types::partOf(types_, type, k));
  } else {
    out = types_[type].parts; // the element, what a pack hides
  }
  return out;
}

/// The type of element, field or payload `k`, in a value that both forms hold as the same object.
TypeId Forms::typeWithin(TypeId type, const Object& whole, size_t k) {
  const bool isEnum = types_.kind(type) == TypeKind::Enum;
  if (isEnum) return types_.fieldType(type, static_cast<const Record&>(whole).tag, static_cast<uint32_t>(k));
  return types_[type].parts[0];
}

// --- values
// -------------------------------------------------------------------------------------------------------

/// Records and arrays of them by their parts, all else by what it holds.
Value Forms::translated(TypeId given, const Value& v, Way way) {
  if (!areFlat_ || !isObject(v.kind()) || !v.slot().o || !unsized(given).differs) return v;
  const TypeId type = unsized(given).type;
  if (!isRecord(type)) return translatedWithin(type, v, way);
  const bool isArray = types_.kind(type) == TypeKind::Array;
  std::vector<Value> parts;
  if (way == Way::Inward)
    parts = isArray ? partsOfElements(type, v.asArray()) : partsOfOne(type, v);
  else
    for (size_t k = 0; k < v.asRecord().parts.size(); ++k) parts.push_back(v.part(k));
  for (uint32_t k = 0; k < parts.size(); ++k)
    parts[k] = translated(types::partOf(types_, type, k), parts[k], way);
  if (way == Way::Inward) return Value::tuple(std::move(parts));
  return isArray ? elementsOfParts(type, parts) : oneOfParts(type, std::move(parts));
}

/// Of an array, a list, a pack, a case with its fields: the same object with what it holds translated.
Value Forms::translatedWithin(TypeId type, const Value& v, Way way) {
  Value out = Value::ofObject(shallowCopy(v.slot().o));
  const Object& whole = *out.slot().o;
  forEachPlace(out.slot().o, [&](size_t k, Object*& place) {
    const Value before = Value::ofObject(std::exchange(place, nullptr));
    place = translated(typeWithin(type, whole, k), before, way).takeSlot().o;
  });
  return out;
}

namespace {

/// The array of one part of all elements. Its sizes behind the axes are those of the first part that is
/// there; a part that no element has is empty.
class Column {
public:
  Column(const types::TypeStore& types, TypeId part, std::span<const int64_t> axes)
      : element_(slotKind(types, types.element(part))), rank_(types.rank(part)),
        axes_(axes.begin(), axes.end()) {
    if (rank_ == 0) make({});
  }
  void put(int64_t k, Value part) {
    if (rank_ == 0) return array().put(k, part.takeSlot());
    if (!part.slot().o) return;
    if (!made_) make(part.asArray().dims);
    copyElements(array(), k * part.asArray().count, &part.asArray());
  }
  Value take() {
    if (!made_) make(std::vector<int64_t>(rank_, 0));
    return std::move(whole_);
  }

private:
  void make(std::span<const int64_t> inner) {
    std::vector<int64_t> dims = axes_;
    dims.insert(dims.end(), inner.begin(), inner.end());
    whole_ = Value::ofObject(new Array(element_, dims));
    made_ = true;
  }
  Array& array() { return static_cast<Array&>(*whole_.slot().o); }

  TypeKind element_;
  size_t rank_;
  std::vector<int64_t> axes_;
  bool made_ = false;
  Value whole_;
};

} // namespace

/// The arrays of the parts, in the plain form.
std::vector<Value> Forms::partsOfElements(TypeId array, const Array& elements) {
  const TypeId element = types_.element(array);
  std::vector<Column> columns;
  for (uint32_t k = 0; k < types::partsOf(types_, element); ++k)
    columns.emplace_back(types_, types::partOf(types_, element, k), elements.dims);
  for (int64_t i = 0; i < elements.count; ++i) {
    std::vector<Value> parts = partsOfOne(element, Value::sharing(elements.element, elements.at(i)));
    for (size_t k = 0; k < parts.size(); ++k) columns[k].put(i, std::move(parts[k]));
  }
  std::vector<Value> out;
  for (Column& c : columns) out.push_back(c.take());
  return out;
}

/// The array of elements whose parts stand in these arrays, which are plain; undefined if all parts are.
Value Forms::elementsOfParts(TypeId array, const std::vector<Value>& parts) {
  const TypeId element = types_.element(array);
  const auto some = std::ranges::find_if(parts, [](const Value& v) { return v.slot().o != nullptr; });
  if (some == parts.end()) return Value::ofObject(nullptr);
  const size_t rank = types_.rank(array);
  const std::span<const int64_t> dims(some->asArray().dims);
  auto* made = new Array(objectKind, dims.first(rank));
  Value out = Value::ofObject(made);
  for (int64_t i = 0; i < made->count; ++i) {
    std::vector<Value> own;
    for (uint32_t k = 0; k < parts.size(); ++k) {
      const TypeKind kind = slotKind(types_, types::partOf(types_, element, k));
      const bool isThere = parts[k].slot().o != nullptr;
      own.emplace_back(kind, isThere ? elementOrRow(parts[k].asArray(), rank, i) : Slot{0});
    }
    made->put(i, oneOfParts(element, std::move(own)).takeSlot());
  }
  return out;
}

/// The parts of a record, in the plain form as it is; undefined as it may be.
std::vector<Value> Forms::partsOfOne(TypeId type, const Value& plain) {
  std::vector<Value> out;
  for (uint32_t k = 0; k < types::partsOf(types_, type); ++k) {
    if (plain.slot().o && !isFlatEnum(type))
      out.push_back(plain.part(k));
    else
      out.emplace_back(slotKind(types_, types::partOf(types_, type, k)), Slot{0});
  }
  if (plain.slot().o && isFlatEnum(type)) putCase(type, plain, out);
  return out;
}

/// The tag, and the leaves of the fields in their slots.
void Forms::putCase(TypeId type, const Value& plain, std::vector<Value>& out) {
  const uint32_t c = plain.asRecord().tag;
  const std::vector<uint32_t>& slots = types::flatEnum(types_, type)->slotsOf[c];
  std::vector<Value> leaves;
  for (uint32_t k = 0; k < plain.asRecord().parts.size(); ++k)
    addLeaves(types_.fieldType(type, c, k), plain.part(k), leaves);
  out[0] = Value::ofBits(out[0].kind(), c);
  for (size_t k = 0; k < slots.size(); ++k) out[1 + slots[k]] = std::move(leaves[k]);
}
void Forms::addLeaves(TypeId type, const Value& plain, std::vector<Value>& out) {
  if (!types::isFlattened(types_, type)) return out.push_back(plain);
  const bool isArray = types_.kind(type) == TypeKind::Array && plain.slot().o;
  const std::vector<Value> parts = isArray ? partsOfElements(type, plain.asArray()) : partsOfOne(type, plain);
  for (uint32_t k = 0; k < parts.size(); ++k) addLeaves(types::partOf(types_, type, k), parts[k], out);
}

Value Forms::oneOfParts(TypeId type, std::vector<Value> parts) {
  if (!isFlatEnum(type)) return Value::tuple(std::move(parts));
  const auto c = static_cast<uint32_t>(parts[0].slot().u);
  std::vector<Value> leaves, fields;
  for (uint32_t slot : types::flatEnum(types_, type)->slotsOf[c]) leaves.push_back(parts[1 + slot]);
  size_t next = 0;
  const size_t count = types_.recordInfo(types_[type].record).cases[c].fields.size();
  for (uint32_t k = 0; k < count; ++k) fields.push_back(ofLeaves(types_.fieldType(type, c, k), leaves, next));
  return Value::variant(c, std::move(fields));
}
Value Forms::ofLeaves(TypeId type, std::span<const Value> leaves, size_t& next) {
  if (!types::isFlattened(types_, type)) return leaves[next++];
  std::vector<Value> parts;
  for (uint32_t k = 0, n = types::partsOf(types_, type); k < n; ++k)
    parts.push_back(ofLeaves(types::partOf(types_, type, k), leaves, next));
  return types_.kind(type) == TypeKind::Array ? elementsOfParts(type, parts)
                                              : oneOfParts(type, std::move(parts));
}

} // namespace melix::interp
