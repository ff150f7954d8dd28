#pragma once
// Internal: reading and updating places at run time.

#include "interp/code.h"

namespace melix::interp {

struct PlaceStep {
  core::StepKind kind;
  uint32_t number = 0; ///< Field
  uint32_t index = 0;  ///< register of the index or start
  uint32_t length = 0; ///< register of a slice's extent
  int64_t step = 1;
};

struct PlaceExtra : Extra {
  std::vector<PlaceStep> steps;
  bool wholeArray = false;          ///< the place holds an array made of several places
  TypeKind element = TypeKind::F32; ///< of that array, else the kind of the place
  std::vector<uint32_t> dims;       ///< registers of its extents
};

const Instr* runGet(Frame& f, const Instr* in);   ///< a ← place in b
const Instr* runSet(Frame& f, const Instr* in);   ///< a ← b with the place replaced by c
const Instr* runAddAt(Frame& f, const Instr* in); ///< a ← b with c added at the place
/// All steps are indices and reach a scalar of a rank-1 to rank-3 array.
Handler fastGet(size_t rank, unsigned bytes, bool isSigned);
Handler fastSet(size_t rank);
Handler fastAddAt(size_t rank, TypeKind kind);
const Instr* runField(Frame& f, const Instr* in); ///< a ← part c of record b; d: it is an object

} // namespace melix::interp
