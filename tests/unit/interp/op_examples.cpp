#include "interp/op_examples.h"

#include "core/ir/build.h"

#include <cmath>
#include <cstdio>

namespace melix::interp {

using ops::OpKind;

std::string show(const Value& v) {
  if (!isObject(v.kind())) {
    if (types::isFloatKind(v.kind())) {
      char text[40];
      std::snprintf(text, sizeof text, "%.9g", core::floatValue(v.kind(), v.slot().u));
      return text;
    }
    if (v.kind() == TypeKind::Bool) return v.asBool() ? "true" : "false";
    return types::scalarClass(v.kind()) == types::ScalarClass::SInt ? std::to_string(v.slot().i)
                                                                    : std::to_string(v.slot().u);
  }
  if (!v.slot().o) return "undef";
  std::string out;
  switch (v.slot().o->kind) {
  case ObjectKind::Array:
    for (int64_t k = 0; k < v.asArray().count; ++k) {
      TypeKind e = v.asArray().element;
      Slot s = v.asArray().at(k);
      if (isObject(e)) retain(s.o);
      out += (k ? " " : "") + show(Value(e, s));
    }
    return "[" + out + "]";
  case ObjectKind::List:
    for (size_t k = 0; k < v.asList().items.size(); ++k) out += (k ? " " : "") + show(v.part(k));
    return "<" + out + ">";
  case ObjectKind::Record:
    for (size_t k = 0; k < v.asRecord().parts.size(); ++k) out += (k ? ", " : "") + show(v.part(k));
    return (v.asRecord().isEnum ? "#" + std::to_string(v.asRecord().tag) : "") + "(" + out + ")";
  case ObjectKind::Str: return "\"" + v.asText() + "\"";
  default: return "?";
  }
}

namespace {

Value f(float v) { return Value::f32(v); }
Value n(int64_t v) { return Value::integer(v); }
Value b(bool v) { return Value::boolean(v); }
Value xs(std::vector<float> v, std::vector<int64_t> dims = {}) { return Value::floats(v, std::move(dims)); }
Value floatList(std::vector<float> v) {
  std::vector<Value> items;
  for (float x : v) items.push_back(f(x));
  return Value::list(TypeKind::F32, std::move(items));
}

} // namespace

const std::vector<OpExample>& opExamples() {
  static const std::vector<OpExample> all = {
      // values
      {OpKind::Const,
       "() -> (f32, str)",
       "%a = const 1.5 : f32\n%b = const \"hi\" : str\nyield %a, %b",
       {},
       "1.5 \"hi\""},
      {OpKind::Zero, "[N] (%x: f32[N]) -> (f32[N])", "%z = zero : f32[N]\nyield %z", {xs({1, 2})}, "[0 0]"},
      {OpKind::Undef,
       "(%c: bool, %x: f32) -> (f32)",
       "%u = undef : f32\n%r = if %c {\nyield %x\n} {\nyield %u\n} : f32\nyield %r",
       {b(true), f(3)},
       "3"},
      {OpKind::DimValue,
       "[N] (%x: f32[N]) -> (i64)",
       "%n = dim_value dims [2*N + N / 2] : i64\nyield %n",
       {xs({1, 2, 3})},
       "7"},
      {OpKind::BindDim,
       "(%n: i64) -> (f32[M]) defines [M]",
       "bind_dim %n defines [K]\n%z = zero : f32[K]\nyield %z dims [K]",
       {n(2)},
       "[0 0]"},
      {OpKind::CastDims,
       "[N, M] (%x: f32[N], %y: f32[M]) -> (f32[M])",
       "%r = cast_dims %x : f32[M]\nyield %r",
       {xs({1, 2}), xs({5, 6})},
       "[1 2]"},
      {OpKind::Make,
       "(%x: f32, %n: i64) -> ((f32, i64))",
       "%r = make %x, %n : (f32, i64)\nyield %r",
       {f(2), n(3)},
       "(2, 3)"},
      {OpKind::Variant, "(%x: f32) -> (Option)", "%r = variant 1 %x : Option\nyield %r", {f(2)}, "#1(2)"},
      {OpKind::Pack,
       "[N] (%x: f32[N]) -> (pack 1 f32[_])",
       "%r = pack %x dims [N] : pack 1 f32[_]\nyield %r",
       {xs({4, 5})},
       "(2, [4 5])"},
      {OpKind::Unpack,
       "[N] (%x: f32[N]) -> (i64, f32[K]) defines [K]",
       "%p = pack %x dims [N] : pack 1 f32[_]\n%r = unpack %p defines [L] : f32[L]\n%n = dim_value dims [L] "
       ": i64\nyield %n, %r dims [L]",
       {xs({4, 5})},
       "2 [4 5]"},
      {OpKind::Known, "(%x: f32) -> (fn#3(f32))", "%k = known %x : fn#3(f32)\nyield %k", {f(2)}, "(2)"},
      {OpKind::Capture,
       "(%x: f32, %y: f32) -> (f32)",
       "%k = known %x, %y : fn#3(f32, f32)\n%r = capture 1 %k : f32\nyield %r",
       {f(2), f(3)},
       "3"},
      // places
      {OpKind::Get,
       "[N, M] (%x: f32[N, M], %i: i64) -> (f32, f32[2], f32[M])",
       "%a = get %x[%i, %i] : f32\n%z = const 0 : i64\n%b = get %x[%i, %z +: 2 by 2] : f32[2]\n%c = get "
       "%x[%i] : f32[M]\nyield %a, %b, %c",
       {xs({1, 2, 3, 4, 5, 6}, {2, 3}), n(1)},
       "5 [4 6] [4 5 6]"},
      {OpKind::Set,
       "[N] (%x: (f32[N], i64), %i: i64, %v: f32) -> ((f32[N], i64))",
       "%r = set %x.0[%i] = %v : (f32[N], i64)\nyield %r",
       {Value::tuple({xs({1, 2}), n(7)}), n(1), f(9)},
       "([1 9], 7)"},
      {OpKind::AddAt,
       "[N] (%x: f32[N], %i: i64, %v: f32[N]) -> (f32[N], f32[N])",
       "%a = get %v[%i] : f32\n%r = add_at %x[%i] += %a : f32[N]\n%z = const 0 : i64\n%s = add_at %x[%z +: "
       "N] += %v : f32[N]\nyield %r, %s",
       {xs({1, 2}), n(1), xs({10, 20})},
       "[1 22] [11 22]"},
      {OpKind::Reshape,
       "(%x: f32[2, 3]) -> (f32, f32[3, 2])",
       "%r = reshape %x : f32[3, 2]\n%o = const 1 : i64\n%t = const 2 : i64\n%v = get %r[%t, %o] : "
       "f32\nyield %v, %r",
       {xs({1, 2, 3, 4, 5, 6}, {2, 3})},
       "6 [1 2 3 4 5 6]"},
      {OpKind::ArrayOf,
       "(%x: f32[2], %y: f32[2]) -> (f32[2, 2])",
       "%r = array %x, %y : f32[2, 2]\nyield %r",
       {xs({1, 2}), xs({3, 4})},
       "[1 2 3 4]"},
      // arithmetic
      {OpKind::Add,
       "(%x: f32, %y: f32, %p: (f32, f32[2])) -> (f32, (f32, f32[2]))",
       "%r = add %x, %y : f32\n%q = add %p, %p : (f32, f32[2])\nyield %r, %q",
       {f(2), f(3), Value::tuple({f(1), xs({1, 2})})},
       "5 (2, [2 4])"},
      {OpKind::Sub, "(%x: f32, %y: f32) -> (f32)", "%r = sub %x, %y : f32\nyield %r", {f(2), f(3)}, "-1"},
      {OpKind::Mul,
       "(%x: f32, %y: i8) -> (f32, i8)",
       "%r = mul %x, %x : f32\n%s = mul %y, %y : i8\nyield %r, %s",
       {f(3), Value::ofBits(TypeKind::I8, 100)},
       "9 16"},
      {OpKind::Div, "(%x: f32, %y: f32) -> (f32)", "%r = div %x, %y : f32\nyield %r", {f(3), f(2)}, "1.5"},
      {OpKind::Neg, "(%x: f32) -> (f32)", "%r = neg %x : f32\nyield %r", {f(3)}, "-3"},
      {OpKind::Fma,
       "(%x: f32, %y: f32, %z: f32) -> (f32)",
       "%r = fma %x, %y, %z : f32\nyield %r",
       {f(2), f(3), f(4)},
       "10"},
      {OpKind::Sqrt, "(%x: f64) -> (f64)", "%r = sqrt %x : f64\nyield %r", {Value::f64(6.25)}, "2.5"},
      {OpKind::Abs,
       "(%x: f32, %n: i64) -> (f32, i64)",
       "%r = abs %x : f32\n%s = abs %n : i64\nyield %r, %s",
       {f(-3), n(-4)},
       "3 4"},
      {OpKind::Min, "(%x: f32, %y: f32) -> (f32)", "%r = min %x, %y : f32\nyield %r", {f(2), f(3)}, "2"},
      {OpKind::Max, "(%x: f32, %y: f32) -> (f32)", "%r = max %x, %y : f32\nyield %r", {f(2), f(3)}, "3"},
      {OpKind::Round,
       "(%x: f32) -> (f32, f32, f32, f32)",
       "%a = round floor %x : f32\n%b = round ceil %x : f32\n%c = round trunc %x : f32\n%d = round half_even "
       "%x : f32\nyield %a, %b, %c, %d",
       {f(-2.5F)},
       "-3 -2 -2 -2"},
      {OpKind::CopySign,
       "(%x: f32, %y: f32) -> (f32)",
       "%r = copysign %x, %y : f32\nyield %r",
       {f(2), f(-3)},
       "-2"},
      {OpKind::Scale,
       "(%x: f32, %n: f32) -> (f32, f32)",
       "%r = scale any %x, %n : f32\n%s = scale near %x, %n : f32\nyield %r, %s",
       {f(1.5F), f(-3)},
       "0.1875 0.1875"},
      {OpKind::Directed,
       "(%x: f64, %y: f64) -> (f64, f64)",
       "%r = directed div_down %x, %y : f64\n%s = directed div_up %x, %y : f64\n"
       "%d = sub %s, %r : f64\nyield %r, %d",
       {Value::f64(1), Value::f64(3)},
       "0.333333333 5.55111512e-17"},
      {OpKind::Math, "(%x: f32) -> (f32)", "%r = math exp %x : f32\nyield %r", {f(1)}, "2.71828175"},
      {OpKind::IDiv, "(%x: i64, %y: i64) -> (i64)", "%r = idiv %x, %y : i64\nyield %r", {n(-7), n(2)}, "-4"},
      {OpKind::IRem, "(%x: i64, %y: i64) -> (i64)", "%r = irem %x, %y : i64\nyield %r", {n(-7), n(2)}, "1"},
      {OpKind::And, "(%x: i64, %y: i64) -> (i64)", "%r = and %x, %y : i64\nyield %r", {n(12), n(10)}, "8"},
      {OpKind::Or, "(%x: i64, %y: i64) -> (i64)", "%r = or %x, %y : i64\nyield %r", {n(12), n(10)}, "14"},
      {OpKind::Xor, "(%x: i64, %y: i64) -> (i64)", "%r = xor %x, %y : i64\nyield %r", {n(12), n(10)}, "6"},
      {OpKind::Not,
       "(%x: bool, %y: u8) -> (bool, u8)",
       "%r = not %x : bool\n%s = not %y : u8\nyield %r, %s",
       {b(true), Value::ofBits(TypeKind::U8, 1)},
       "false 254"},
      {OpKind::Shl, "(%x: i64, %y: i64) -> (i64)", "%r = shl %x, %y : i64\nyield %r", {n(3), n(66)}, "12"},
      {OpKind::Shr, "(%x: i64, %y: i64) -> (i64)", "%r = shr %x, %y : i64\nyield %r", {n(-8), n(1)}, "-4"},
      // conversion and choice
      {OpKind::Cmp,
       "(%x: f32, %y: f32, %s: str) -> (bool, bool)",
       "%r = cmp lt %x, %y : bool\n%t = cmp eq %s, %s : bool\nyield %r, %t",
       {f(1), f(2), Value::text("a")},
       "true true"},
      {OpKind::Select,
       "(%c: bool, %x: f32, %y: f32) -> (f32)",
       "%r = select %c, %x, %y : f32\nyield %r",
       {b(false), f(1), f(2)},
       "2"},
      {OpKind::Convert,
       "(%x: f32, %n: i64) -> (i8, u8, f32)",
       "%r = convert saturate %x : i8\n%s = convert wrap %n : u8\n%t = convert saturate %n : f32\nyield %r, "
       "%s, %t",
       {f(300.7F), n(257)},
       "127 1 257"},
      {OpKind::Bitcast, "(%x: f32) -> (u32)", "%r = bitcast %x : u32\nyield %r", {f(1)}, "1065353216"},
      // control
      {OpKind::If,
       "(%c: bool, %x: f32, %y: f32) -> (f32)",
       "%r = if %c {\nyield %x\n} {\nyield %y\n} : f32\nyield %r",
       {b(true), f(1), f(2)},
       "1"},
      {OpKind::Match,
       "(%o: Option, %y: f32, %c: bool, %t: u8, %n: i32) -> (f32, f32, f32, i64)",
       "%r = match cases [0, 1] %o {\nyield %y\n} { (%v: f32)\nyield %v\n} : f32\n"
       "%s = match cases [1, 0] %c {\nyield %y\n} {\nyield %r\n} : f32\n"
       "%u = match cases [0, 1, 0, 2] %t {\nyield %y\n} {\nyield %r\n} {\n%w = add %r, %y : f32\nyield %w\n} "
       ": f32\n"
       "%k = match cases [0, 1, 1] %n {\n%a = const 10 : i64\nyield %a\n} {\n%b = const 11 : i64\nyield "
       "%b\n} : i64\n"
       "yield %r, %s, %u, %k",
       {Value::variant(1, {f(5)}), f(2), b(true), Value::ofBits(TypeKind::U8, 200),
        Value::ofBits(TypeKind::I32, static_cast<uint64_t>(-1))},
       "5 2 7 11"},
      {OpKind::For,
       "(%n: i64, %x: f32) -> (f32, f32[K]) defines [K]",
       "%r, %s = for collects 1 %n, %x defines [K$1] { (%i: i64, %c: f32)\n%d = add %c, %x : f32\nyield %d, "
       "%c\n} : f32, f32[K$1]\nyield %r, %s dims [K$1]",
       {n(3), f(2)},
       "8 [2 4 6]"},
      {OpKind::While,
       "(%n: i64) -> (i64)",
       "%one = const 1 : i64\n%r = while %one { (%k: i64)\n%c = cmp lt %k, %n : bool\nyield %c\n} { (%k$1: "
       "i64)\n%d = add %k$1, %k$1 : i64\nyield %d\n} : i64\nyield %r",
       {n(100)},
       "128"},
      {OpKind::Call,
       "(%x: f32, %y: f32) -> (f32)",
       "%r = call @minus %x, %y : f32\nyield %r",
       {f(5), f(3)},
       "2"},
      {OpKind::Check,
       "[N] (%x: f32[N], %i: i64) -> (f32)",
       "check index \"\" %i dims [N]\n%r = get %x[%i] : f32\nyield %r",
       {xs({1, 2}), n(2)},
       "index 2 is out of range for an axis of size 2"},
      {OpKind::Holds,
       "[N] (%x: f32[N], %i: i64) -> (bool)",
       "%r = holds index \"\" %i dims [N] : bool\nyield %r",
       {xs({1, 2}), n(2)},
       "false"},
      {OpKind::Panic, "(%s: str) -> (str)", "panic %s\nyield %s", {Value::text("so it goes")}, "so it goes"},
      {OpKind::Yield, "(%x: f32, %y: f32) -> (f32, f32)", "yield %y, %x", {f(1), f(2)}, "2 1"},
      // iteration
      {OpKind::Nest,
       "[N, M] (%x: f32[N, M]) -> (f32[M, N], f32[N])",
       "%r, %s = nest (%i: N, %j: M) -> collect[j, i], keep[i] sum {\n%v = get %x[%i, %j] : f32\nyield %v, "
       "%v\n} : f32[M, N], f32[N]\nyield %r, %s",
       {xs({1, 2, 3, 4, 5, 6}, {2, 3})},
       "[1 4 2 5 3 6] [6 15]"},
      {OpKind::ArgSort,
       "[N] (%x: f32[N]) -> (i64[N], i64[N])",
       "%r = argsort ascending %x : i64[N]\n%s = argsort descending %x : i64[N]\nyield %r, %s",
       {xs({2, NAN, 1, 2})},
       "[2 0 3 1] [0 3 2 1]"},
      // lists
      {OpKind::ListOf,
       "(%x: f32, %y: f32) -> (List[f32])",
       "%r = list %x, %y : List[f32]\nyield %r",
       {f(1), f(2)},
       "<1 2>"},
      {OpKind::Length,
       "(%l: List[f32], %s: str) -> (i64, i64)",
       "%r = length %l : i64\n%t = length %s : i64\nyield %r, %t",
       {floatList({1, 2}), Value::text("abc")},
       "2 3"},
      {OpKind::Push,
       "(%l: List[f32], %x: f32) -> (List[f32])",
       "%r = push %l, %x : List[f32]\nyield %r",
       {floatList({1}), f(2)},
       "<1 2>"},
      {OpKind::Pop,
       "(%l: List[f32]) -> (f32, List[f32])",
       "%r, %s = pop %l : f32, List[f32]\nyield %r, %s",
       {floatList({1, 2})},
       "2 <1>"},
      {OpKind::ToArray,
       "(%l: List[f32]) -> (f32[K]) defines [K]",
       "%r = to_array %l defines [M] : f32[M]\nyield %r dims [M]",
       {floatList({1, 2})},
       "[1 2]"},
      {OpKind::ToList,
       "[N, M] (%x: f32[N, M]) -> (List[f32[M]])",
       "%r = to_list %x : List[f32[M]]\nyield %r",
       {xs({1, 2, 3, 4}, {2, 2})},
       "<[1 2] [3 4]>"},
      // the rest
      {OpKind::StopGradient, "(%x: f32) -> (f32)", "%r = stop_gradient %x : f32\nyield %r", {f(1)}, "1"},
      {OpKind::Builtin, "(%x: f64) -> (f64)", "%r = builtin clock : f64\nyield %r", {Value::f64(0)}, "42"},
      {OpKind::Format,
       "(%x: f32) -> (str)",
       "%r = format \".2\" %x : str\nyield %r",
       {f(1.5F)},
       "\".2 1.5\""},
      {OpKind::Debug, "(%x: f32) -> (f32)", "%r = debug %x : f32\nyield %r", {f(1)}, "1"},
      {OpKind::BlackBox, "(%x: f32) -> (f32)", "%r = black_box %x : f32\nyield %r", {f(1)}, "1"},
      // gone before code runs: the interpreter refuses them
      {OpKind::Closure,
       "(%x: f32) -> (f32)",
       "%g = closure @minus %x : fn(f32) -> f32\n%r = apply %g, %x : f32\nyield %r",
       {f(1)},
       "a function value (run defunctionalise before) is not interpreted"},
      {OpKind::Apply,
       "(%x: f32) -> (f32)",
       "%g = closure @minus %x : fn(f32) -> f32\n%r = apply %g, %x : f32\nyield %r",
       {f(1)},
       "a function value (run defunctionalise before) is not interpreted"},
      {OpKind::Derivative,
       "(%x: f32, %y: f32) -> (f32, f32)",
       "%r, %s = derivative reverse @minus wrt [0] seeded [1] %x, %y, %x : f32, f32\nyield %r, %s",
       {f(1), f(2)},
       "a derivative (run expand_derivatives before) is not interpreted"},
  };
  return all;
}

} // namespace melix::interp
