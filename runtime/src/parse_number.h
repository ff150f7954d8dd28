#pragma once
// Numbers from text: the whole of it, with nothing around. f32 and f64 are correctly rounded, narrower floats
// are rounded from f64.

#include "melix/abi.h"

namespace melix::runtime {

enum class ParseStatus { Ok, NoNumber, NoInteger, TooLarge };

/// Decimal, or with the prefix 0x, 0b, 0o; a sign before it. The value must fit the kind (I8 … U64).
ParseStatus parseInteger(MelixStr text, uint8_t kind, uint64_t& bits);
/// A float of MelixKind F16 BF16 F32 F64; `inf`, `nan` too, in any case.
ParseStatus parseFloat(MelixStr text, uint8_t kind, uint64_t& bits);
/// The f32 or f64 that a text begins with, to memory; how many bytes of text it is. 0 if there is none, or of
/// other kinds.
int64_t parseFront(MelixStr text, uint8_t kind, void* out);
/// A scalar of any kind of number or bool (`true`, `false`, 0, 1), to memory.
ParseStatus parseScalar(MelixStr text, uint8_t kind, void* out);

} // namespace melix::runtime
