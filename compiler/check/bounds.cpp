#include "check/bounds.h"

#include "types/tangent.h"

#include <algorithm>
#include <iterator>

namespace melix::check {

namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeStore;
using types::VarClass;

bool isNumber(TypeStore& t, TypeId x) { return t.isInt(x) || t.isFloat(x); }
bool isOrdered(TypeStore& t, TypeId x) {
  TypeKind k = t.kind(x);
  return isNumber(t, x) || k == TypeKind::Bool || k == TypeKind::Char || k == TypeKind::Str;
}
bool isData(TypeStore& t, TypeId x) { return t.kind(x) != TypeKind::Known && !t.holdsFunction(x); }

bool isInt(TypeStore& t, TypeId x) { return t.isInt(x); }
bool isFloat(TypeStore& t, TypeId x) { return t.isFloat(x); }
bool hasTangent(TypeStore& t, TypeId x) { return !t.isUnit(types::tangentType(t, x)); }
bool isTable(TypeStore& t, TypeId x) {
  TypeId array = t.kind(x) == TypeKind::Pack ? t[x].parts[0] : x;
  return t.kind(array) == TypeKind::Array &&
         (isNumber(t, t.element(array)) || t.kind(t.element(array)) == TypeKind::Bool);
}
bool isRecord(TypeStore& t, TypeId x) { return t.kind(x) == TypeKind::Struct || t.kind(x) == TypeKind::Enum; }

struct Bound {
  std::string_view name;
  bool (*meets)(TypeStore&, TypeId);
  std::optional<VarClass> number; ///< what an open number becomes at least
  bool isLibrary = false;         ///< of the library's own functions only
};
constexpr Bound bounds[] = {
    {"Num", isNumber, VarClass::OpenInt},
    {"Int", isInt, VarClass::OpenInt},
    {"Float", isFloat, VarClass::OpenFloat},
    {"Eq", isData, {}},
    {"Ord", isOrdered, {}},
    {"Hash", isData, {}},
    {"Show", isData, {}},
    {"Iterator", isRecord, {}},
    {"Differentiable", hasTangent, VarClass::OpenFloat},
    {"ArrayOfNumbers", isTable, {}, true},
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

std::optional<types::VarClass> boundNumber(std::string_view bound) {
  const Bound* found = find(bound);
  return found ? found->number : std::nullopt;
}

bool meetsBound(TypeStore& types, TypeId type, std::string_view bound) {
  const Bound* found = find(bound);
  return !found || found->meets(types, type);
}

} // namespace melix::check
