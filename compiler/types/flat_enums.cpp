#include "types/flat_enums.h"

#include "types/leaves.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace melix::types {

namespace {

/// What the values of a record hold, through arrays and lists too.
class Contents {
public:
  Contents(const TypeStore& types, RecordId of) : types_(types), of_(of) { addRecord(of); }

  bool holdsItself = false;
  bool isDeclared = true; ///< the fields of all records are known

private:
  void add(TypeId id) {
    if (!seen_.insert(id).second) return;
    const Type& t = types_[id];
    for (TypeId part : t.parts) add(part);
    if (!t.record) return;
    holdsItself |= t.record == of_;
    if (seenRecords_.insert(t.record).second) addRecord(t.record);
  }
  void addRecord(RecordId id) {
    const std::vector<EnumCase>& cases = types_.recordInfo(id).cases;
    isDeclared &= !cases.empty();
    for (const EnumCase& c : cases)
      for (const Field& field : c.fields) add(field.type);
  }

  const TypeStore& types_;
  RecordId of_;
  std::unordered_set<TypeId> seen_;
  std::unordered_set<RecordId> seenRecords_;
};

/// Gives slots to the leaves of one case after the other.
class SlotMaker {
public:
  explicit SlotMaker(TypeStore& types) : types_(types) {}

  std::optional<FlatEnum> run(RecordId id) {
    const size_t cases = types_.recordInfo(id).cases.size();
    out_.tag = types_.scalar(cases <= 2 ? TypeKind::Bool : cases <= 256 ? TypeKind::U8 : TypeKind::I32);
    out_.slotsOf.resize(cases);
    for (size_t c = 0; c < cases; ++c) {
      std::map<TypeId, size_t> sharing;
      const std::vector<Field> fields = types_.recordInfo(id).cases[c].fields;
      for (const Field& field : fields)
        for (const Leaf& leaf : leavesOf(types_, field.type))
          if (!give(out_.slotsOf[c], leaf.type, sharing)) return std::nullopt;
    }
    return std::move(out_);
  }

private:
  /// Scalars and texts share their slot with those of other cases. `sharing` counts those of this case.
  bool give(std::vector<uint32_t>& slotsOf, TypeId leaf, std::map<TypeId, size_t>& sharing) {
    const bool isShared = types_.isScalar(leaf) || types_.kind(leaf) == TypeKind::Str;
    size_t skipped = isShared ? sharing[leaf]++ : out_.slots.size();
    size_t slot = 0;
    while (slot < out_.slots.size() && !(isShared && out_.slots[slot] == leaf && skipped-- == 0)) ++slot;
    if (slot == out_.slots.size()) {
      const std::optional<uint64_t> bytes = bytesOf(leaf);
      if (!bytes) return false;
      bytes_ += *bytes;
      out_.slots.push_back(leaf);
    }
    slotsOf.push_back(static_cast<uint32_t>(slot));
    return out_.slots.size() <= mostSlots && bytes_ <= mostSlotBytes;
  }

  /// Nothing for leaves that no slot holds.
  std::optional<uint64_t> bytesOf(TypeId leaf) {
    if (leafCount(types_, leaf, mostLeaves) == 0) return 0;
    switch (types_.kind(leaf)) {
    case TypeKind::Str: return 16;
    case TypeKind::List:
    case TypeKind::Enum: return 8;
    case TypeKind::Pack: return bytesOfPack(types_[leaf]);
    case TypeKind::Array: return bytesInPlace(types_, leaf);
    default: break;
    }
    if (!types_.isScalar(leaf)) return std::nullopt;
    return scalarBits(types_.kind(leaf)) / 8;
  }
  /// The hidden sizes, and what they are sizes of: arrays by a pointer and their sizes.
  std::optional<uint64_t> bytesOfPack(const Type& pack) {
    uint64_t sum = 8 * pack.number;
    for (const Leaf& leaf : leavesOf(types_, pack.parts[0])) {
      const bool isArray = types_.kind(leaf.type) == TypeKind::Array;
      const std::optional<uint64_t> bytes = isArray ? 8 + 8 * types_.rank(leaf.type) : bytesOf(leaf.type);
      if (!bytes) return std::nullopt;
      sum += *bytes;
    }
    return sum;
  }

  TypeStore& types_;
  FlatEnum out_;
  uint64_t bytes_ = 0;
};

} // namespace

void addField(TypeStore& types, RecordId record, TypeId type) {
  types.recordInfo(record).cases[0].fields.push_back({NameId(), type});
  types.derived.flatEnums.clear();
}

const FlatEnum* flatEnum(TypeStore& types, TypeId type) {
  if (types.kind(type) != TypeKind::Enum) return nullptr;
  const RecordId id = types[type].record;
  auto known = types.derived.flatEnums.find(id);
  if (known == types.derived.flatEnums.end()) {
    const Contents contents(types, id);
    if (!contents.isDeclared) return nullptr;
    const bool isBoxed = contents.holdsItself || types.recordInfo(id).tangentOf.valid();
    std::optional<FlatEnum> found;
    if (!isBoxed) found = SlotMaker(types).run(id);
    known = types.derived.flatEnums.emplace(id, std::move(found)).first;
  }
  return known->second ? &*known->second : nullptr;
}

} // namespace melix::types
