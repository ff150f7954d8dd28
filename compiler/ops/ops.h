#pragma once
// The catalogue of Core's ops and of elementary functions, shared by the checker, Core and all that follows.

#include <cstdint>
#include <string_view>

namespace melix::ops {

enum class OpKind : uint8_t {
#define OP(Kind, Text, Effects, Linearity) Kind,
#include "ops/ops.def"
};

enum class EffectKind : uint8_t { None, Panic, Io, Debug, Regions };
enum class LinearityKind : uint8_t { No, Linear, Each, Rule, Structure };

enum class MathKind : uint8_t {
#define MATH(Kind, Name, Arity, Derivative) Kind,
#include "ops/math.def"
};

/// A row of monoids.def: a kind of reduction.
enum class MonoidKind : uint8_t {
#define MONOID(Name, ...) Name,
#include "ops/monoids.def"
};

enum class CmpKind : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
/// The comparison that holds where `kind` does not: of integers, as floats may be NaN.
constexpr CmpKind inverse(CmpKind kind) {
  constexpr CmpKind of[] = {CmpKind::Ne, CmpKind::Eq, CmpKind::Ge, CmpKind::Gt, CmpKind::Le, CmpKind::Lt};
  return of[static_cast<uint8_t>(kind)];
}
enum class RoundMode : uint8_t { Floor, Ceil, Trunc, HalfEven };
/// Of `scale y, n`. Near is a promise of whoever writes it, for quick code on every processor: |y| is between
/// 2^-32 and 2^32 or NaN, and n a whole number between -250 and 250, in f64 between -2040 and 2040.
enum class ScaleRange : uint8_t { Any, Near };
enum class DirectedKind : uint8_t {
#define DIRECTED(Kind, Name, Arithmetic, Direction) Kind,
#include "ops/directed.def"
};
enum class RoundingDirection : uint8_t { Down, Up };
/// Of `convert` to an integer type: Saturate clamps and maps NaN to 0 (a checked conversion is a `check`
/// before it); Wrap keeps the low bits of an integer.
enum class ConvertMode : uint8_t { Saturate, Wrap };

/// A row of builtins.def.
enum class BuiltinKind : uint16_t {
#define BUILTIN(Kind, ...) Kind,
#include "ops/builtins.def"
};

std::string_view opText(OpKind kind);
EffectKind opEffect(OpKind kind);
LinearityKind opLinearity(OpKind kind);
/// A row of directed.def.
struct DirectedRow {
  std::string_view name;
  OpKind arithmetic;
  RoundingDirection direction;
};
const DirectedRow& directedRow(DirectedKind kind);
unsigned directedArity(DirectedKind kind);
std::string_view mathName(MathKind kind);
unsigned mathArity(MathKind kind);
std::string_view builtinName(BuiltinKind kind);
EffectKind builtinEffect(BuiltinKind kind);
std::string_view cmpText(CmpKind kind);
std::string_view roundText(RoundMode mode);

inline constexpr unsigned opCount = 0
#define OP(Kind, Text, Effects, Linearity) +1
#include "ops/ops.def"
    ;
inline constexpr unsigned directedCount = 0
#define DIRECTED(...) +1
#include "ops/directed.def"
    ;
inline constexpr unsigned mathCount = 0
#define MATH(Kind, Name, Arity, Derivative) +1
#include "ops/math.def"
    ;
inline constexpr unsigned builtinCount = 0
#define BUILTIN(...) +1
#include "ops/builtins.def"
    ;

} // namespace melix::ops
