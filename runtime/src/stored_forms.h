#pragma once
// How values lie in memory, for functions that walk over them by their types.

#include "melix/abi.h"

#include <string.h>

namespace melix::runtime {

/// The elements and dims of an array.
struct ArrayAt {
  const uint8_t* data;
  const int64_t* dims;
};

inline ArrayAt arrayAt(const MelixType* type, const uint8_t* stored) {
  if (type->dims) return {stored, type->dims};
  const uint8_t* data;
  memcpy(&data, stored, sizeof data);
  return {data, reinterpret_cast<const int64_t*>(stored + 8)};
}

inline int64_t sizeOf(const int64_t* dims, int rank) {
  int64_t size = 1;
  for (int k = 0; k < rank; k++) size *= dims[k];
  return size;
}

/// The number in a field of a flat enum.
inline uint32_t tagOf(const MelixField& tag, const uint8_t* base) {
  uint32_t number = 0;
  memcpy(&number, base + tag.offset, tag.type->size); // little-endian
  return number;
}

} // namespace melix::runtime
