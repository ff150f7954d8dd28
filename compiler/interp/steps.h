#pragma once
// Internal: the instructions that are neither scalar ops, places nor nests.

#include "interp/code.h"

namespace melix::interp {

struct MessageExtra : Extra {
  std::string text;
};
struct RegsExtra : Extra {
  std::vector<uint32_t> regs; ///< operands
  std::vector<TypeKind> kinds;
  std::vector<uint32_t> dims; ///< registers of extents
  TypeKind element = TypeKind::F32;
};
struct CallExtra : Extra {
  core::FunctionId callee;
  std::vector<uint32_t> args; ///< dims, then operands
  std::vector<TypeKind> argKinds;
  std::vector<uint32_t> results; ///< dims, then registers
  std::vector<TypeKind> resultKinds;
};
struct CheckExtra : Extra {
  core::CheckAttr check;
  std::vector<uint32_t> operands;
  std::vector<TypeKind> kinds;
  std::vector<uint32_t> dims;
};
struct ExactDimExtra : Extra {
  types::DimId dim;
  std::vector<std::pair<types::DimSym, uint32_t>> symbols;
};
struct BuiltinExtra : Extra {
  ops::BuiltinKind builtin;
  std::vector<types::TypeId> argTypes, resultTypes;
  std::vector<uint32_t> args, results, dims, dimResults;
  std::vector<std::pair<uint32_t, uint32_t>> dimSources; ///< result and axis that tell each of dimResults
};
struct MatchExtra : Extra {
  std::vector<uint32_t> targets; ///< instruction, by case or number
};
struct FormatExtra : Extra {
  types::TypeId type;
  core::FormatAttr attr;
  std::vector<uint32_t> numbers;
};

/// Counts a call, an iteration or a point against the limit of the host; false: it ends here.
bool mayGoOn(Machine& m);

// Moving and control. Targets are instruction numbers.
const Instr* runMove(Frame& f, const Instr* in);       ///< a ← b, a scalar
const Instr* runMoveObject(Frame& f, const Instr* in); ///< a ← operand b
const Instr* runDrop(Frame& f, const Instr* in);
const Instr* runReturn(Frame& f, const Instr* in);
const Instr* runRefuse(Frame& f, const Instr* in);
const Instr* runJump(Frame& f, const Instr* in);       ///< to a
const Instr* runJumpUnless(Frame& f, const Instr* in); ///< to b unless a
const Instr* runLoopBack(Frame& f, const Instr* in);   ///< to a; counts a step
const Instr* runForStart(Frame& f, const Instr* in);   ///< a ← -1
const Instr* runForNext(Frame& f, const Instr* in);    ///< ++a; to c unless a < b
const Instr* runMatch(Frame& f, const Instr* in);      ///< by the case of a
const Instr* runSwitch(Frame& f, const Instr* in);     ///< by the number a; beyond the last as the last
const Instr* runCall(Frame& f, const Instr* in);
const Instr* runMathHook(Frame& f, const Instr* in); ///< a ← hook(c = MathKind | kind << 8)(b, d)

// Values.
const Instr* runSelect(Frame& f, const Instr* in); ///< a ← b ? c : d
const Instr* runSelectObject(Frame& f, const Instr* in);
const Instr* runTangent(Frame& f, const Instr* in);  ///< a ← b op c; d = TangentOp
const Instr* runRecord(Frame& f, const Instr* in);   ///< a ← parts; b = case, c = is an enum
const Instr* runPart(Frame& f, const Instr* in);     ///< a ← part c of b, borrowed; d: an object
const Instr* runNewArray(Frame& f, const Instr* in); ///< a ← zeroed array
const Instr* runFillZero(Frame& f, const Instr* in); ///< array a: every element a share of b
const Instr* runArrayOf(Frame& f, const Instr* in);  ///< a ← operands stacked
const Instr* runPutRow(Frame& f, const Instr* in);   ///< array a, row b ← operand c; d: TypeKind of c
const Instr* runReshape(Frame& f, const Instr* in);  ///< a ← b with other extents
const Instr* runNewList(Frame& f, const Instr* in);
const Instr* runPush(Frame& f, const Instr* in); ///< a ← b with c; d = kind of c
const Instr* runPop(Frame& f, const Instr* in);  ///< a, b ← last and rest of c; d = kind of a
const Instr* runLength(Frame& f, const Instr* in);
const Instr* runToArray(Frame& f, const Instr* in);     ///< a ← list b; c ← its length
const Instr* runToList(Frame& f, const Instr* in);      ///< a ← rows of b
const Instr* runArgSort(Frame& f, const Instr* in);     ///< a ← order of b; c = 1: descending
const Instr* runCompareText(Frame& f, const Instr* in); ///< a ← b cmp c; d = CmpKind
const Instr* runExactDim(Frame& f, const Instr* in);    ///< a ← a dimension, INT64_MAX beyond 64 bits
const Instr* runRealDim(Frame& f, const Instr* in);     ///< a ← max(b, 0)

// Effects.
const Instr* runCheck(Frame& f, const Instr* in);
const Instr* runHolds(Frame& f, const Instr* in); ///< a ← whether the check would pass
const Instr* runPanic(Frame& f, const Instr* in); ///< a: text
const Instr* runBuiltin(Frame& f, const Instr* in);
const Instr* runFormat(Frame& f, const Instr* in); ///< a ← text of b
const Instr* runDebug(Frame& f, const Instr* in);  ///< b

} // namespace melix::interp
