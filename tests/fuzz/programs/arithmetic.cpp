// Arithmetic of scalars for the evaluator: integers wrap, floats are IEEE 754.
#include "fuzz/programs/trace.h"
#include "fuzz/programs/value.h"

#include <cmath>
#include <limits>

namespace melix::fuzz::programs {

namespace {

using Wide = __int128;

constexpr double belowExp = -746; ///< exp is 0 there, of f32 and f64

Wide wide(const Value& v) { return v.kind == Kind::U64 ? Wide(static_cast<uint64_t>(v.i)) : Wide(v.i); }

Wide least(Kind k) { return isSigned(k) ? -(Wide(1) << (bitsOf(k) - 1)) : 0; }
Wide most(Kind k) { return (Wide(1) << (isSigned(k) ? bitsOf(k) - 1 : bitsOf(k))) - 1; }

double real(const Value& v) {
  if (isFloat(v.kind)) return v.d;
  return v.kind == Kind::U64 ? static_cast<double>(static_cast<uint64_t>(v.i)) : static_cast<double>(v.i);
}

/// An operand as a float of the kind, rounded once.
double rounded(Kind kind, const Value& v) {
  if (isFloat(v.kind)) return v.d;
  if (kind == Kind::F64) return real(v);
  return v.kind == Kind::U64 ? static_cast<float>(static_cast<uint64_t>(v.i)) : static_cast<float>(v.i);
}

Value floorDivision(Kind kind, bool remainder, Wide a, Wide b) {
  if (b == 0) throw Panic{"integer division by zero"};
  if (isSigned(kind) && a == least(kind) && b == -1)
    throw Panic{"integer division overflows: " + std::to_string(static_cast<int64_t>(a)) + " by -1"};
  Wide q = a / b, r = a % b;
  if (r != 0 && (r < 0) != (b < 0)) --q, r += b;
  return integerValue(kind, static_cast<int64_t>(remainder ? r : q));
}

Value integerPower(Kind kind, int64_t base, int64_t exponent) {
  if (exponent < 0) throw Panic{"negative integer exponent " + std::to_string(exponent) + " of an integer"};
  uint64_t out = 1;
  for (; exponent > 0; --exponent) out *= static_cast<uint64_t>(base);
  return integerValue(kind, static_cast<int64_t>(out));
}

Value integers(const std::string& op, Kind kind, const Value& a, const Value& b) {
  auto x = static_cast<uint64_t>(a.i), y = static_cast<uint64_t>(b.i);
  auto give = [&](uint64_t value) { return integerValue(kind, static_cast<int64_t>(value)); };
  switch (op[0]) {
  case '+': return give(x + y);
  case '-': return give(x - y);
  case '*': return give(x * y);
  case '/': return floorDivision(kind, false, wide(a), wide(b));
  case '%': return floorDivision(kind, true, wide(a), wide(b));
  case '&': return give(x & y);
  case '|': return give(x | y);
  case '^': return integerPower(kind, a.i, b.i);
  default: break;
  }
  unsigned count = static_cast<unsigned>(y) & (bitsOf(kind) - 1);
  if (op == "<<") return give(x << count);
  return isSigned(kind) ? give(static_cast<uint64_t>(a.i >> count)) : give(x >> count);
}

template <class Float>
Float floats(char op, Float a, Float b) {
  switch (op) {
  case '+': return a + b;
  case '-': return a - b;
  case '*': return a * b;
  default: return a / b;
  }
}

template <class Float>
Float power(Float x, int64_t k) {
  switch (k) {
  case 0: return 1;
  case 1: return x;
  case 2: return x * x;
  default: return x * x * x;
  }
}

/// The result, noted with its slopes.
Value noted(Value out, const Value& a, double byA, const Value& b = {}, double byB = 0) {
  if (Trace* trace = Trace::active()) trace->note(out, a, byA, b, byB);
  return out;
}

Value noted(const std::string& op, Value out, const Value& a, double x, const Value& b, double y) {
  switch (op[0]) {
  case '+': return noted(std::move(out), a, 1, b, 1);
  case '-': return noted(std::move(out), a, 1, b, -1);
  case '*': return noted(std::move(out), a, y, b, x);
  case '^': return noted(std::move(out), a, b.i == 0 ? 0 : static_cast<double>(b.i) * power(x, b.i - 1));
  default: return noted(std::move(out), a, 1 / y, b, -x / (y * y));
  }
}

Value reals(const std::string& op, Kind kind, const Value& a, const Value& b) {
  if (op == "%") throw Unknown{"the remainder of floats"};
  if (op == "^" && (b.i < 0 || b.i > 3)) throw Unknown{"a power"};
  double x = rounded(kind, a), y = rounded(kind, b);
  auto s = static_cast<float>(x), t = static_cast<float>(y);
  double value = kind == Kind::F64 ? (op == "^" ? power(x, b.i) : floats(op[0], x, y))
                                   : static_cast<double>(op == "^" ? power(s, b.i) : floats(op[0], s, t));
  return noted(op, {kind, 0, value}, a, x, b, y);
}

/// The number as an integer of the kind, if it fits.
bool fits(Kind to, const Value& a, int64_t& out) {
  if (isFloat(a.kind)) {
    if (std::isnan(a.d)) return false;
    double whole = std::trunc(a.d);
    if (whole < -9.3e18 || whole > 1.9e19) return false;
    auto exact = static_cast<Wide>(whole);
    out = static_cast<int64_t>(exact);
    return exact >= least(to) && exact <= most(to);
  }
  out = a.i;
  return wide(a) >= least(to) && wide(a) <= most(to);
}

int64_t nearest(Kind to, const Value& a) {
  if (isFloat(a.kind) && std::isnan(a.d)) return 0;
  bool low = isFloat(a.kind) ? a.d < 0 : wide(a) < 0;
  return static_cast<int64_t>(low ? least(to) : most(to));
}

Value minimum(const Value& a, const Value& b, bool wantsMost) {
  if (isFloat(a.kind)) {
    if (std::isnan(a.d)) return a;
    if (std::isnan(b.d)) return b;
    if (a.d == b.d) {
      Value out = std::signbit(a.d) == wantsMost ? b : a; // +0 is greater than -0
      out.slot = a.slot;                                  // the slope is that of the first
      return out;
    }
  }
  return (wantsMost ? less(a, b) : less(b, a)) ? b : a;
}

} // namespace

bool less(const Value& a, const Value& b) {
  if (isFloat(a.kind) || isFloat(b.kind)) return real(a) < real(b);
  return wide(a) < wide(b);
}

bool equal(const Value& a, const Value& b) {
  if (isFloat(a.kind) || isFloat(b.kind)) return real(a) == real(b);
  if (!a.o) return wide(a) == wide(b);
  if (a.o->record != b.o->record || a.o->dims != b.o->dims || a.o->items.size() != b.o->items.size())
    return false;
  for (size_t k = 0; k < a.o->items.size(); ++k)
    if (!equal(a.o->items[k], b.o->items[k])) return false;
  return true;
}

Value binary(const std::string& op, Kind result, const Value& a, const Value& b) {
  if (op[0] < '<' || op[0] > '>') {
    if (op[0] != '!') return isFloat(result) ? reals(op, result, a, b) : integers(op, result, a, b);
  }
  if (op == "==") return boolValue(equal(a, b));
  if (op == "!=") return boolValue(!equal(a, b));
  if (op == "<") return boolValue(less(a, b));
  if (op == ">") return boolValue(less(b, a));
  if (op == "<=") return boolValue(less(a, b) || equal(a, b));
  if (op == ">=") return boolValue(less(b, a) || equal(a, b));
  return isFloat(result) ? reals(op, result, a, b) : integers(op, result, a, b);
}

Value negative(const Value& a) {
  if (isFloat(a.kind)) return noted({a.kind, 0, -a.d}, a, -1);
  return integerValue(a.kind, static_cast<int64_t>(0 - static_cast<uint64_t>(a.i)));
}

Value convert(const std::string& how, Kind to, const Value& a) {
  if (isFloat(to)) return isFloat(a.kind) ? noted(realValue(to, a.d), a, 1) : Value{to, 0, rounded(to, a)};
  if (how == "wrap") return integerValue(to, a.i);
  int64_t out = 0;
  if (fits(to, a, out)) return {to, out};
  if (how == "saturate") return {to, nearest(to, a)};
  throw Panic{text(a) + " does not fit `" + scalar(to)->text + "`"};
}

Value mathFunction(const std::string& name, const std::vector<Value>& arguments) {
  const Value& a = arguments[0];
  if (name == "min" || name == "max") return minimum(a, arguments[1], name == "max");
  if (name == "clamp") return minimum(minimum(a, arguments[1], true), arguments[2], false);
  if (name == "abs") {
    if (!isFloat(a.kind)) return less(a, {a.kind, 0}) ? negative(a) : a;
    return noted({a.kind, 0, std::fabs(a.d)}, a, a.d > 0 ? 1 : a.d < 0 ? -1 : 0);
  }
  if (name == "exp" && (a.d == 0 || a.d < belowExp)) { // others are the compiler's library's
    double value = a.d == 0 ? 1 : 0;
    return noted({a.kind, 0, value}, a, value);
  }
  if (name == "floor") return {a.kind, 0, std::floor(a.d)};
  if (name == "ceil") return {a.kind, 0, std::ceil(a.d)};
  if (name == "trunc") return {a.kind, 0, std::trunc(a.d)};
  if (name == "round") return {a.kind, 0, std::nearbyint(a.d)};
  if (name == "sqrt") return realValue(a.kind, std::sqrt(a.d));
  throw Unknown{name};
}

} // namespace melix::fuzz::programs
