#pragma once
// The two forms of values. In the plain form a value is as its type is written: an array of records is an
// array whose elements are records, an enum is a case with its fields. In the flat form such an array is a
// record of the arrays of its parts, and a flat enum a record of its tag and slots (types/leaves.h), however
// deep in lists, payloads and packs. A module whose records are flat works on the flat form. Values from
// outside and for it are plain: arguments and results of a run and of builtins, and printed values.

#include "interp/value.h"

#include <unordered_map>

namespace melix::interp {

class Forms {
public:
  /// Of a module with flat records, or of another one, where both forms are the plain one.
  Forms(types::TypeStore& types, bool areFlat) : types_(types), areFlat_(areFlat) {}

  /// Whether the module holds a value of the type as a record of the parts that types::partsOf counts.
  bool isRecord(types::TypeId type) const;
  /// From the plain form to the module's, and back. Both share equal objects.
  Value inward(types::TypeId type, const Value& plain) { return translated(type, plain, Way::Inward); }
  Value outward(types::TypeId type, const Value& own) { return translated(type, own, Way::Outward); }

private:
  enum class Way : uint8_t { Inward, Outward };
  /// The form is a matter of the type without its sizes. These types are finitely many.
  struct Unsized {
    types::TypeId type;
    bool differs = false; ///< whether the two forms of a value differ anywhere in it
  };

  const Unsized& unsized(types::TypeId type);
  bool isFlat(types::TypeId type) const;
  bool isFlatEnum(types::TypeId type) const;
  bool holdsFlat(types::TypeId type);
  std::vector<types::TypeId> inside(types::TypeId type);
  types::TypeId typeWithin(types::TypeId type, const Object& whole, size_t k);

  Value translated(types::TypeId type, const Value& v, Way way);
  Value translatedWithin(types::TypeId type, const Value& v, Way way);
  std::vector<Value> partsOfElements(types::TypeId array, const Array& elements);
  Value elementsOfParts(types::TypeId array, const std::vector<Value>& parts);
  std::vector<Value> partsOfOne(types::TypeId type, const Value& plain);
  Value oneOfParts(types::TypeId type, std::vector<Value> parts);
  void putCase(types::TypeId type, const Value& plain, std::vector<Value>& out);
  void addLeaves(types::TypeId type, const Value& plain, std::vector<Value>& out);
  Value ofLeaves(types::TypeId type, std::span<const Value> leaves, size_t& next);

  types::TypeStore& types_;
  const bool areFlat_;
  std::unordered_map<types::TypeId, Unsized> unsized_;
};

} // namespace melix::interp
