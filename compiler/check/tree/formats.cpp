#include "check/tree/formats.h"

#include <set>

namespace melix::check {

namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeStore;

/// What a format asks for that not every type has.
struct Wanted {
  bool number = false, integer = false, digits = false, fraction = false;
};

Wanted wantedBy(std::string_view format) {
  constexpr std::string_view aligns = "<^>";
  if (size_t align = format.find_first_of(aligns); align != std::string_view::npos) {
    bool isFill = align == 0 && format.size() > 1 && aligns.find(format[1]) != std::string_view::npos;
    format.remove_prefix(align + (isFill ? 2 : 1));
  }
  Wanted out;
  if (format.empty()) return out;
  char letter = format.back();
  out.integer = letter == 'x' || letter == 'b';
  out.number =
      format[0] == '+' || format[0] == '0' || std::string_view("efg%").find(letter) != std::string_view::npos;
  out.digits = format.find('.') != std::string_view::npos;
  out.fraction = out.digits || std::string_view("efg%").find(letter) != std::string_view::npos;
  return out;
}

bool scalarFits(const TypeStore& types, TypeId type, const Wanted& wanted) {
  if (types.isInt(type)) return !(wanted.integer && wanted.digits);
  bool isNumber = types.isNumber(type) || types::scalarClass(types.kind(type)) == types::ScalarClass::Complex;
  return !wanted.integer && (isNumber || !wanted.number);
}

bool fits(const TypeStore& types, TypeId type, const Wanted& wanted, std::set<TypeId>& seen) {
  if (!seen.insert(type).second) return true;
  const types::Type& t = types[type];
  if (types.isScalar(type) || t.kind == TypeKind::Str || t.kind == TypeKind::Param)
    return scalarFits(types, type, wanted);
  for (TypeId part : t.parts)
    if (!fits(types, part, wanted, seen)) return false;
  if (!t.record) return true;
  for (const types::EnumCase& c : types.recordInfo(t.record).cases)
    for (const types::Field& f : c.fields)
      if (!fits(types, f.type, wanted, seen)) return false;
  return true;
}

} // namespace

bool formatFits(const TypeStore& types, TypeId type, std::string_view format) {
  std::set<TypeId> seen;
  return fits(types, type, wantedBy(format), seen);
}

bool showsFraction(std::string_view format) { return wantedBy(format).fraction; }

} // namespace melix::check
