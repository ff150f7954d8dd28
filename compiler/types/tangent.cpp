#include "types/tangent.h"

#include <algorithm>
#include <unordered_set>

namespace melix::types {

namespace {

using Seen = std::vector<RecordId>;

bool enter(Seen& seen, RecordId r) {
  if (std::find(seen.begin(), seen.end(), r) != seen.end()) return false;
  seen.push_back(r);
  return true;
}

template <class Predicate>
bool anyField(const TypeStore& types, RecordId r, Predicate predicate) {
  for (const EnumCase& c : types.recordInfo(r).cases)
    for (const Field& f : c.fields)
      if (predicate(f.type)) return true;
  return false;
}

/// Whether a float, complex number or unknown type is anywhere inside.
bool carriesTangent(const TypeStore& types, TypeId id, Seen& seen) {
  const Type& t = types[id];
  ScalarClass scalar = scalarClass(t.kind);
  if (scalar == ScalarClass::Float || scalar == ScalarClass::Complex) return true;
  switch (t.kind) {
  case TypeKind::Error:
  case TypeKind::Var: return true;
  case TypeKind::Struct:
  case TypeKind::Enum:
    if (types.recordInfo(t.record).tangentOf.valid() || types.recordInfo(t.record).isSaved) return true;
    return enter(seen, t.record) &&
           anyField(types, t.record, [&](TypeId f) { return carriesTangent(types, f, seen); });
  case TypeKind::Function: return false;
  case TypeKind::Param: return !types.isInt(id);
  default:
    return std::any_of(t.parts.begin(), t.parts.end(),
                       [&](TypeId p) { return carriesTangent(types, p, seen); });
  }
}

bool carriesTangent(const TypeStore& types, TypeId id) {
  Seen seen;
  return carriesTangent(types, id, seen);
}

bool reachesDict(const TypeStore& types, TypeId id, Seen& seen) {
  const Type& t = types[id];
  if (types.isDict(id)) return carriesTangent(types, id);
  if (t.record) // what a pullback keeps is nothing that the program sees
    return !types.recordInfo(t.record).isSaved && enter(seen, t.record) &&
           anyField(types, t.record, [&](TypeId f) { return reachesDict(types, f, seen); });
  return std::any_of(t.parts.begin(), t.parts.end(), [&](TypeId p) { return reachesDict(types, p, seen); });
}

/// A Dict with a tangent, as the program has that.
bool isKeyed(const TypeStore& types, TypeId id) { return types.isDict(id) && carriesTangent(types, id); }

/// How the tangents of Dicts are: by key, or by place.
enum class Keys : uint8_t { Kept, Places };

/// Whether a struct or an enum was derived as a tangent of this kind.
bool isDerived(const TypeStore& types, TypeId id, Keys keys) {
  const Record& record = types.recordInfo(types[id].record);
  return record.tangentOf.valid() && (keys == Keys::Kept || record.isPositional || !holdsDict(types, id));
}

/// Whether the type is its own tangent: built of floats and derived tangents alone. What holds no tangent at
/// all (an array of units, an empty struct) has the unit for one.
bool isOwnTangent(const TypeStore& types, TypeId id, Keys keys, Seen& seen) {
  const Type& t = types[id];
  ScalarClass scalar = scalarClass(t.kind);
  if (scalar != ScalarClass::None) return scalar == ScalarClass::Float || scalar == ScalarClass::Complex;
  switch (t.kind) {
  case TypeKind::Error:
  case TypeKind::Var: return true;
  case TypeKind::Array:
  case TypeKind::List:
  case TypeKind::Pack:
  case TypeKind::Acc: return carriesTangent(types, id) && isOwnTangent(types, t.parts[0], keys, seen);
  case TypeKind::Tuple:
    return std::all_of(t.parts.begin(), t.parts.end(),
                       [&](TypeId p) { return isOwnTangent(types, p, keys, seen); });
  case TypeKind::Struct:
    if (types.recordInfo(t.record).isSaved || !carriesTangent(types, id)) return false;
    if (types.isDict(id)) return keys == Keys::Kept && isOwnTangent(types, types.typeArgs(id)[1], keys, seen);
    if (isDerived(types, id, keys) || !enter(seen, t.record)) return true;
    return !anyField(types, t.record, [&](TypeId f) { return !isOwnTangent(types, f, keys, seen); });
  case TypeKind::Enum: return isDerived(types, id, keys);
  case TypeKind::Param: return types.isFloat(id);
  case TypeKind::Slope: return true;
  default: return false;
  }
}

TypeId tangentOf(TypeStore& types, TypeId id, Keys keys);

void deriveFields(TypeStore& types, RecordId of, RecordId tangent, Keys keys) {
  const Record& source = types.recordInfo(of);
  std::vector<EnumCase> cases;
  if (source.isEnum && !source.tangentOf) cases.push_back({types.names.intern("zero"), {}});
  for (const EnumCase& c : std::vector(source.cases)) {
    EnumCase own{c.name, {}};
    for (const Field& f : c.fields) own.fields.push_back({f.name, tangentOf(types, f.type, keys)});
    cases.push_back(std::move(own));
  }
  types.recordInfo(tangent).cases = std::move(cases);
}

RecordId tangentRecord(TypeStore& types, RecordId of, Keys keys) {
  auto& derivedOf = keys == Keys::Kept ? types.derived.tangents : types.derived.positional;
  if (auto it = derivedOf.find(of); it != derivedOf.end()) return it->second;
  const Record& source = types.recordInfo(of);
  Record derived;
  derived.name = types.names.intern("Tangent[" + std::string(types.names.text(source.name)) + "]");
  derived.isEnum = source.isEnum;
  derived.declaration = source.declaration;
  derived.typeArgs = source.typeArgs;
  derived.dimParams = source.dimParams;
  derived.argSizes = source.argSizes;
  derived.tangentOf = of;
  derived.isPositional = keys == Keys::Places;
  derived.origin = source.origin;
  RecordId id = types.addRecord(std::move(derived)); // known before its fields: the record may hold itself
  derivedOf.emplace(of, id);
  deriveFields(types, of, id, keys);
  return id;
}

TypeId tangentOf(TypeStore& types, TypeId id, Keys keys) {
  if (!carriesTangent(types, id)) return types.unit();
  if (keys == Keys::Places && !holdsDict(types, id)) keys = Keys::Kept; // one type for both
  Seen seen;
  if (isOwnTangent(types, id, keys, seen)) return id;
  if (keys == Keys::Kept && isKeyed(types, id))
    return types.derived.dictOfValues(id, tangentOf(types, types.typeArgs(id)[1], keys));
  Type t = types[id];
  for (TypeId& p : t.parts) p = tangentOf(types, p, keys);
  switch (t.kind) {
  case TypeKind::Struct:
  case TypeKind::Enum: return types.record(tangentRecord(types, t.record, keys), t.dims);
  case TypeKind::Known: return types.tuple(t.parts);
  case TypeKind::Param: return types.slope(id);
  case TypeKind::Array: return types.array(t.parts[0], t.dims);
  default: return types.intern(std::move(t));
  }
}

} // namespace

TypeId tangentType(TypeStore& types, TypeId type) { return tangentOf(types, type, Keys::Kept); }

TypeId positionalTangent(TypeStore& types, TypeId type) { return tangentOf(types, type, Keys::Places); }

bool holdsDict(const TypeStore& types, TypeId type) {
  Seen seen;
  return reachesDict(types, type, seen);
}

/// `open` are the structs on the way, `done` those that do not.
static bool leadsToItself(const TypeStore& types, TypeId id, bool throughLists, std::vector<RecordId>& open,
                          std::unordered_set<RecordId>& done) {
  const Type& t = types[id];
  auto holds = [&](TypeId part) { return leadsToItself(types, part, throughLists, open, done); };
  switch (t.kind) {
  case TypeKind::List:
    if (!throughLists) return false;
    [[fallthrough]];
  case TypeKind::Array:
  case TypeKind::Pack:
  case TypeKind::Tuple:
  case TypeKind::Known: return std::any_of(t.parts.begin(), t.parts.end(), holds);
  case TypeKind::Struct: {
    if (std::find(open.begin(), open.end(), t.record) != open.end()) return true;
    if (done.contains(t.record)) return false;
    open.push_back(t.record);
    const std::vector<Field>& fields = types.recordInfo(t.record).cases[0].fields;
    bool found = std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return holds(f.type); });
    open.pop_back();
    if (!found) done.insert(t.record);
    return found;
  }
  default: return false;
  }
}

bool holdsItself(const TypeStore& types, TypeId type, bool throughLists) {
  std::vector<RecordId> open;
  std::unordered_set<RecordId> done;
  return leadsToItself(types, type, throughLists, open, done);
}

/// The widest of `sofar` and the floats in `type`; `seen` are the records on the way.
static TypeId widestFloatIn(TypeStore& types, TypeId type, TypeId sofar, std::vector<TypeId>& seen) {
  const Type& t = types[type];
  if (types.isFloat(type)) return !sofar || scalarBits(t.kind) > scalarBits(types.kind(sofar)) ? type : sofar;
  bool isRecord = t.kind == TypeKind::Struct || t.kind == TypeKind::Enum;
  if (isRecord && std::find(seen.begin(), seen.end(), type) != seen.end()) return sofar;
  if (isRecord) seen.push_back(type);
  for (TypeId part : t.parts) sofar = widestFloatIn(types, part, sofar, seen);
  if (!isRecord) return sofar;
  const std::vector<EnumCase>& cases = types.recordInfo(t.record).cases;
  for (uint32_t k = 0; k < cases.size(); ++k)
    for (uint32_t f = 0; f < cases[k].fields.size(); ++f)
      sofar = widestFloatIn(types, types.fieldType(type, k, f), sofar, seen);
  return sofar;
}

TypeId widestFloat(TypeStore& types, TypeId type) {
  std::vector<TypeId> seen;
  return widestFloatIn(types, type, TypeId::none(), seen);
}

void fillSaved(TypeStore& types, RecordId record, TypeId field) {
  types.recordInfo(record).cases = {EnumCase{{}, {{NameId(), field}}}};
  if (auto it = types.derived.tangents.find(record); it != types.derived.tangents.end())
    deriveFields(types, record, it->second, Keys::Places);
}

uint32_t tangentCase(TypeStore& types, TypeId enumType, uint32_t c) {
  return types.recordInfo(types[enumType].record).tangentOf.valid() ? c : c + 1;
}

/// Whether all that a value holds is such that `fits` says of each enum.
static bool holdsNumbers(TypeStore& types, TypeId type, const auto& fits, std::unordered_set<TypeId>& seen) {
  const Type& t = types[type];
  if (!seen.insert(type).second) return true; // a struct may hold itself
  switch (t.kind) {
  case TypeKind::Str:
  case TypeKind::Function:
  case TypeKind::Known: return false;
  case TypeKind::Enum: return fits(types.recordInfo(t.record));
  case TypeKind::Struct:
    if (types.isDict(type)) return holdsNumbers(types, types.typeArgs(type)[1], fits, seen);
    for (uint32_t k = 0; k < types.recordInfo(t.record).cases[0].fields.size(); ++k)
      if (!holdsNumbers(types, types.fieldType(type, 0, k), fits, seen)) return false;
    return true;
  default:
    return std::ranges::all_of(t.parts, [&](TypeId part) { return holdsNumbers(types, part, fits, seen); });
  }
}

bool hasZero(TypeStore& types, TypeId type) {
  std::unordered_set<TypeId> seen;
  return holdsNumbers(
      types, type, [](const Record& e) { return e.tangentOf || e.cases[0].fields.empty(); }, seen);
}

bool canAdd(TypeStore& types, TypeId type) {
  std::unordered_set<TypeId> seen;
  return holdsNumbers(types, type, [](const Record& e) { return bool(e.tangentOf); }, seen);
}

} // namespace melix::types
