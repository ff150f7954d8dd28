#include "transforms/canonical/enum_slots.h"

#include "types/flat_enums.h"
#include "types/leaves.h"

namespace melix::transforms {

using namespace core;

static ValueId unusedSlot(Builder& b, TypeId type) {
  switch (b.types().kind(type)) {
  case TypeKind::Str: return b.text({});
  case TypeKind::List: return b.one(Builder::simple(OpKind::ListOf, {}), type);
  case TypeKind::Array: return b.zero(type);
  default: return b.types().isScalar(type) ? b.zero(type) : b.undef(type);
  }
}

std::vector<ValueId> slotsOfCase(Builder& b, TypeId flatEnum, uint32_t c, std::span<const ValueId> fields) {
  const std::vector<uint32_t> slots = types::flatEnum(b.types(), flatEnum)->slotsOf[c];
  assert(slots.size() == fields.size() && "a slot for each leaf");
  std::vector<ValueId> out(types::partsOf(b.types(), flatEnum));
  for (size_t k = 0; k < slots.size(); ++k) out[1 + slots[k]] = fields[k];
  for (uint32_t k = 0; k < out.size(); ++k) {
    const TypeId part = types::partOf(b.types(), flatEnum, k);
    if (k == 0)
      out[k] = b.constant(part, c);
    else if (!out[k].valid())
      out[k] = unusedSlot(b, part);
  }
  return out;
}

std::vector<ValueId> fieldsInSlots(Module& m, TypeId flatEnum, uint32_t c, std::span<const ValueId> leaves) {
  std::vector<ValueId> out;
  for (uint32_t slot : types::flatEnum(m.types, flatEnum)->slotsOf[c]) out.push_back(leaves[1 + slot]);
  return out;
}

} // namespace melix::transforms
