#include "transforms/fold_scalars.h"

#include "core/build.h"

#include <cmath>

namespace melix::transforms {

using namespace core;

namespace {

bool isSigned(TypeKind k) { return types::scalarClass(k) == types::ScalarClass::SInt; }

uint64_t truncated(TypeKind k, uint64_t bits) {
  unsigned width = types::scalarBits(k);
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

template <class T>
bool compared(ops::CmpKind kind, T a, T b) {
  switch (kind) {
  case ops::CmpKind::Eq: return a == b;
  case ops::CmpKind::Ne: return a != b;
  case ops::CmpKind::Lt: return a < b;
  case ops::CmpKind::Le: return a <= b;
  case ops::CmpKind::Gt: return a > b;
  case ops::CmpKind::Ge: return a >= b;
  }
  return false;
}

std::optional<uint64_t> foldInteger(const Op& op, TypeKind k, const std::vector<uint64_t>& x) {
  uint64_t a = x[0], b = x.size() > 1 ? x[1] : 0;
  int64_t sa = signedBits(k, a), sb = x.size() > 1 ? signedBits(k, b) : 0;
  bool less = isSigned(k) ? sa < sb : a < b;
  switch (op.kind) {
  case OpKind::Add: return truncated(k, a + b);
  case OpKind::Sub: return truncated(k, a - b);
  case OpKind::Mul: return truncated(k, a * b);
  case OpKind::Neg: return truncated(k, 0 - a);
  case OpKind::And: return a & b;
  case OpKind::Or: return a | b;
  case OpKind::Xor: return a ^ b;
  case OpKind::Not: return truncated(k, k == TypeKind::Bool ? 1 - a : ~a);
  case OpKind::Min: return less ? a : b;
  case OpKind::Max: return less ? b : a;
  case OpKind::IDiv:
  case OpKind::IRem: {
    if (k != TypeKind::I64 || sb <= 0) return std::nullopt;
    int64_t q = sa / sb, r = sa % sb;
    if (r < 0) --q, r += sb;
    return static_cast<uint64_t>(op.kind == OpKind::IDiv ? q : r);
  }
  case OpKind::Cmp:
    return isSigned(k) ? compared(static_cast<ops::CmpKind>(op.index()), sa, sb)
                       : compared(static_cast<ops::CmpKind>(op.index()), a, b);
  default: return std::nullopt;
  }
}

/// f32 and f64; a NaN is left to run time, its bits are nobody's business.
template <class T>
std::optional<T> foldFloat(const Op& op, const std::vector<T>& x) {
  T a = x[0], b = x.size() > 1 ? x[1] : T(0), r;
  switch (op.kind) {
  case OpKind::Add: r = a + b; break;
  case OpKind::Sub: r = a - b; break;
  case OpKind::Mul: r = a * b; break;
  case OpKind::Div: r = a / b; break;
  case OpKind::Neg: r = -a; break;
  case OpKind::Sqrt: r = std::sqrt(a); break;
  case OpKind::Abs: r = std::fabs(a); break;
  default: return std::nullopt;
  }
  if (std::isnan(r)) return std::nullopt;
  return r;
}

std::optional<uint64_t> foldConvert(TypeKind from, TypeKind to, uint64_t bits) {
  bool toFloat = to == TypeKind::F32 || to == TypeKind::F64, fromFloat = types::isFloatKind(from);
  if (!toFloat) return std::nullopt;
  if (fromFloat) {
    double v = floatValue(from, bits);
    if (std::isnan(v)) return std::nullopt;
    return floatBits(to, v);
  }
  if (to == TypeKind::F64)
    return floatBits(to, isSigned(from) ? static_cast<double>(signedBits(from, bits))
                                        : static_cast<double>(bits));
  float v = isSigned(from) ? static_cast<float>(signedBits(from, bits)) : static_cast<float>(bits);
  return floatBits(to, static_cast<double>(v));
}

} // namespace

std::optional<uint64_t> foldScalar(const Op& op, TypeKind k, TypeKind result,
                                   const std::vector<uint64_t>& x) {
  if (op.kind == OpKind::Convert) return foldConvert(k, result, x[0]);
  if (types::isIntKind(k) || k == TypeKind::Bool || k == TypeKind::Exit) return foldInteger(op, k, x);
  if (k != TypeKind::F32 && k != TypeKind::F64) return std::nullopt;
  if (op.kind == OpKind::Cmp)
    return compared(static_cast<ops::CmpKind>(op.index()), floatValue(k, x[0]), floatValue(k, x[1]));
  if (k == TypeKind::F64) {
    std::vector<double> v;
    for (uint64_t b : x) v.push_back(floatValue(k, b));
    std::optional<double> r = foldFloat(op, v);
    return r ? std::optional(floatBits(k, *r)) : std::nullopt;
  }
  std::vector<float> v;
  for (uint64_t b : x) v.push_back(static_cast<float>(floatValue(k, b)));
  std::optional<float> r = foldFloat(op, v);
  return r ? std::optional(floatBits(k, static_cast<double>(*r))) : std::nullopt;
}

} // namespace melix::transforms
