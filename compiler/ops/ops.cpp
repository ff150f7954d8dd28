#include "ops/ops.h"

#include <array>

namespace melix::ops {

namespace {

struct OpRow {
  std::string_view text;
  EffectKind effect;
  LinearityKind linearity;
};

constexpr std::array<OpRow, opCount> opRows = {{
#define OP(Kind, Text, Effects, Linearity) {Text, EffectKind::Effects, LinearityKind::Linearity},
#include "ops/ops.def"
}};

constexpr DirectedRow directedRows[] = {
#define DIRECTED(Kind, Name, Arithmetic, Direction) {Name, OpKind::Arithmetic, RoundingDirection::Direction},
#include "ops/directed.def"
};

struct MathRow {
  std::string_view name;
  unsigned arity;
};

constexpr std::array<MathRow, mathCount> mathRows = {{
#define MATH(Kind, Name, Arity, Derivative) {Name, Arity},
#include "ops/math.def"
}};

struct BuiltinRow {
  std::string_view name;
  EffectKind effect;
};

constexpr BuiltinRow builtinRows[] = {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose) {Name, EffectKind::Effects},
#include "ops/builtins.def"
};

} // namespace

std::string_view opText(OpKind kind) { return opRows[static_cast<size_t>(kind)].text; }
EffectKind opEffect(OpKind kind) { return opRows[static_cast<size_t>(kind)].effect; }
LinearityKind opLinearity(OpKind kind) { return opRows[static_cast<size_t>(kind)].linearity; }

const DirectedRow& directedRow(DirectedKind kind) { return directedRows[static_cast<size_t>(kind)]; }

unsigned directedArity(DirectedKind kind) { return directedRow(kind).arithmetic == OpKind::Sqrt ? 1 : 2; }

std::string_view mathName(MathKind kind) { return mathRows[static_cast<size_t>(kind)].name; }
unsigned mathArity(MathKind kind) { return mathRows[static_cast<size_t>(kind)].arity; }

std::string_view builtinName(BuiltinKind kind) { return builtinRows[static_cast<size_t>(kind)].name; }
EffectKind builtinEffect(BuiltinKind kind) { return builtinRows[static_cast<size_t>(kind)].effect; }

std::string_view cmpText(CmpKind kind) {
  constexpr std::string_view texts[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  return texts[static_cast<size_t>(kind)];
}

std::string_view roundText(RoundMode mode) {
  constexpr std::string_view texts[] = {"floor", "ceil", "trunc", "half_even"};
  return texts[static_cast<size_t>(mode)];
}

} // namespace melix::ops
