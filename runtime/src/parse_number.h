#pragma once
// Numbers from text: the whole of it, with nothing around. f32 and f64 are correctly rounded, narrower floats
// are rounded from f64.

#include "melix/abi.h"

namespace melix::runtime {

enum class ParseStatus { Ok, NoNumber, NoInteger, TooLarge };

/// Decimal, or with the prefix 0x, 0b, 0o; a sign in front. The value must fit the kind (I8 … U64).
ParseStatus parseInteger(MelixStr text, uint8_t kind, uint64_t& bits);
/// A float of MelixKind F16 BF16 F32 F64; `inf`, `nan` too, in any case.
ParseStatus parseFloat(MelixStr text, uint8_t kind, uint64_t& bits);
/// A scalar of any kind of number or bool (`true`, `false`, 0, 1), to memory.
ParseStatus parseScalar(MelixStr text, uint8_t kind, void* out);

/// The nearest f16 / bf16 of a double, ties to even, and an f16 as double.
uint16_t roundToHalf(double value, int mantissaBits, int exponentBits);
double halfToDouble(uint16_t bits);

} // namespace melix::runtime
