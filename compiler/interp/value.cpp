#include "interp/value.h"

#include "core/analysis/evaluate.h"
#include "types/tangent.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace melix::interp {

static int64_t live = 0;
static int64_t arrayBytes = 0;
int64_t liveObjects() { return live; }
int64_t arrayBytesMade() { return arrayBytes; }

Object::Object(ObjectKind k) : kind(k) { ++live; }
Object::~Object() { --live; }

TypeKind slotKind(const types::TypeStore& types, types::TypeId type) {
  TypeKind k = types.kind(type);
  if (k == TypeKind::Acc) return slotKind(types, types[type].parts[0]);
  if (k == TypeKind::Exit) return TypeKind::U64;
  return types::scalarClass(k) == types::ScalarClass::None ? objectKind : k;
}

unsigned slotBytes(TypeKind kind) { return isObject(kind) ? 8 : types::scalarBits(kind) / 8; }

Slot slotOfBits(TypeKind kind, uint64_t bits) { return Slot{core::extendedBits(kind, bits)}; }

template <class T>
static uint64_t load(const char* from) {
  T v;
  std::memcpy(&v, from, sizeof v);
  return static_cast<uint64_t>(v);
}

Slot loadSlot(TypeKind kind, const char* from) {
  Slot s;
  switch (kind) {
  case TypeKind::I8: s.u = load<int8_t>(from); break;
  case TypeKind::I16: s.u = load<int16_t>(from); break;
  case TypeKind::I32: s.u = load<int32_t>(from); break;
  default:
    switch (slotBytes(kind)) {
    case 1: s.u = load<uint8_t>(from); break;
    case 2: s.u = load<uint16_t>(from); break;
    case 4: s.u = load<uint32_t>(from); break;
    default: s.u = load<uint64_t>(from); break;
    }
  }
  return s;
}

void storeSlot(TypeKind kind, char* to, Slot value) { std::memcpy(to, &value, slotBytes(kind)); }

std::string OutOfMemory::message() const {
  if (!bytes) return "an array of this shape is too large";
  return "out of memory: " + std::to_string(*bytes) + " bytes asked for";
}

/// Bytes of all elements; throws if there are too many, also where an extent of 0 leaves none.
static int64_t bytesOf(unsigned elementBytes, std::span<const int64_t> dims) {
  int64_t elements = 1, bytes = 0;
  bool empty = false, tooLarge = false;
  for (int64_t d : dims) {
    empty |= d == 0;
    if (d > 0) tooLarge |= __builtin_mul_overflow(elements, d, &elements) || elements > types::maxExtent;
  }
  tooLarge |= !empty && __builtin_mul_overflow(elements, int64_t(elementBytes), &bytes);
  if (tooLarge) throw OutOfMemory{};
  return bytes;
}

std::string whyNoArray(std::span<const int64_t> dims) {
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k] < 0) return "dimension " + std::to_string(k) + " of an array is " + std::to_string(dims[k]);
  return {};
}

Array::Array(TypeKind e, std::span<const int64_t> extents)
    : Object(ObjectKind::Array), element(e), dims(extents) {
  elementBytes = static_cast<uint8_t>(slotBytes(e));
  for (size_t k = 0; k < dims.size(); ++k) dims[k] = std::max<int64_t>(dims[k], 0);
  int64_t bytes = bytesOf(elementBytes, dims);
  count = bytes / elementBytes;
  data = static_cast<char*>(std::calloc(static_cast<size_t>(bytes) + 1, 1));
  if (!data) throw OutOfMemory{bytes};
  arrayBytes += bytes;
}

Array::Array(TypeKind e, std::span<const int64_t> extents, const void* lent,
             std::shared_ptr<const void> keeper)
    : Object(ObjectKind::Array), element(e), elementBytes(static_cast<uint8_t>(slotBytes(e))), dims(extents),
      data(static_cast<char*>(const_cast<void*>(lent))), lender(std::move(keeper)) {
  count = bytesOf(elementBytes, dims) / elementBytes;
}

Array::~Array() {
  if (!lender) std::free(data);
}

Slot Array::at(int64_t index) const { return loadSlot(element, data + index * elementBytes); }

void Array::put(int64_t index, Slot value) {
  char* place = data + index * elementBytes;
  if (isObject(element)) release(loadSlot(element, place).o);
  storeSlot(element, place, value);
}

void copyElements(Array& to, int64_t at, const Array* from) {
  if (!from) return;
  if (!isObject(to.element)) {
    std::memcpy(to.data + at * to.elementBytes, from->data,
                static_cast<size_t>(from->count) * from->elementBytes);
    return;
  }
  for (int64_t k = 0; k < from->count; ++k) {
    const Slot s = from->at(k);
    retain(s.o);
    to.put(at + k, s);
  }
}

Slot elementOrRow(const Array& a, size_t axes, int64_t k) {
  if (a.dims.size() == axes) {
    const Slot s = a.at(k);
    if (isObject(a.element)) retain(s.o);
    return s;
  }
  auto* row = new Array(a.element, std::span<const int64_t>(a.dims).subspan(axes));
  for (int64_t j = 0; j < row->count; ++j) {
    const Slot s = a.at(k * row->count + j);
    if (isObject(a.element)) retain(s.o);
    row->put(j, s);
  }
  return Slot{.o = row};
}

// --- ownership
// ----------------------------------------------------------------------------------------------------

void destroy(Object* first) {
  // A worklist: structures may be deeper than the stack.
  std::vector<Object*> queue{first};
  while (!queue.empty()) {
    Object* o = queue.back();
    queue.pop_back();
    forEachPlace(o, [&](size_t, Object* part) {
      if (part && --part->refs == 0) queue.push_back(part);
    });
    delete o;
  }
}

Object* shallowCopy(const Object* o) {
  Object* copy = nullptr;
  switch (o->kind) {
  case ObjectKind::Array: {
    auto* a = static_cast<const Array*>(o);
    auto* c = new Array(a->element, a->dims);
    std::memcpy(c->data, a->data, static_cast<size_t>(a->count) * a->elementBytes);
    copy = c;
    break;
  }
  case ObjectKind::Record: {
    auto* r = static_cast<const Record*>(o);
    auto c = std::make_unique<Record>(r->tag, r->isEnum, 0);
    c->parts = r->parts;
    c->kinds = r->kinds;
    copy = c.release();
    break;
  }
  case ObjectKind::List: {
    auto* l = static_cast<const List*>(o);
    auto c = std::make_unique<List>(l->element);
    c->items = l->items;
    copy = c.release();
    break;
  }
  case ObjectKind::Str: copy = new Str(static_cast<const Str*>(o)->text); break;
  case ObjectKind::Hidden: std::abort();
  }
  forEachPlace(copy, [](size_t, Object* part) { retain(part); });
  return copy;
}

void makeUnique(Object*& place) {
  const bool isLent = place->kind == ObjectKind::Array && static_cast<const Array*>(place)->lender;
  if (place->refs == 1 && !isLent) return;
  Object* copy = shallowCopy(place);
  release(place);
  place = copy;
}

// --- tangents
// -----------------------------------------------------------------------------------------------------

static core::ScalarFunction scalarTangent(TangentOp op, TypeKind kind) {
  const core::OpKind how = op == TangentOp::Sub   ? core::OpKind::Sub
                           : op == TangentOp::Neg ? core::OpKind::Neg
                                                  : core::OpKind::Add;
  return core::scalarFunction(how, kind);
}

static Slot nullSlot() {
  Slot s;
  s.o = nullptr;
  return s;
}

/// A reference that is released unless it is given away.
class Owned {
public:
  explicit Owned(Slot s) : object(s.o) {}
  ~Owned() { release(object); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Slot give() {
    Slot s;
    s.o = std::exchange(object, nullptr);
    return s;
  }
  Object* object;
};

static Slot arrayTangent(TangentOp op, Slot a, Slot b, std::string& problem) {
  Owned result(a);
  auto* x = uniqueAt<Array>(result.object);
  auto* y = op == TangentOp::Neg ? nullptr : static_cast<const Array*>(b.o);
  if (y && y->count != x->count) {
    problem = "arrays of different sizes are added";
    return result.give();
  }
  const core::ScalarFunction scalar = isObject(x->element) ? nullptr : scalarTangent(op, x->element);
  for (int64_t k = 0; k < x->count && problem.empty(); ++k) {
    Slot old = x->at(k), other = y ? y->at(k) : nullSlot();
    if (scalar) {
      storeSlot(x->element, x->data + k * x->elementBytes, Slot{scalar(old.u, other.u, 0)});
      continue;
    }
    storeSlot(x->element, x->data + k * x->elementBytes, nullSlot());
    storeSlot(x->element, x->data + k * x->elementBytes, tangentOp(op, objectKind, old, other, problem));
  }
  return result.give();
}

/// `b` in place of `a`, which is zero.
static Slot besideZero(TangentOp op, Slot a, Slot b, std::string& problem) {
  release(a.o);
  retain(b.o);
  return op == TangentOp::Sub ? tangentOp(TangentOp::Neg, objectKind, b, nullSlot(), problem) : b;
}

static Slot recordTangent(TangentOp op, Slot a, Slot b, std::string& problem) {
  auto* y = op == TangentOp::Neg ? nullptr : static_cast<const Record*>(b.o);
  auto* old = static_cast<Record*>(a.o);
  // A tangent of an enum is `zero` (case 0) or that of one case.
  if (y && y->isEnum && y->tag != old->tag) {
    if (y->tag == 0) return a;
    if (old->tag != 0) {
      problem = "tangents of different cases are added";
      return a;
    }
    return besideZero(op, a, b, problem);
  }
  Owned result(a);
  auto* x = uniqueAt<Record>(result.object);
  for (size_t k = 0; k < x->parts.size() && problem.empty(); ++k) {
    Slot part = x->parts[k];
    if (types::isIntKind(x->kinds[k]) && op != TangentOp::AddAll) { // a hidden size
      if (y && part.i != y->parts[k].i)
        problem = "tangents of different sizes are added: " + std::to_string(part.i) + " is not " +
                  std::to_string(y->parts[k].i);
      continue;
    }
    if (isObject(x->kinds[k])) x->parts[k].o = nullptr;
    x->parts[k] = tangentOp(op, x->kinds[k], part, y ? y->parts[k] : nullSlot(), problem);
  }
  return result.give();
}

/// A list without elements is zero beside one of any length.
static Slot listTangent(TangentOp op, Slot a, Slot b, std::string& problem) {
  auto* y = op == TangentOp::Neg ? nullptr : static_cast<const List*>(b.o);
  if (size_t own = static_cast<const List*>(a.o)->items.size(); y && y->items.size() != own) {
    if (y->items.empty()) return a;
    if (own == 0) return besideZero(op, a, b, problem);
    problem = types::listLengthsDiffer;
    return a;
  }
  Owned result(a);
  auto* x = uniqueAt<List>(result.object);
  for (size_t k = 0; k < x->items.size() && problem.empty(); ++k) {
    Slot item = x->items[k];
    if (isObject(x->element)) x->items[k].o = nullptr;
    x->items[k] = tangentOp(op, x->element, item, y ? y->items[k] : nullSlot(), problem);
  }
  return result.give();
}

Slot tangentOp(TangentOp op, TypeKind kind, Slot a, Slot b, std::string& problem) {
  if (!isObject(kind)) return Slot{scalarTangent(op, kind)(a.u, b.u, 0)};
  if (!a.o || (op != TangentOp::Neg && !b.o)) return a;
  switch (a.o->kind) {
  case ObjectKind::Array: return arrayTangent(op, a, b, problem);
  case ObjectKind::Record: return recordTangent(op, a, b, problem);
  case ObjectKind::List: return listTangent(op, a, b, problem);
  default: return a;
  }
}

} // namespace melix::interp
