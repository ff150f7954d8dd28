// The owning handle, and comparison of values.
#include "interp/value.h"

#include "core/ir/build.h"

#include <cmath>

namespace melix::interp {

Value Value::f32(float v) {
  Slot s;
  s.u = 0;
  s.f = v;
  return Value(TypeKind::F32, s);
}

Value Value::f64(double v) {
  Slot s;
  s.d = v;
  return Value(TypeKind::F64, s);
}

Value Value::array(TypeKind element, std::span<const int64_t> dims, const void* data) {
  auto* a = new Array(element, dims);
  if (a->count > 0) std::memcpy(a->data, data, static_cast<size_t>(a->count) * a->elementBytes);
  return ofObject(a);
}

Value Value::floats(std::span<const float> v, std::vector<int64_t> dims) {
  if (dims.empty()) dims = {static_cast<int64_t>(v.size())};
  return array(TypeKind::F32, dims, v.data());
}

Value Value::record(uint32_t tag, bool isEnum, std::vector<Value> parts) {
  auto* r = new Record(tag, isEnum, parts.size());
  for (size_t k = 0; k < parts.size(); ++k) {
    r->kinds[k] = parts[k].kind();
    r->parts[k] = parts[k].takeSlot();
  }
  return ofObject(r);
}

Value Value::list(TypeKind element, std::vector<Value> items) {
  auto* l = new List(element);
  for (Value& v : items) l->items.push_back(v.takeSlot());
  return ofObject(l);
}

Value Value::part(size_t k) const {
  if (slot_.o->kind == ObjectKind::List) return sharing(asList().element, asList().items[k]);
  return sharing(asRecord().kinds[k], asRecord().parts[k]);
}

static bool sameSlot(TypeKind kind, Slot a, Slot b) {
  if (isObject(kind)) return sameBits(Value::sharing(kind, a), Value::sharing(kind, b));
  if (types::isFloatKind(kind) && std::isnan(core::floatValue(kind, a.u)))
    return std::isnan(core::floatValue(kind, b.u));
  return a.u == b.u;
}

bool sameBits(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (!isObject(a.kind())) return sameSlot(a.kind(), a.slot(), b.slot());
  const Object *x = a.slot().o, *y = b.slot().o;
  if (!x || !y || x->kind != y->kind) return x == y;
  switch (x->kind) {
  case ObjectKind::Array: {
    const Array &p = a.asArray(), &q = b.asArray();
    if (p.element != q.element ||
        !std::ranges::equal(std::span<const int64_t>(p.dims), std::span<const int64_t>(q.dims)))
      return false;
    for (int64_t k = 0; k < p.count; ++k)
      if (!sameSlot(p.element, p.at(k), q.at(k))) return false;
    return true;
  }
  case ObjectKind::Record: {
    const Record &p = a.asRecord(), &q = b.asRecord();
    if (p.tag != q.tag || p.kinds != q.kinds) return false;
    for (size_t k = 0; k < p.parts.size(); ++k)
      if (!sameSlot(p.kinds[k], p.parts[k], q.parts[k])) return false;
    return true;
  }
  case ObjectKind::List: {
    const List &p = a.asList(), &q = b.asList();
    if (p.items.size() != q.items.size()) return false;
    for (size_t k = 0; k < p.items.size(); ++k)
      if (!sameSlot(p.element, p.items[k], q.items[k])) return false;
    return true;
  }
  case ObjectKind::Str: return a.asText() == b.asText();
  case ObjectKind::Hidden: return false;
  }
  return false;
}

} // namespace melix::interp
