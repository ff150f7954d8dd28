#pragma once
// Leaves of a type: the values that a value is made of, where tuples, structs and known functions are their
// parts, a flat enum is a tag and slots, and an array of them is an array for each part.

#include "types/types.h"

#include <optional>

namespace melix::types {

/// Values of more leaves lie in one block (docs/decisions/large_records.md).
inline constexpr size_t mostLeaves = 64;

/// Whether a value is the values of its parts: a tuple, a struct, a known function, a flat enum.
bool hasParts(TypeStore& types, TypeId type);

/// How many parts a product (one of these, or an array of them) has, and the type of one: an element, a
/// field, a capture, the tag and then the slots, the array of a part. The sizes of a part come after the
/// array's.
uint32_t partsOf(TypeStore& types, TypeId product);
TypeId partOf(TypeStore& types, TypeId product, uint32_t k);

/// How many leaves a value has. Counting ends above `most`, and where there are far more parts than that: a
/// type that holds the one below twice costs no more than others.
size_t leafCount(TypeStore& types, TypeId type, size_t most);

/// Whether a value of the type is its leaves: a product, or an accumulator of one, with leaves and at most so
/// many. A product without leaves is a leaf itself. So is an array whose elements have none, or more than
/// `mostLeaves`.
bool isFlattened(TypeStore& types, TypeId type, size_t most = mostLeaves);

/// An array of scalars lies in place in a record if its sizes are numbers and it has at most so many bytes.
inline constexpr uint64_t mostBytesInPlace = 256;
/// Its bytes; nothing of an array that does not. Of a field, its type in the declaration decides.
std::optional<uint64_t> bytesInPlace(const TypeStore& types, TypeId array);

/// A leaf: its type, and the numbers of the parts on the way to it.
struct Leaf {
  TypeId type;
  std::vector<uint32_t> path;
};
/// In the order of the parts, those without leaves too; the type itself if it is not flattened.
std::vector<Leaf> leavesOf(TypeStore& types, TypeId type, size_t most = mostLeaves);

} // namespace melix::types
