#pragma once
// The meaning of scalar ops and of the combination of reductions. Folding, the interpreter and the constants
// of compiled reductions ask here; README.md says the same in prose.
//
// A scalar is its bits as `extendedBits` gives them. Integers wrap; floats narrower than f32 are computed in
// f32 and rounded once. `math` is not here: its functions are Core of their own.

#include "core/ir/build.h"

#include <bit>
#include <cmath>
#include <type_traits>

namespace melix::core {

/// The low bits of a scalar extended to 64: signed integers by their sign, everything else by zeros.
uint64_t extendedBits(TypeKind kind, uint64_t bits);
/// The low bits alone, as constants hold them.
uint64_t lowBits(TypeKind kind, uint64_t bits);

// --- scalar ops
// --------------------------------------------------------------------------------------------------------

using ScalarFunction = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c);
/// The function that an op with index `detail` computes on operands of a kind; null if it is not defined on
/// that kind. It need not read all three arguments.
ScalarFunction scalarFunction(OpKind op, TypeKind kind, uint32_t detail = 0);
/// The result of `convert`, as bits.
uint64_t convertedBits(TypeKind from, TypeKind to, ops::ConvertMode mode, uint64_t bits);

// --- reductions
// --------------------------------------------------------------------------------------------------------

/// The op that combines two values. Not of ArgMin, ArgMax and Combine.
OpKind combiningOp(MonoidKind monoid);
/// The constant that changes nothing it is combined with, and is the result where there are no terms.
uint64_t unitOf(MonoidKind monoid, TypeKind kind);
/// The constant to which the blocks of an ordered sum or product are added: not even the sign of the first
/// one changes.
uint64_t firstTotal(MonoidKind monoid, TypeKind kind);

// --- for who makes an instruction of each op
// --------------------------------------------------------------------------------------------------------

/// Kinds that are computed in the type that holds them: bool, integers, f32, f64.
template <class T>
struct Native {
  using Type = T;
  using Raw = std::conditional_t<std::is_same_v<T, float>, uint32_t, uint64_t>;
  static T of(uint64_t bits) {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<T>(static_cast<Raw>(bits));
    else
      return static_cast<T>(bits);
  }
  static uint64_t bits(T v) {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<Raw>(v);
    else
      return static_cast<uint64_t>(v);
  }
};
/// Floats that are computed in f32.
template <TypeKind K>
struct Narrow {
  using Type = float;
  static float of(uint64_t bits) { return static_cast<float>(floatValue(K, bits)); }
  static uint64_t bits(float v) { return floatBits(K, static_cast<double>(v)); }
};

/// The function `F` of values of kind `K`, on bits; operands that it does not take are not looked at.
template <class K, class F>
uint64_t applied(uint64_t a, uint64_t b, uint64_t c) {
  using T = typename K::Type;
  auto value = [&] {
    if constexpr (std::is_invocable_v<F, T>)
      return F()(K::of(a));
    else if constexpr (std::is_invocable_v<F, T, T>)
      return F()(K::of(a), K::of(b));
    else
      return F()(K::of(a), K::of(b), K::of(c));
  }();
  if constexpr (std::is_same_v<decltype(value), bool>)
    return value;
  else
    return K::bits(value);
}

template <class T>
T floorQuotient(T a, T b) {
  if (b == 0) return 0; // the divisor was checked before; code moved before its check must not trap
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(0 - static_cast<uint64_t>(a));
    return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0)));
  } else {
    return static_cast<T>(a / b);
  }
}
template <class T>
T floorRemainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;
    const T r = static_cast<T>(a % b);
    return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  } else {
    return static_cast<T>(a % b);
  }
}

/// A NaN operand is the result, the first of two; +0 is greater than -0.
template <class T>
T least(T a, T b) {
  if (a != a || a < b) return a;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? a : b;
  return b;
}
template <class T>
T greatest(T a, T b) {
  if (a != a || a > b) return a;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? b : a;
  return b;
}

/// y times 2 to the power floor(n): an infinite n counts as one that is large.
template <class T>
T scaled(T y, T n) {
  constexpr T beyond = 5000; // of every exponent a float has
  if (n != n) return n;
  const T held = std::fmin(std::fmax(std::floor(n), -beyond), beyond);
  return static_cast<T>(std::scalbn(y, static_cast<int>(held)));
}

/// The guarantee of `scale near`.
template <class T>
bool isNear(T y, T n) {
  constexpr T most = sizeof(T) > sizeof(float) ? 2040 : 250;
  const bool isClose = y != y || (std::fabs(y) >= T(0x1p-32) && std::fabs(y) <= T(0x1p32));
  return isClose && std::floor(n) == n && std::fabs(n) <= most;
}

/// An op of arithmetic on f64, rounded down or up; of `sqrt` the first operand alone.
double directed(OpKind arithmetic, ops::RoundingDirection direction, double a, double b);

/// The table of the ops by class of kinds. `use(K(), f)` makes an entry: `f`, a function without state,
/// computes the op on values of kind `K`. `Result()` stands for an op that a class has not.
template <class Result, class Use>
struct ScalarOps {
  Use use;

  template <class K>
  Result compared(ops::CmpKind how) const {
    using T = typename K::Type;
    switch (how) {
    case ops::CmpKind::Eq: return use(K(), [](T a, T b) { return a == b; });
    case ops::CmpKind::Ne: return use(K(), [](T a, T b) { return a != b; });
    case ops::CmpKind::Lt: return use(K(), [](T a, T b) { return a < b; });
    case ops::CmpKind::Le: return use(K(), [](T a, T b) { return a <= b; });
    case ops::CmpKind::Gt: return use(K(), [](T a, T b) { return a > b; });
    case ops::CmpKind::Ge: return use(K(), [](T a, T b) { return a >= b; });
    }
    return Result();
  }

  template <class K>
  Result ordered(OpKind op, uint32_t detail) const {
    using T = typename K::Type;
    switch (op) {
    case OpKind::Cmp: return compared<K>(static_cast<ops::CmpKind>(detail));
    case OpKind::Min: return use(K(), [](T a, T b) { return least(a, b); });
    case OpKind::Max: return use(K(), [](T a, T b) { return greatest(a, b); });
    default: return Result();
    }
  }

  Result boolean(OpKind op, uint32_t detail) const {
    using K = Native<bool>;
    switch (op) {
    case OpKind::And: return use(K(), [](bool a, bool b) { return a && b; });
    case OpKind::Or: return use(K(), [](bool a, bool b) { return a || b; });
    case OpKind::Xor: return use(K(), [](bool a, bool b) { return a != b; });
    case OpKind::Not: return use(K(), [](bool a) { return !a; });
    default: return ordered<K>(op, detail);
    }
  }

  /// Computed in 64 bits without a sign, so that everything wraps.
  template <class T>
  Result integer(OpKind op, uint32_t detail) const {
    using K = Native<T>;
    using Wide = uint64_t;
    constexpr Wide countMask = 8 * sizeof(T) - 1;
    switch (op) {
    case OpKind::Add: return use(K(), [](T a, T b) { return static_cast<T>(Wide(a) + Wide(b)); });
    case OpKind::Sub: return use(K(), [](T a, T b) { return static_cast<T>(Wide(a) - Wide(b)); });
    case OpKind::Mul: return use(K(), [](T a, T b) { return static_cast<T>(Wide(a) * Wide(b)); });
    case OpKind::Neg: return use(K(), [](T a) { return static_cast<T>(0 - Wide(a)); });
    case OpKind::Abs: return use(K(), [](T a) { return a < T(0) ? static_cast<T>(0 - Wide(a)) : a; });
    case OpKind::IDiv: return use(K(), [](T a, T b) { return floorQuotient(a, b); });
    case OpKind::IRem: return use(K(), [](T a, T b) { return floorRemainder(a, b); });
    case OpKind::And: return use(K(), [](T a, T b) { return static_cast<T>(a & b); });
    case OpKind::Or: return use(K(), [](T a, T b) { return static_cast<T>(a | b); });
    case OpKind::Xor: return use(K(), [](T a, T b) { return static_cast<T>(a ^ b); });
    case OpKind::Not: return use(K(), [](T a) { return static_cast<T>(~Wide(a)); });
    case OpKind::Shl:
      return use(K(), [](T a, T b) { return static_cast<T>(Wide(a) << (Wide(b) & countMask)); });
    case OpKind::Shr: return use(K(), [](T a, T b) { return static_cast<T>(a >> (Wide(b) & countMask)); });
    default: return ordered<K>(op, detail);
    }
  }

  template <class K>
  Result rounded(ops::RoundMode mode) const {
    using T = typename K::Type;
    switch (mode) {
    case ops::RoundMode::Floor: return use(K(), [](T a) { return std::floor(a); });
    case ops::RoundMode::Ceil: return use(K(), [](T a) { return std::ceil(a); });
    case ops::RoundMode::Trunc: return use(K(), [](T a) { return std::trunc(a); });
    case ops::RoundMode::HalfEven: return use(K(), [](T a) { return std::nearbyint(a); });
    }
    return Result();
  }

  template <class K>
  Result directedOp(ops::DirectedKind kind) const {
    switch (kind) {
#define DIRECTED(Kind, Name, Arithmetic, Direction)                                                          \
  case ops::DirectedKind::Kind:                                                                              \
    if constexpr (OpKind::Arithmetic == OpKind::Sqrt)                                                        \
      return use(K(), [](double a) {                                                                         \
        return directed(OpKind::Arithmetic, ops::RoundingDirection::Direction, a, a);                        \
      });                                                                                                    \
    else                                                                                                     \
      return use(K(), [](double a, double b) {                                                               \
        return directed(OpKind::Arithmetic, ops::RoundingDirection::Direction, a, b);                        \
      });
#include "ops/directed.def"
    }
    return Result();
  }

  template <class K>
  Result floating(OpKind op, uint32_t detail) const {
    using T = typename K::Type;
    switch (op) {
    case OpKind::Add: return use(K(), [](T a, T b) { return a + b; });
    case OpKind::Sub: return use(K(), [](T a, T b) { return a - b; });
    case OpKind::Mul: return use(K(), [](T a, T b) { return a * b; });
    case OpKind::Div: return use(K(), [](T a, T b) { return a / b; });
    case OpKind::Fma: return use(K(), [](T a, T b, T c) { return std::fma(a, b, c); });
    case OpKind::Neg: return use(K(), [](T a) { return -a; });
    case OpKind::Abs: return use(K(), [](T a) { return std::fabs(a); });
    case OpKind::Sqrt: return use(K(), [](T a) { return std::sqrt(a); });
    case OpKind::Round: return rounded<K>(static_cast<ops::RoundMode>(detail));
    case OpKind::CopySign: // a NaN counts as positive
      return use(K(), [](T a, T b) { return std::copysign(a, std::isnan(b) ? T(0) : b); });
    case OpKind::Directed:
      if constexpr (std::is_same_v<K, Native<double>>)
        return directedOp<K>(static_cast<ops::DirectedKind>(detail));
      else
        return Result();
    case OpKind::Scale:
      if (static_cast<ops::ScaleRange>(detail) == ops::ScaleRange::Near)
        return use(K(), [](T y, T n) { return isNear(y, n) ? scaled(y, n) : T(NAN); });
      return use(K(), [](T y, T n) { return scaled(y, n); });
    default: return ordered<K>(op, detail);
    }
  }
};

/// The entry of the table of an op with index `detail` on operands of a kind.
template <class Result, class Use>
Result withScalarOp(OpKind op, TypeKind kind, uint32_t detail, Use use) {
  const ScalarOps<Result, Use> table{use};
  switch (kind) {
  case TypeKind::Bool: return table.boolean(op, detail);
  case TypeKind::Char: return table.template ordered<Native<uint32_t>>(op, detail);
  case TypeKind::Exit: return table.template ordered<Native<uint64_t>>(op, detail);
  case TypeKind::I8: return table.template integer<int8_t>(op, detail);
  case TypeKind::I16: return table.template integer<int16_t>(op, detail);
  case TypeKind::I32: return table.template integer<int32_t>(op, detail);
  case TypeKind::I64: return table.template integer<int64_t>(op, detail);
  case TypeKind::U8: return table.template integer<uint8_t>(op, detail);
  case TypeKind::U16: return table.template integer<uint16_t>(op, detail);
  case TypeKind::U32: return table.template integer<uint32_t>(op, detail);
  case TypeKind::U64: return table.template integer<uint64_t>(op, detail);
  case TypeKind::F8E4M3: return table.template floating<Narrow<TypeKind::F8E4M3>>(op, detail);
  case TypeKind::F8E5M2: return table.template floating<Narrow<TypeKind::F8E5M2>>(op, detail);
  case TypeKind::F16: return table.template floating<Narrow<TypeKind::F16>>(op, detail);
  case TypeKind::BF16: return table.template floating<Narrow<TypeKind::BF16>>(op, detail);
  case TypeKind::F32: return table.template floating<Native<float>>(op, detail);
  case TypeKind::F64: return table.template floating<Native<double>>(op, detail);
  default: return Result();
  }
}

} // namespace melix::core
