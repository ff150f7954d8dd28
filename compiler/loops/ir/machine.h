#pragma once
// The machine model: the properties of a processor that schedules use.

#include <cstdint>
#include <string_view>

namespace melix::loops {

/// How a processor loads and stores with some lanes off.
enum class MaskKind : uint8_t {
  None,
  Values,    ///< elements of 32 and 64 bits, under a mask that is a vector as wide as they are
  Registers, ///< elements of any width; masks are registers of their own
};

struct Machine {
  std::string_view features; ///< the LLVM features that it has
  uint32_t vectorBits;
  uint32_t registers; ///< number of vector registers
  MaskKind masks;
  bool scales = false; ///< lanes can be multiplied by powers of two
  bool rounds = false; ///< instructions say how they round
};

/// The best first.
enum class MachineKind : uint8_t {
#define MACHINE(Name, ...) Name,
#include "loops/ir/machine.def"
};
inline constexpr Machine machines[] = {
#define MACHINE(Name, Features, VectorBits, Registers, Masks, Scales, Rounds)                                \
  {Features, VectorBits, Registers, MaskKind::Masks, Scales, Rounds},
#include "loops/ir/machine.def"
};

} // namespace melix::loops
