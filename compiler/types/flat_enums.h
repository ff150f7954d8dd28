#pragma once
// Enums whose values lie flat: a tag, which is the number of the case, and slots for the leaves of its
// fields. Other enums are a pointer to a box.

#include "types/types.h"

namespace melix::types {

/// The slots of a flat enum, and the bytes of all of them.
inline constexpr size_t mostSlots = 16;
inline constexpr size_t mostSlotBytes = 256;

/// How an enum lies flat; null if it is boxed. It lies flat if it does not hold itself nor an enum without
/// cases, is no tangent, and every leaf of its fields has a slot. Scalars, texts, lists, packs, boxes and
/// values without leaves have one, and so do arrays of scalars whose sizes the declarations write as numbers.
/// A size of a type argument is none of these (`f64[3]` in `Option[f64[3]]`), so the answer is the same for
/// all sizes of a type. It holds until a record gets a further field.
const FlatEnum* flatEnum(TypeStore& types, TypeId type);

/// Gives a struct a further field, without a name. The answers about enums are asked for anew, as some may
/// hold the struct.
void addField(TypeStore& types, RecordId record, TypeId type);

} // namespace melix::types
