#include "check/signatures/bounds.h"

#include "types/tangent.h"

#include <algorithm>
#include <iterator>

namespace melix::check {

namespace {

using types::ParamClass;
using types::TypeId;
using types::TypeKind;
using types::TypeStore;
using types::VarClass;

bool isNumber(TypeStore& t, TypeId x) { return t.isNumber(x); }
bool isOrdered(TypeStore& t, TypeId x) {
  TypeKind k = t.kind(x);
  return isNumber(t, x) || t.offers(x, ParamClass::Ordered) || k == TypeKind::Bool || k == TypeKind::Char ||
         k == TypeKind::Str;
}

bool isData(TypeStore& t, TypeId x) {
  const std::vector<TypeId> params = paramsInside(t, x);
  return t.kind(x) != TypeKind::Known && !t.holdsFunction(x) &&
         std::all_of(params.begin(), params.end(), [&](TypeId p) { return t.offers(p, ParamClass::Data); });
}

/// `==` gives one bool: of arrays it is element-wise.
bool isEqual(TypeStore& t, TypeId x) {
  TypeId opened = t.kind(x) == TypeKind::Pack ? t[x].parts[0] : x;
  const std::vector<TypeId> params = paramsInside(t, x);
  return t.kind(opened) != TypeKind::Array && isData(t, x) &&
         std::all_of(params.begin(), params.end(), [&](TypeId p) { return t.offers(p, ParamClass::Equal); });
}

/// What may be a key: floats may not, since a NaN equals nothing and two zeros are equal (rule 18).
bool isHashed(TypeStore& t, TypeId x) {
  const std::vector<TypeId> params = paramsInside(t, x);
  auto isFloat = [](TypeKind k) {
    const types::ScalarClass of = types::scalarClass(k);
    return of == types::ScalarClass::Float || of == types::ScalarClass::Complex;
  };
  return isData(t, x) && !t.isMadeWith(x, isFloat) &&
         std::all_of(params.begin(), params.end(), [&](TypeId p) { return t.paramInfo(p).hashed; });
}

bool isInt(TypeStore& t, TypeId x) { return t.isInt(x); }
bool isFloat(TypeStore& t, TypeId x) { return t.isFloat(x); }
bool hasTangent(TypeStore& t, TypeId x) {
  if (t.isParam(x)) return t.paramInfo(x).differentiable;
  return !t.isUnit(types::tangentType(t, x));
}
/// Numbers, also those whose type is still open, and bools.
bool isElement(TypeStore& t, TypeId x) {
  return isNumber(t, x) || t.kind(x) == TypeKind::Bool || t.kind(x) == TypeKind::Var;
}
bool isTable(TypeStore& t, TypeId x) {
  TypeId array = t.kind(x) == TypeKind::Pack ? t[x].parts[0] : x;
  return t.kind(array) == TypeKind::Array && isElement(t, t.element(array));
}
bool isNumbers(TypeStore& t, TypeId x) { return isTable(t, x) || isElement(t, x); }
bool isRecord(TypeStore& t, TypeId x) { return t.kind(x) == TypeKind::Struct || t.kind(x) == TypeKind::Enum; }

struct Bound {
  std::string_view name;
  bool (*meets)(TypeStore&, TypeId);
  std::optional<VarClass> number; ///< what an open number becomes at least
  std::optional<ParamClass> cls;  ///< of the parameter; none: what it offers depends on the type
  bool isLibrary = false;         ///< of the library's own functions only
};
constexpr Bound bounds[] = {
    {"Num", isNumber, VarClass::OpenInt, ParamClass::Number},
    {"Int", isInt, VarClass::OpenInt, ParamClass::Int},
    {"Float", isFloat, VarClass::OpenFloat, ParamClass::Float},
    {"Eq", isEqual, {}, ParamClass::Equal},
    {"Ord", isOrdered, {}, ParamClass::Ordered},
    {"Hash", isHashed, {}, ParamClass::Equal},
    {"Show", isData, {}, ParamClass::Data},
    {"Iterator", isRecord, {}, {}},
    {"Differentiable", hasTangent, VarClass::OpenFloat, ParamClass::Any},
    {"ArrayOfNumbers", isTable, {}, {}, true},
    {"NumbersOfAnyRank", isNumbers, {}, {}, true},
};

const Bound* find(std::string_view name) {
  const Bound* found =
      std::find_if(std::begin(bounds), std::end(bounds), [&](const Bound& b) { return b.name == name; });
  return found == std::end(bounds) ? nullptr : found;
}

} // namespace

bool isBound(std::string_view name) { return find(name) != nullptr; }

std::string boundNames() {
  std::string out;
  for (const Bound& b : bounds)
    if (!b.isLibrary) out += (out.empty() ? "" : " ") + std::string(b.name);
  return out;
}

std::vector<TypeId> paramsInside(const TypeStore& types, TypeId type) {
  if (types.isParam(type)) return {type};
  std::vector<TypeId> parts = types[type].parts, found;
  if (types[type].record) {
    const std::vector<TypeId>& args = types.recordInfo(types[type].record).typeArgs;
    parts.insert(parts.end(), args.begin(), args.end());
  }
  for (TypeId part : parts)
    for (TypeId param : paramsInside(types, part)) found.push_back(param);
  return found;
}

std::optional<types::TypeParam> paramBoundBy(std::string_view bound) {
  types::TypeParam param;
  if (bound.empty()) return param;
  const Bound* found = find(bound);
  if (!found || !found->cls) return std::nullopt;
  param.cls = *found->cls;
  param.differentiable = bound == "Differentiable" || bound == "Float";
  param.hashed = bound == "Hash" || bound == "Int";
  return param;
}

std::optional<types::VarClass> boundNumber(std::string_view bound) {
  const Bound* found = find(bound);
  return found ? found->number : std::nullopt;
}

bool meetsBound(TypeStore& types, TypeId type, std::string_view bound) {
  const Bound* found = find(bound);
  return !found || found->meets(types, type);
}

} // namespace melix::check
