#pragma once
// Internal: running nests. The body is compiled in line between NestBegin and NestStep; the state of a run is
// an object in a register, so nests may contain calls and each other.

#include "core/analysis/evaluate.h"
#include "core/ir/nest.h"
#include "interp/code.h"

namespace melix::interp {

/// How scalars are combined.
struct ScalarReduction {
  core::ScalarFunction combine = nullptr; ///< two values
  core::ScalarFunction fma = nullptr;     ///< two factors and the sum so far; null: terms are values
  Slot unit{0};
};

/// A result combined by a region of its own: registers, and the code of the region.
struct NestCombine {
  std::vector<uint32_t> units, yields, params;
  std::vector<TypeKind> kinds; ///< by parameter
  uint32_t start = 0;
};

struct NestResultExtra {
  core::NestResult spec; ///< `fused` only where the factors are at hand
  ScalarReduction scalar;
  uint32_t yields[2] = {0, 0};       ///< operands; of a filter: condition, value; fused: the factors
  TypeKind kind0 = TypeKind::F32;    ///< of the yielded value (of the filter's value)
  bool isArray = false;              ///< the value is an array, whose elements go into the result's
  TypeKind element = TypeKind::F32;  ///< of the result, if it is an array
  std::vector<uint32_t> elementDims; ///< registers: extents of an array value
  std::vector<uint32_t> outs;        ///< result registers
  uint32_t zero = 0;                 ///< register of the zero of a sum of objects
  uint32_t dimOut = 0;               ///< of a filter
  NestCombine combine;
};

struct NestExtra : Extra {
  std::vector<uint32_t> axes, extents; ///< registers
  std::vector<NestResultExtra> results;
  uint32_t body = 0, end = 0; ///< instruction numbers
};

const Instr* runNestBegin(Frame& f, const Instr* in); ///< a: register of the state
const Instr* runNestStep(Frame& f, const Instr* in);
const Instr* runEndSub(Frame& f, const Instr* in);

} // namespace melix::interp
