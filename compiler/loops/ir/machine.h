#pragma once
// What schedules ask of a processor.

#include <cstdint>
#include <string_view>

namespace melix::loops {

/// How a processor reads and writes without the lanes that are off.
enum class MaskKind : uint8_t {
  None,
  Values,    ///< those of 32 and 64 bits, under a mask that is a vector as wide as they are
  Registers, ///< those of any width; masks are registers of their own
};

struct Machine {
  std::string_view features; ///< of LLVM, which it has
  uint32_t vectorBits;
  uint32_t registers; ///< of vectors
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
