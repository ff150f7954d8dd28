#pragma once
// The layout of Core types: as leaves (values of Loops), and in memory (the stored form of melix/types.h).
//
//   type                    leaves                               stored form
//   scalar, exit            one scalar                           its size
//   str                     data, length                         16 bytes
//   array                   data; dims belong to the type        data, dims; a field whose declaration has
//                                                                numbers for sizes, up to 256 bytes: the
//                                                                elements, in place
//   tuple, struct, known    leaves of the parts, in order; more  the parts, naturally aligned
//                           than leafLimit are one: data of a
//                           block that holds the stored form
//   flat enum               leaves of the tag, of the slots      the parts, naturally aligned
//   array of one of these   the same. Its parts are arrays.      the same
//   other enum              word                                 8 bytes
//   list                    data                                 8 bytes
//   pack                    hidden dims, then the inner type's   of an array: the array's; else hidden dims,
//                           leaves                               then the inner value
//   acc(T)                  an address for each part of T that   none
//                           is no product

#include "loops/ir/ir.h"
#include "types/leaves.h"

#include <unordered_set>

namespace melix::loops {

/// Products of more leaves, of which a text is two, lie in a block: code for an op is never longer than this
/// (docs/decisions/large_records.md).
inline constexpr uint32_t leafLimit = 64;

struct StoredForm {
  uint32_t size = 0;
  uint32_t align = 1;
  bool counted = false; ///< some part is reference counted
};

/// A type as it lies in memory: its sizes are unknown, but for the sizes that declarations write as numbers.
/// Functions are polymorphic in sizes, so values of a type lie in the same way whatever their sizes are.
struct StoredType {
  TypeId type;
};

class Layouts {
public:
  explicit Layouts(types::TypeStore& store) : types(store) {}

  types::TypeStore& types;

  const std::vector<ValueType>& leaves(TypeId type);
  uint32_t leafCount(TypeId type) { return static_cast<uint32_t>(leaves(type).size()); }

  /// How a value lies in memory that is no part of a record: an element of a List or array, the insides of a
  /// pack, a value in a slot of the frame.
  StoredType inMemory(TypeId type);
  StoredForm stored(StoredType type);
  StoredForm stored(TypeId type) { return stored(inMemory(type)); }
  /// Whether an array's elements lie in the record that it is a field of. Else data and dims do.
  bool isInPlace(StoredType type) const {
    return isArrayLeaf(type.type) && types::bytesInPlace(types, type.type);
  }

  /// A tuple, struct, known function value or flat enum, or an array of them, whose parts are arrays.
  bool isProduct(TypeId type) const;
  /// Whether it is an array that is no product.
  bool isArrayLeaf(TypeId type) const { return types.kind(type) == TypeKind::Array && !isProduct(type); }
  /// Whether a value is one pointer to a block with its stored form.
  bool inBlock(TypeId type);
  /// Whether a struct in `type` contains itself through arrays: inlining an operation on its parts would not
  /// end.
  bool holdsItself(TypeId type);

  /// Parts of a product.
  uint32_t partCount(TypeId type) const;
  TypeId part(TypeId type, uint32_t k);
  /// The index of part `k`'s first leaf among the leaves of the type, or of an accumulator of it.
  uint32_t firstLeaf(TypeId type, uint32_t k, bool inAcc = false);
  StoredType part(StoredType type, uint32_t k) { return inRecord(part(type.type, k)); }
  uint32_t partOffset(StoredType type, uint32_t k);

  uint32_t caseCount(TypeId enumType) const;
  /// Nodes of an enum that is not flat: the tag is an i32 at offset 0.
  uint32_t fieldCount(TypeId enumType, uint32_t c) const;
  TypeId field(TypeId enumType, uint32_t c, uint32_t k) { return types.fieldType(enumType, c, k); }
  StoredType field(StoredType type, uint32_t c, uint32_t k) { return inRecord(field(type.type, c, k)); }
  uint32_t fieldOffset(StoredType type, uint32_t c, uint32_t k);
  uint32_t nodeBytes(StoredType type, uint32_t c);

  /// The inner type of a pack, with Bound symbols left in it.
  TypeId packInner(TypeId pack) const { return types[pack].parts[0]; }
  uint32_t packCount(TypeId pack) const { return types[pack].number; }
  /// Byte offset of the inner value in the stored form of a pack.
  uint32_t packOffset(TypeId pack) const;

  /// A part of the type that compiled code cannot hold yet, as text; empty if all are supported.
  std::string unsupported(TypeId type);

private:
  /// Of a part of a stored type. After a pointer begins a value by itself. So does a product that has a
  /// block as a value: it is copied to one and back.
  StoredType inRecord(TypeId part) {
    const bool isHere = isProduct(part) ? !inBlock(part) : isInPlace({part});
    return isHere ? StoredType{part} : inMemory(part);
  }
  /// Leaves of a type, to an empty list.
  void addLeaves(TypeId type, std::vector<ValueType>& out);
  void addParts(TypeId type, std::vector<ValueType>& out);
  void append(TypeId type, std::vector<ValueType>& out);
  void addAddresses(TypeId type, std::vector<ValueType>& out);
  std::unordered_map<TypeId, std::vector<ValueType>> leaves_;
  std::unordered_map<TypeId, TypeId> inMemory_;
  std::unordered_map<TypeId, StoredForm> stored_;
  std::unordered_map<TypeId, std::vector<uint32_t>> partOffsets_;
  std::unordered_set<TypeId> inBlock_;
  std::unordered_set<TypeId> supported_;
};

} // namespace melix::loops
