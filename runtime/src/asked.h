#pragma once
// Arrays that a caller asks for by type: how readers of files use the wanted element type and dimensions.

#include "builtins.h"

namespace melix::runtime {

inline constexpr int maxRank = 32;

/// The request of an `Asked` result: two argument slots, the type (of kind ARRAY, or a scalar's) and the
/// wanted dims, -1 for any.
struct Asked {
  const MelixType* type;
  const int64_t* dims;

  explicit Asked(const uint64_t* slots)
      : type(reinterpret_cast<const MelixType*>(slots[0])), dims(reinterpret_cast<const int64_t*>(slots[1])) {
  }
  bool isArray() const { return type->kind == MELIX_KIND_ARRAY; }
  int rank() const { return isArray() ? type->rank : 0; }
  const MelixType* elem() const { return isArray() ? type->elem : type; }
};

/// Results (Bool, Asked, Str) of a success. An array's data is owned by the caller from here; a scalar's is
/// read and released.
void giveAsked(MelixTask* task, uint64_t* results, const Asked& asked, void* data, const int64_t* dims);
/// Results of a failure; the buffer is released.
void giveError(MelixTask* task, uint64_t* results, const Asked& asked, TextBuffer& error);

/// How many elements an array with these sizes has; false if there is no such array: an axis has at most
/// MELIX_MAX_EXTENT elements, and so has an array, sizes of 0 left out of the count.
bool countElements(int rank, const int64_t* dims, int64_t& count);
/// Whether an array with these sizes has the rank and the dimensions asked for.
bool fitsShape(const Asked& asked, int rank, const int64_t* dims);
/// "it holds `f32[2, 3]`, asked for is `f64[_, 4]`"
void addMismatch(TextBuffer& out, const Asked& asked, uint8_t kind, int rank, const int64_t* dims);

/// `f32[_, 65]`
void addAskedType(TextBuffer& out, const Asked& asked);
/// The name of a scalar kind, as in Melix.
const char* kindName(uint8_t kind);

} // namespace melix::runtime
