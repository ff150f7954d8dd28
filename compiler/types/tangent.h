#pragma once
// Tangent types (rule 40).
//
//   - floats, complex numbers, arrays of them: themselves
//   - tuple, struct: the same structure of tangents; itself when every part is its own
//   - Dict: a Dict of tangents for some of its keys; an absent key has the zero
//   - bool, integers, char, str, …: ()
//   - enum: enum { zero, the cases with the tangents of their payloads }
//   - list, pack, array of any of these: the same of tangents (the tangent of a list has its length)
//   - a known function: the tuple of its captures' tangents
//   - a type parameter: itself if it is a float, () if it is an integer, else its Slope
//   - a function value: (); it has a tangent once `defunctionalise` made it an enum
//
// A type that holds nothing differentiable has the tangent (). A tangent type is its own tangent.

#include "types/types.h"

#include <string_view>

namespace melix::types {

TypeId tangentType(TypeStore& types, TypeId type);

/// The same as Core has it: there a Dict is the struct that the library declares, and its tangent that
/// struct's, one value for each place of an entry, without keys. The checker goes from one to the other where
/// something is differentiated (check/body/dict_tangents.cpp).
TypeId positionalTangent(TypeStore& types, TypeId type);
/// Whether these two differ: a Dict with a tangent is inside.
bool holdsDict(const TypeStore& types, TypeId type);

/// The panic where Lists, which may be tangents, are added and neither is zero.
inline constexpr std::string_view listLengthsDiffer =
    "lists of different lengths are added: `concat` joins them";

/// Case of `tangentType(enumType)` that holds the tangents of case `c`; case 0 is `zero`. Its fields are the
/// tangents of all fields of case `c`, in order, `()` where there is none.
uint32_t tangentCase(TypeStore& types, TypeId enumType, uint32_t c);

/// Whether there is a zero of `type`: of an enum it is its first case, which holds nothing. Text and
/// functions have no zero, nor does a type that holds one of these.
bool hasZero(TypeStore& types, TypeId type);
/// Whether sums of values of `type` begin with its zero: enums must be tangents of enums.
bool canAdd(TypeStore& types, TypeId type);

/// Whether a struct in `type` holds itself, through arrays or, if asked, through lists: a recursion over its
/// parts has no end there.
bool holdsItself(const TypeStore& types, TypeId type, bool throughLists);

/// The widest float type among the leaves of `type`; none if it has no float.
TypeId widestFloat(TypeStore& types, TypeId type);

/// Gives a record that `isSaved` its only field, and its tangent record the field's tangent.
void fillSaved(TypeStore& types, RecordId record, TypeId field);

} // namespace melix::types
