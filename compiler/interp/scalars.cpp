// Scalar ops: one function an op and kind.
#include "interp/code.h"

#include "core/build.h"

#include <cmath>
#include <type_traits>

namespace melix::interp {

namespace {

using ops::CmpKind;
using ops::OpKind;
using ops::RoundMode;

// How a kind is read from a slot and written to it. Narrow floats are computed in f32 and rounded once.
template <class T>
struct IntKind {
  using Type = T;
  static T get(Slot s) { return static_cast<T>(s.u); }
  static Slot put(T v) {
    Slot s;
    if constexpr (std::is_signed_v<T>)
      s.i = v;
    else
      s.u = v;
    return s;
  }
};
struct F32Kind {
  using Type = float;
  static float get(Slot s) { return s.f; }
  static Slot put(float v) { return slotOf(v); }
};
struct F64Kind {
  using Type = double;
  static double get(Slot s) { return s.d; }
  static Slot put(double v) { return slotOf(v); }
};
template <TypeKind K>
struct NarrowKind {
  using Type = float;
  static float get(Slot s) { return static_cast<float>(core::floatValue(K, s.u)); }
  static Slot put(float v) {
    Slot s;
    s.u = core::floatBits(K, static_cast<double>(v));
    return s;
  }
};
struct BoolKind {
  using Type = bool;
  static bool get(Slot s) { return s.u != 0; }
  static Slot put(bool v) {
    Slot s;
    s.u = v;
    return s;
  }
};

template <class K, class F>
const Instr* unary(Frame& f, const Instr* in) {
  f.r[in->a] = K::put(F::apply(K::get(f.r[in->b])));
  return in + 1;
}
template <class K, class F>
const Instr* binary(Frame& f, const Instr* in) {
  f.r[in->a] = K::put(F::apply(K::get(f.r[in->b]), K::get(f.r[in->c])));
  return in + 1;
}
template <class K, class F>
const Instr* compare(Frame& f, const Instr* in) {
  f.r[in->a].u = F::apply(K::get(f.r[in->b]), K::get(f.r[in->c]));
  return in + 1;
}
template <class K>
const Instr* fma(Frame& f, const Instr* in) {
  f.r[in->a] = K::put(std::fma(K::get(f.r[in->b]), K::get(f.r[in->c]), K::get(f.r[in->d])));
  return in + 1;
}

// Integers wrap: they are computed without sign.
template <class T>
auto bits(T v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<uint64_t>(v);
  else
    return v;
}
#define MELIX_BINARY(Name, Expression)                                                                       \
  struct Name {                                                                                              \
    template <class T>                                                                                       \
    static T apply(T a, T b) {                                                                               \
      return static_cast<T>(Expression);                                                                     \
    }                                                                                                        \
  };
#define MELIX_UNARY(Name, Expression)                                                                        \
  struct Name {                                                                                              \
    template <class T>                                                                                       \
    static T apply(T a) {                                                                                    \
      return static_cast<T>(Expression);                                                                     \
    }                                                                                                        \
  };
#define MELIX_COMPARE(Name, Operator)                                                                        \
  struct Name {                                                                                              \
    template <class T>                                                                                       \
    static bool apply(T a, T b) {                                                                            \
      return a Operator b;                                                                                   \
    }                                                                                                        \
  };
MELIX_BINARY(AddF, bits(a) + bits(b))
MELIX_BINARY(SubF, bits(a) - bits(b))
MELIX_BINARY(MulF, bits(a) * bits(b))
MELIX_BINARY(DivF, a / b)
MELIX_BINARY(CopySignF, std::copysign(a, std::isnan(b) ? T(0) : b)) // a NaN counts as positive
MELIX_BINARY(AndF, a& b)
MELIX_BINARY(OrF, a | b)
MELIX_BINARY(XorF, a ^ b)
MELIX_UNARY(SqrtF, std::sqrt(a))
MELIX_UNARY(FloorF, std::floor(a))
MELIX_UNARY(CeilF, std::ceil(a))
MELIX_UNARY(TruncF, std::trunc(a))
MELIX_UNARY(HalfEvenF, std::nearbyint(a))
MELIX_UNARY(NotF, ~bits(a))
MELIX_COMPARE(EqF, ==)
MELIX_COMPARE(NeF, !=)
MELIX_COMPARE(LtF, <)
MELIX_COMPARE(LeF, <=)
MELIX_COMPARE(GtF, >)
MELIX_COMPARE(GeF, >=)

struct NegF {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(0 - bits(a));
    else
      return -a;
  }
};
struct AbsF {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_integral_v<T>)
      return a < T(0) ? NegF::apply(a) : a;
    else
      return std::fabs(a);
  }
};
// A NaN operand is the result; a tie follows the first operand.
struct MinF {
  template <class T>
  static T apply(T a, T b) {
    return a != a || a <= b ? a : b;
  }
};
struct MaxF {
  template <class T>
  static T apply(T a, T b) {
    return a != a || a >= b ? a : b;
  }
};
struct NotBool {
  static bool apply(bool a) { return !a; }
};
// The divisor was checked before; code moved in front of its check must not trap.
struct IDivF {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return NegF::apply(a);
      T q = static_cast<T>(a / b);
      return static_cast<T>(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
    } else {
      return static_cast<T>(a / b);
    }
  }
};
struct IRemF {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return 0;
      T r = static_cast<T>(a % b);
      return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    } else {
      return static_cast<T>(a % b);
    }
  }
};
struct ShlF {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) << (static_cast<uint64_t>(b) & (8 * sizeof(T) - 1)));
  }
};
struct ShrF {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a >> (static_cast<uint64_t>(b) & (8 * sizeof(T) - 1)));
  }
};

template <class K>
Handler compareHandler(uint32_t detail) {
  switch (static_cast<CmpKind>(detail)) {
  case CmpKind::Eq: return compare<K, EqF>;
  case CmpKind::Ne: return compare<K, NeF>;
  case CmpKind::Lt: return compare<K, LtF>;
  case CmpKind::Le: return compare<K, LeF>;
  case CmpKind::Gt: return compare<K, GtF>;
  case CmpKind::Ge: return compare<K, GeF>;
  }
  return nullptr;
}

template <class K>
Handler numberHandler(OpKind op, uint32_t detail) {
  switch (op) {
  case OpKind::Add: return binary<K, AddF>;
  case OpKind::Sub: return binary<K, SubF>;
  case OpKind::Mul: return binary<K, MulF>;
  case OpKind::Neg: return unary<K, NegF>;
  case OpKind::Abs: return unary<K, AbsF>;
  case OpKind::Min: return binary<K, MinF>;
  case OpKind::Max: return binary<K, MaxF>;
  case OpKind::Cmp: return compareHandler<K>(detail);
  default: return nullptr;
  }
}

template <class K>
Handler floatHandler(OpKind op, uint32_t detail) {
  switch (op) {
  case OpKind::Div: return binary<K, DivF>;
  case OpKind::Fma: return fma<K>;
  case OpKind::Sqrt: return unary<K, SqrtF>;
  case OpKind::CopySign: return binary<K, CopySignF>;
  case OpKind::Round:
    switch (static_cast<RoundMode>(detail)) {
    case RoundMode::Floor: return unary<K, FloorF>;
    case RoundMode::Ceil: return unary<K, CeilF>;
    case RoundMode::Trunc: return unary<K, TruncF>;
    case RoundMode::HalfEven: return unary<K, HalfEvenF>;
    }
    return nullptr;
  default: return numberHandler<K>(op, detail);
  }
}

template <class T>
Handler intHandler(OpKind op, uint32_t detail) {
  using K = IntKind<T>;
  switch (op) {
  case OpKind::IDiv: return binary<K, IDivF>;
  case OpKind::IRem: return binary<K, IRemF>;
  case OpKind::And: return binary<K, AndF>;
  case OpKind::Or: return binary<K, OrF>;
  case OpKind::Xor: return binary<K, XorF>;
  case OpKind::Not: return unary<K, NotF>;
  case OpKind::Shl: return binary<K, ShlF>;
  case OpKind::Shr: return binary<K, ShrF>;
  default: return numberHandler<K>(op, detail);
  }
}

Handler boolHandler(OpKind op, uint32_t detail) {
  switch (op) {
  case OpKind::And: return binary<BoolKind, AndF>;
  case OpKind::Or: return binary<BoolKind, OrF>;
  case OpKind::Xor: return binary<BoolKind, XorF>;
  case OpKind::Not: return unary<BoolKind, NotBool>;
  case OpKind::Cmp: return compareHandler<BoolKind>(detail);
  default: return nullptr;
  }
}

} // namespace

Handler scalarHandler(OpKind op, TypeKind kind, uint32_t detail) {
  switch (kind) {
  case TypeKind::Bool: return boolHandler(op, detail);
  case TypeKind::Char: return op == OpKind::Cmp ? compareHandler<IntKind<uint32_t>>(detail) : nullptr;
  case TypeKind::I8: return intHandler<int8_t>(op, detail);
  case TypeKind::I16: return intHandler<int16_t>(op, detail);
  case TypeKind::I32: return intHandler<int32_t>(op, detail);
  case TypeKind::I64: return intHandler<int64_t>(op, detail);
  case TypeKind::U8: return intHandler<uint8_t>(op, detail);
  case TypeKind::U16: return intHandler<uint16_t>(op, detail);
  case TypeKind::U32: return intHandler<uint32_t>(op, detail);
  case TypeKind::U64: return intHandler<uint64_t>(op, detail);
  case TypeKind::Exit: return op == OpKind::Cmp ? compareHandler<IntKind<uint64_t>>(detail) : nullptr;
  case TypeKind::F8E4M3: return floatHandler<NarrowKind<TypeKind::F8E4M3>>(op, detail);
  case TypeKind::F8E5M2: return floatHandler<NarrowKind<TypeKind::F8E5M2>>(op, detail);
  case TypeKind::F16: return floatHandler<NarrowKind<TypeKind::F16>>(op, detail);
  case TypeKind::BF16: return floatHandler<NarrowKind<TypeKind::BF16>>(op, detail);
  case TypeKind::F32: return floatHandler<F32Kind>(op, detail);
  case TypeKind::F64: return floatHandler<F64Kind>(op, detail);
  default: return nullptr;
  }
}

// --- conversion
// ---------------------------------------------------------------------------------------------------

static Slot intFromFloat(TypeKind to, double v) {
  unsigned width = types::scalarBits(to);
  bool isSigned = types::scalarClass(to) == types::ScalarClass::SInt;
  Slot s;
  s.u = 0;
  if (std::isnan(v)) return s;
  v = std::trunc(v);
  double low = isSigned ? -std::ldexp(1.0, static_cast<int>(width) - 1) : 0.0;
  double end = std::ldexp(1.0, static_cast<int>(width) - (isSigned ? 1 : 0));
  uint64_t ones = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  if (v <= low) return slotOfBits(to, isSigned ? uint64_t(1) << (width - 1) : 0);
  if (v >= end) return slotOfBits(to, isSigned ? ones >> 1 : ones);
  if (isSigned)
    s.i = static_cast<int64_t>(v);
  else
    s.u = static_cast<uint64_t>(v);
  return s;
}

static Slot intFromInt(TypeKind from, TypeKind to, ops::ConvertMode mode, Slot v) {
  unsigned width = types::scalarBits(to);
  if (mode == ops::ConvertMode::Wrap || to == TypeKind::Char || to == TypeKind::Bool)
    return slotOfBits(to, v.u);
  bool toSigned = types::scalarClass(to) == types::ScalarClass::SInt;
  bool negative = types::scalarClass(from) == types::ScalarClass::SInt && v.i < 0;
  uint64_t ones = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  uint64_t largest = toSigned ? ones >> 1 : ones;
  if (!negative) return slotOfBits(to, v.u > largest ? largest : v.u);
  if (!toSigned) return slotOfBits(to, 0);
  int64_t smallest = -static_cast<int64_t>(largest) - 1;
  return slotOfBits(to, static_cast<uint64_t>(v.i < smallest ? smallest : v.i));
}

Slot convertSlot(TypeKind from, TypeKind to, ops::ConvertMode mode, Slot v) {
  bool fromFloat = types::isFloatKind(from), toFloat = types::isFloatKind(to);
  if (from == to) return v;
  Slot s;
  if (!toFloat)
    return fromFloat ? intFromFloat(to, core::floatValue(from, v.u)) : intFromInt(from, to, mode, v);
  if (fromFloat) {
    s.u = core::floatBits(to, core::floatValue(from, v.u));
    return s;
  }
  // Integers round once, to the final type; f64 first would round twice to f32.
  bool isSigned = types::scalarClass(from) == types::ScalarClass::SInt;
  if (to == TypeKind::F32) return slotOf(isSigned ? static_cast<float>(v.i) : static_cast<float>(v.u));
  double wide = isSigned ? static_cast<double>(v.i) : static_cast<double>(v.u);
  if (to == TypeKind::F64) return slotOf(wide);
  float rounded = isSigned ? static_cast<float>(v.i) : static_cast<float>(v.u);
  s.u = core::floatBits(to, static_cast<double>(rounded));
  return s;
}

const Instr* runConvert(Frame& f, const Instr* in) {
  f.r[in->a] = convertSlot(static_cast<TypeKind>(in->c & 0xff), static_cast<TypeKind>((in->c >> 8) & 0xff),
                           static_cast<ops::ConvertMode>(in->c >> 16), f.r[in->b]);
  return in + 1;
}

/// The bits of a float; a NaN shows no sign or payload.
const Instr* runBits(Frame& f, const Instr* in) {
  auto kind = static_cast<TypeKind>(in->c);
  Slot v = f.r[in->b];
  if (std::isnan(core::floatValue(kind, v.u))) v.u = core::floatBits(kind, std::nan(""));
  f.r[in->a] = v;
  return in + 1;
}

} // namespace melix::interp
