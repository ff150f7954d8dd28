#include "transforms/canonical/flat_values.h"

namespace melix::transforms {

using namespace core;
using types::Leaf;

std::span<const ValueId> FlatValues::leaves(const ValueId& v) const {
  const auto found = leaves_.find(v);
  assert((found != leaves_.end() || !isFlat(typeOf(v))) && "a record is split where it is defined");
  return found == leaves_.end() ? std::span(&v, 1) : std::span(found->second);
}
void FlatValues::append(ValueId v, Operands& out) const {
  for (ValueId leaf : leaves(v)) out.push_back(leaf);
}

std::string FlatValues::partName(TypeId product, uint32_t k) const {
  const types::Type& t = m_.types[product];
  if (t.kind == TypeKind::Enum) return k == 0 ? "tag" : std::to_string(k - 1);
  NameId field;
  if (t.kind == TypeKind::Struct) field = m_.types.recordInfo(t.record).cases[0].fields[k].name;
  return field.valid() ? std::string(m_.types.names.text(field)) : std::to_string(k);
}
NameId FlatValues::leafName(NameId hint, TypeId type, const Leaf& leaf) {
  std::string name(m_.types.names.text(hint));
  if (m_.types.kind(type) == TypeKind::Acc) type = m_.types[type].parts[0];
  for (uint32_t k : leaf.path) {
    name += "_" + partName(m_.types.element(type), k);
    type = types::partOf(m_.types, type, k);
  }
  return m_.types.names.intern(name);
}

std::vector<ValueId> FlatValues::define(TypeId type, NameId hint, size_t most) {
  std::vector<ValueId> out;
  for (const Leaf& leaf : types::leavesOf(m_.types, type, most)) {
    const NameId own = hint.valid() ? leafName(hint, type, leaf) : NameId();
    out.push_back(f_.values.add(Value{leaf.type, {}, {}, 0, own}));
  }
  return out;
}

void FlatValues::load(Builder& b, ValueId root, TypeId type, const Place& at, std::vector<ValueId>& out,
                      size_t most) {
  for (const Leaf& leaf : types::leavesOf(m_.types, type, most)) {
    const Place place = leafPlace(typeOf(root), at, leaf);
    out.push_back(b.get(root, place.path, place.indices));
  }
}
Place FlatValues::leafPlace(TypeId root, Place at, const Leaf& leaf) {
  for (uint32_t k : leaf.path) at.path.push_back({StepKind::Field, k, {}, 1});
  return {fieldsFirst(m_.types, root, at.path), std::move(at.indices)};
}
void FlatValues::split(Builder& b, ValueId v) {
  if (!isFlat(typeOf(v))) return;
  std::vector<ValueId> parts;
  load(b, v, typeOf(v), {}, parts);
  setLeaves(v, parts);
}

ValueId FlatValues::join(Builder& b, TypeId type, std::span<const ValueId> from, size_t& next, size_t most) {
  if (!isFlat(type, most)) return from[next++];
  const size_t first = next;
  Operands parts;
  for (uint32_t k = 0, n = types::partsOf(m_.types, type); k < n; ++k)
    parts.push_back(join(b, types::partOf(m_.types, type, k), from, next, most));
  const OpKind kind = m_.types.kind(type) == TypeKind::Known ? OpKind::Known : OpKind::Make;
  const ValueId v = b.one(Builder::simple(kind, std::move(parts)), type);
  if (isFlat(type)) setLeaves(v, from.subspan(first, next - first));
  return v;
}
ValueId FlatValues::stored(Builder& b, ValueId v) {
  if (!isFlat(typeOf(v))) return one(v);
  const std::vector<ValueId> own(leaves(v).begin(), leaves(v).end());
  size_t next = 0;
  return join(b, typeOf(v), own, next, types::mostLeaves);
}

void FlatValues::expand(Builder& b, ValueId v, size_t most, Operands& out) {
  if (most == whole) return out.push_back(stored(b, v));
  if (isFlat(typeOf(v)) || !isFlat(typeOf(v), most)) return append(v, out);
  v = one(v);
  const OpId def = f_.values[v].def;
  if (def.valid() && f_.ops[def].kind == OpKind::Make) {
    for (ValueId part : Operands(f_.ops[def].operands)) expand(b, part, most, out);
    return;
  }
  std::vector<ValueId> parts;
  load(b, v, typeOf(v), {}, parts, most);
  for (ValueId leaf : parts) out.push_back(leaf);
}

} // namespace melix::transforms
