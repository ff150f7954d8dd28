#pragma once
// Values of the interpreter: a scalar in 64 bits, or a counted object. They know the kinds of their parts, so
// they can be printed, compared and added without their types.

#include "types/types.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace melix::interp {

using types::TypeKind;

struct Object;

/// Scalars lie in the low bits: signed integers sign-extended, all else zero-extended (floats as their bits).
union Slot {
  uint64_t u;
  int64_t i;
  double d;
  float f;
  Object* o;
};

/// The kind of value in a slot: the kind of a scalar, or `objectKind` for a counted object (which may be
/// null: undefined).
inline constexpr TypeKind objectKind = TypeKind::Tuple;
inline bool isObject(TypeKind k) { return k == objectKind; }
/// How values of a type are held.
TypeKind slotKind(const types::TypeStore& types, types::TypeId type);

enum class ObjectKind : uint8_t { Array, Record, List, Str, Hidden };

struct Object {
  uint32_t refs = 1;
  ObjectKind kind;
  explicit Object(ObjectKind k);
  virtual ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
};

/// Thrown by functions that make values if memory is not available. The instruction that asked panics.
struct OutOfMemory {
  std::optional<int64_t> bytes; ///< asked for; none: more than an i64 holds
  std::string message() const;
};

/// The extents of an array, in place up to rank 4.
class Extents {
public:
  explicit Extents(size_t rank) : rank_(rank) {
    if (rank > std::size(few_)) many_.resize(rank);
  }
  explicit Extents(std::span<const int64_t> dims) : Extents(dims.size()) {
    std::copy(dims.begin(), dims.end(), data());
  }
  size_t size() const { return rank_; }
  int64_t& operator[](size_t k) { return data()[k]; }
  int64_t operator[](size_t k) const { return data()[k]; }
  operator std::span<const int64_t>() const { return {data(), rank_}; }

private:
  int64_t* data() { return many_.empty() ? few_ : many_.data(); }
  const int64_t* data() const { return many_.empty() ? few_ : many_.data(); }
  size_t rank_;
  int64_t few_[4];
  std::vector<int64_t> many_;
};

/// Why there is no array of these extents; empty if there may be one.
std::string whyNoArray(std::span<const int64_t> dims);

/// Dense, row-major. Elements are scalars at their natural size, or objects as slots.
struct Array : Object {
  TypeKind element;
  uint8_t elementBytes;
  int64_t count = 1;
  Extents dims;
  char* data;
  std::shared_ptr<const void> lender; ///< keeps data that belongs to another; null: the array's own
  /// Zeroed: null where elements are objects. Throws OutOfMemory.
  Array(TypeKind element, std::span<const int64_t> dims);
  /// Of scalars that belong to another: to be copied before an update, as `makeUnique` does.
  Array(TypeKind element, std::span<const int64_t> dims, const void* data,
        std::shared_ptr<const void> lender);
  ~Array() override;
  Slot at(int64_t index) const;
  void put(int64_t index, Slot value); ///< takes over an object; drops the old one
};
/// Puts the elements of `from` into `to`, from index `at` on. Objects are shared; nothing comes from an
/// undefined array.
void copyElements(Array& to, int64_t at, const Array* from);
/// Number `k` over the first `axes` axes, with a reference of its own: an element, or a row if there are more
/// axes.
Slot elementOrRow(const Array& a, size_t axes, int64_t k);

/// A tuple, struct, enum value, known function or pack (whose hidden dims are its first parts); an array of
/// records by its parts (forms.h).
struct Record : Object {
  uint32_t tag;
  bool isEnum;
  std::vector<Slot> parts;
  std::vector<TypeKind> kinds;
  Record(uint32_t t, bool e, size_t n) : Object(ObjectKind::Record), tag(t), isEnum(e), parts(n), kinds(n) {}
};

struct List : Object {
  TypeKind element;
  std::vector<Slot> items;
  explicit List(TypeKind e) : Object(ObjectKind::List), element(e) {}
};

struct Str : Object {
  std::string text;
  explicit Str(std::string t) : Object(ObjectKind::Str), text(std::move(t)) {}
};

inline void retain(Object* o) {
  if (o) ++o->refs;
}
void destroy(Object* o);
inline void release(Object* o) {
  if (o && --o->refs == 0) destroy(o);
}
/// Objects alive in this process; leaks show here.
int64_t liveObjects();
/// Bytes of all arrays made so far, including copies: compared by tests of costs.
int64_t arrayBytesMade();

/// Visits the places in an object that hold objects, each with the number of the part or element.
template <class Visit>
void forEachPlace(Object* o, Visit visit) {
  switch (o->kind) {
  case ObjectKind::Array: {
    auto* a = static_cast<Array*>(o);
    for (int64_t k = 0; isObject(a->element) && k < a->count; ++k)
      visit(static_cast<size_t>(k), reinterpret_cast<Slot*>(a->data)[k].o);
    return;
  }
  case ObjectKind::Record: {
    auto* r = static_cast<Record*>(o);
    for (size_t k = 0; k < r->parts.size(); ++k)
      if (isObject(r->kinds[k])) visit(k, r->parts[k].o);
    return;
  }
  case ObjectKind::List: {
    auto* l = static_cast<List*>(o);
    for (size_t k = 0; isObject(l->element) && k < l->items.size(); ++k) visit(k, l->items[k].o);
    return;
  }
  case ObjectKind::Str:
  case ObjectKind::Hidden: return;
  }
}

unsigned slotBytes(TypeKind kind);
Slot loadSlot(TypeKind kind, const char* from);
void storeSlot(TypeKind kind, char* to, Slot value);
/// Bits of a constant as a slot: sign extension for signed integers.
Slot slotOfBits(TypeKind kind, uint64_t bits);

/// A copy whose parts are shared.
Object* shallowCopy(const Object* o);
/// Makes `place` the only owner of its object: by a copy, if there are others.
void makeUnique(Object*& place);
/// The same where the kind of object is known.
template <class T>
T* uniqueAt(Object*& place) {
  makeUnique(place);
  return static_cast<T*>(place);
}

/// Sums, differences and negations of tangents, leaf by leaf. Take over `a`, borrow `b`. A mismatch (another
/// case, another length) sets `problem`. Integers in a tangent are the sizes of a pack, which stay as they
/// are; AddAll adds integers of a value too.
enum class TangentOp : uint8_t { Add, Sub, Neg, AddAll };
Slot tangentOp(TangentOp op, TypeKind kind, Slot a, Slot b, std::string& problem);

/// An owning handle for the world outside the interpreter.
class Value {
public:
  Value() : kind_(TypeKind::I64) { slot_.u = 0; }
  Value(TypeKind kind, Slot owned) : kind_(kind), slot_(owned) {}
  Value(const Value& v) : kind_(v.kind_), slot_(v.slot_) {
    if (isObject(kind_)) retain(slot_.o);
  }
  Value(Value&& v) noexcept : kind_(v.kind_), slot_(v.slot_) {
    v.kind_ = TypeKind::I64;
    v.slot_.u = 0;
  }
  Value& operator=(Value v) noexcept {
    std::swap(kind_, v.kind_);
    std::swap(slot_, v.slot_);
    return *this;
  }
  ~Value() {
    if (isObject(kind_)) release(slot_.o);
  }

  static Value boolean(bool v) { return ofBits(TypeKind::Bool, v); }
  static Value integer(int64_t v) { return ofBits(TypeKind::I64, static_cast<uint64_t>(v)); }
  static Value f32(float v);
  static Value f64(double v);
  static Value ofBits(TypeKind kind, uint64_t bits) { return Value(kind, slotOfBits(kind, bits)); }
  static Value text(std::string s) { return ofObject(new Str(std::move(s))); }
  static Value array(TypeKind element, std::span<const int64_t> dims, const void* data);
  static Value floats(std::span<const float> v, std::vector<int64_t> dims = {});
  static Value tuple(std::vector<Value> parts) { return record(0, false, std::move(parts)); }
  static Value variant(uint32_t tag, std::vector<Value> parts) { return record(tag, true, std::move(parts)); }
  static Value list(TypeKind element, std::vector<Value> items);
  /// Of a slot that keeps its object.
  static Value sharing(TypeKind kind, Slot s) {
    if (isObject(kind)) retain(s.o);
    return Value(kind, s);
  }
  /// Takes over the reference.
  static Value ofObject(Object* o) {
    Slot s;
    s.o = o;
    return Value(objectKind, s);
  }

  TypeKind kind() const { return kind_; }
  Slot slot() const { return slot_; }
  /// Gives the reference away.
  Slot takeSlot() {
    Slot s = slot_;
    kind_ = TypeKind::I64;
    return s;
  }
  int64_t asInteger() const { return slot_.i; }
  bool asBool() const { return slot_.u != 0; }
  float asF32() const { return slot_.f; }
  double asF64() const { return slot_.d; }
  const Array& asArray() const { return static_cast<const Array&>(*slot_.o); }
  const Record& asRecord() const { return static_cast<const Record&>(*slot_.o); }
  const List& asList() const { return static_cast<const List&>(*slot_.o); }
  const std::string& asText() const { return static_cast<const Str&>(*slot_.o).text; }
  std::span<const float> asFloats() const {
    return {reinterpret_cast<const float*>(asArray().data), static_cast<size_t>(asArray().count)};
  }
  Value part(size_t k) const; ///< of a record or list

private:
  static Value record(uint32_t tag, bool isEnum, std::vector<Value> parts);
  TypeKind kind_;
  Slot slot_;
};

/// Same structure and the same bits, all NaN alike (rule 46).
bool sameBits(const Value& a, const Value& b);

} // namespace melix::interp
