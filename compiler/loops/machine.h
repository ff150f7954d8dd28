#pragma once
// What schedules ask of a processor.

#include <cstdint>
#include <string_view>

namespace melix::loops {

struct Machine {
  std::string_view features; ///< of LLVM, which it has
  uint32_t vectorBits;
  uint32_t registers;  ///< of vectors
  bool masks;          ///< lanes can be left out when memory is read or written
  bool scales = false; ///< lanes can be multiplied by powers of two
  bool rounds = false; ///< instructions say how they round
};

/// The best first.
enum class MachineKind : uint8_t {
#define MACHINE(Name, ...) Name,
#include "loops/machine.def"
};
inline constexpr Machine machines[] = {
#define MACHINE(Name, Features, VectorBits, Registers, Masks, Scales, Rounds)                                \
  {Features, VectorBits, Registers, Masks, Scales, Rounds},
#include "loops/machine.def"
};

} // namespace melix::loops
