// Ops without regions as source.

#include "decompile/writer.h"

#include "core/ir/build.h"
#include "core/ir/walk.h"
#include "types/tangent.h"

#include <cmath>
#include <cstdio>

namespace melix::decompile {

using namespace core;

/// The integer all of whose bits are set.
static std::string allOnes(TypeKind kind) {
  if (types::scalarClass(kind) == types::ScalarClass::SInt) return "-1";
  return std::to_string(~uint64_t(0) >> (64 - types::scalarBits(kind)));
}

void FunctionWriter::region(RegionId r) {
  for (OpId id : f_.regions[r].ops)
    if (op(id).kind != OpKind::Yield) write(id);
}

void FunctionWriter::write(OpId id) {
  const Op& o = op(id);
  switch (o.kind) {
  case OpKind::If: return branch(o);
  case OpKind::Match: return match(o);
  case OpKind::For: return forLoop(o);
  case OpKind::While: return whileLoop(o);
  case OpKind::Nest: return nest(o);
  case OpKind::Set:
  case OpKind::AddAt: return update(o);
  case OpKind::Push:
  case OpKind::Pop: return lists(o);
  case OpKind::Unpack: return unpack(o);
  case OpKind::Builtin: return builtin(o);
  case OpKind::BindDim: return bindDim(o.resultDims[0], value(o.operands[0]));
  case OpKind::Panic: return line("panic(" + value(o.operands[0]) + ")");
  case OpKind::ToArray: return bindAll(o, "array(" + value(o.operands[0]) + ")");
  case OpKind::Check: return check(id);
  case OpKind::Call: {
    std::string given;
    for (DimId d : o.dims) given += (given.empty() ? "" : ", ") + dim(d);
    std::string callee = names_.function(o.as<CallAttr>().callee);
    return bindAll(o, callee + (given.empty() ? "" : "[" + given + "]") + "(" + args(o.operands) + ")");
  }
  default:
    if (o.results.size() != 1) return note("`" + std::string(ops::opText(o.kind)) + "`");
    return define(o.results[0], expression(o));
  }
}

Expr FunctionWriter::binary(const Op& o, const char* symbol, int level) {
  return {value(o.operands[0], level) + " " + symbol + " " + value(o.operands[1], level + 1), level};
}

/// Whether an element of an array without elements is meant: the check before it lets nothing through, and
/// written as a place it would be an error.
bool FunctionWriter::readsNothing(const Op& o) const {
  TypeId t = f_.typeOf(o.operands[0]);
  const Path& path = o.as<Path>();
  for (size_t k = 0; k < path.size() && types().kind(t) == TypeKind::Array && k < types()[t].dims.size(); ++k)
    if (path[k].kind == StepKind::Index && types().dims.asConstant(types()[t].dims[k]) == 0) return true;
  return false;
}

Expr FunctionWriter::expression(const Op& o) {
  auto called = [&](std::string f) { return Expr{f + "(" + args(o.operands) + ")"}; };
  TypeId t = f_.typeOf(o.results[0]);
  bool isBool = types().kind(t) == TypeKind::Bool;
  switch (o.kind) {
  case OpKind::Const: return constant(o);
  case OpKind::DimValue: return {dim(o.dims[0]), types().dims.asSymbol(o.dims[0]) ? 20 : 13};
  case OpKind::Zero:
    if (types().isScalar(t)) return {isBool ? "false" : "(0 as " + type(t) + ")"};
    // The least value of a tangent is its zero; a Dict is written as a struct, which may hold what has none.
    return {hidesSizes(t) || types::holdsDict(types(), t) ? undef(t) : "zero()"};
  case OpKind::Undef: return {undef(t)};
  case OpKind::Make:
  case OpKind::Known:
  case OpKind::Variant: return make(o);
  case OpKind::Capture: return {value(o.operands[0], 20) + "." + std::to_string(o.index())};
  case OpKind::CastDims: return resized(f_.typeOf(o.operands[0]), t, value(o.operands[0], 20));
  case OpKind::Pack: return pack(o);
  case OpKind::StopGradient: return called("stop_gradient");
  case OpKind::Get:
    if (readsNothing(o)) return {undef(t, 1)};
    if (slicesRows(o)) return rows(o);
    return {value(o.operands[0], 20) + place(o, 1)};
  case OpKind::Reshape: return called("reshape");
  case OpKind::ArrayOf:
  case OpKind::ListOf: return {"[" + args(o.operands) + "]"};
  case OpKind::Add:
    if (isPlain(t)) return binary(o, "+", 13);
    return {combined(t, {named(value(o.operands[0])), named(value(o.operands[1]))})};
  case OpKind::Sub:
    if (isPlain(t)) return binary(o, "-", 13);
    return {combined(t, {named(value(o.operands[0])), named(combined(t, {named(value(o.operands[1]))}))})};
  case OpKind::Mul: return binary(o, "*", 14);
  case OpKind::Div:
  case OpKind::IDiv: return binary(o, "/", 14);
  case OpKind::IRem: return binary(o, "%", 14);
  case OpKind::Neg:
    return isPlain(t) ? Expr{"-" + value(o.operands[0], 16), 16}
                      : Expr{combined(t, {named(value(o.operands[0]))})};
  case OpKind::Fma: return called("fma");
  case OpKind::Sqrt: return called("sqrt");
  case OpKind::Abs: return called("abs");
  case OpKind::Min: return called("min");
  case OpKind::Max: return called("max");
  case OpKind::CopySign: return called("copysign");
  case OpKind::Scale: return called(o.index() ? "ldexp_near" : "ldexp");
  case OpKind::Directed:
    return called(std::string(ops::directedRow(static_cast<ops::DirectedKind>(o.index())).name));
  case OpKind::Round: {
    constexpr const char* names[] = {"floor", "ceil", "trunc", "round"};
    return called(names[o.index()]);
  }
  case OpKind::Math:
    if (static_cast<ops::MathKind>(o.index()) == ops::MathKind::Rem) return binary(o, "%", 14);
    return called(std::string(ops::mathName(static_cast<ops::MathKind>(o.index()))));
  case OpKind::And: return isBool ? binary(o, "and", 5) : binary(o, "&", 11);
  case OpKind::Or: return isBool ? binary(o, "or", 4) : binary(o, "|", 10);
  case OpKind::Xor: {
    if (isBool) return {value(o.operands[0], 9) + " != " + value(o.operands[1], 9), 8};
    std::string a = value(o.operands[0], 12), b = value(o.operands[1], 12);
    return {"(" + a + " | " + b + ") - (" + a + " & " + b + ")", 13};
  }
  case OpKind::Not:
    if (isBool) return {"not " + value(o.operands[0], 7), 6};
    return {allOnes(types().kind(t)) + " - " + value(o.operands[0], 14), 13};
  case OpKind::Shl: return binary(o, "<<", 12);
  case OpKind::Shr: return binary(o, ">>", 12);
  case OpKind::Cmp: {
    constexpr const char* symbols[] = {"==", "!=", "<", "<=", ">", ">="};
    return {value(o.operands[0], 9) + " " + symbols[o.index()] + " " + value(o.operands[1], 9), 8};
  }
  case OpKind::Select:
    return {"if " + value(o.operands[0]) + " { " + value(o.operands[1]) + " } else { " +
                value(o.operands[2]) + " }",
            1};
  case OpKind::Convert: return convert(o);
  case OpKind::Bitcast: {
    bool toFloat = types().isFloat(t);
    return called(toFloat ? (types().kind(t) == TypeKind::F64 ? "f64_from_bits" : "f32_from_bits") : "bits");
  }
  case OpKind::Length: return called("len");
  case OpKind::ToList: return called("list");
  case OpKind::ArgSort:
    return {"argsort(" + value(o.operands[0]) + (o.index() ? ", descending: true" : "") + ")"};
  case OpKind::Format: return format(o);
  case OpKind::Debug: return called("debug");
  case OpKind::BlackBox: return called("black_box");
  default: note("`" + std::string(ops::opText(o.kind)) + "`"); return {"()"};
  }
}

static std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '\r': out += "\\r"; break;
    case '\0': out += "\\0"; break;
    case '{':
    case '}': out += c; [[fallthrough]]; // twice
    default: out += c; break;
    case '\\':
    case '"': out += '\\', out += c;
    }
  }
  return out + "\"";
}

static std::string charText(uint32_t code) {
  char buffer[24];
  bool plain = code >= ' ' && code < 0x7f && code != '\'' && code != '\\';
  std::snprintf(buffer, sizeof buffer, plain ? "'%c'" : "'\\u{%x}'", code);
  return buffer;
}

Expr FunctionWriter::constant(const Op& o) {
  const auto& c = o.as<Constant>();
  TypeId t = f_.typeOf(o.results[0]);
  TypeKind kind = types().kind(t);
  if (kind == TypeKind::Str) return {quoted(c.text)};
  if (kind == TypeKind::Exit) return {std::to_string(c.bits)};
  if (types().isUnit(t)) return {"()"};
  switch (types::scalarClass(kind)) {
  case types::ScalarClass::Bool: return {c.bits ? "true" : "false"};
  case types::ScalarClass::Float: {
    double x = floatValue(kind, c.bits);
    std::string text = std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
    char buffer[40];
    for (int digits = 1; digits <= 17 && std::isfinite(x); ++digits) {
      std::snprintf(buffer, sizeof buffer, "%.*g", digits, x);
      text = buffer;
      if (floatBits(kind, std::strtod(buffer, nullptr)) == c.bits) break;
    }
    if (std::isfinite(x) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return {"(" + text + " as " + type(t) + ")"};
  }
  case types::ScalarClass::SInt:
  case types::ScalarClass::UInt: {
    const unsigned unused = 64 - types::scalarBits(kind);
    const bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
    int64_t extended = static_cast<int64_t>(c.bits << unused) >> unused;
    std::string text = isSigned ? std::to_string(extended) : std::to_string(c.bits);
    if (kind == TypeKind::I64) return {text, text[0] == '-' ? 16 : 20};
    return {"(" + text + " as " + type(t) + ")"};
  }
  case types::ScalarClass::Char: return {charText(static_cast<uint32_t>(c.bits))};
  default: note("a constant of " + types().print(t)); return {"()"};
  }
}

Expr FunctionWriter::convert(const Op& o) {
  TypeId from = f_.typeOf(o.operands[0]), t = f_.typeOf(o.results[0]);
  if (types().isInt(t) && types().kind(from) != TypeKind::Bool)
    return {std::string(o.index() ? "wrap" : "saturate") + "[" + type(t) + "](" + value(o.operands[0]) + ")"};
  return {value(o.operands[0], 17) + " as " + type(t), 16};
}

Expr FunctionWriter::make(const Op& o) {
  TypeId t = f_.typeOf(o.results[0]);
  if (o.kind == OpKind::Variant) return construct(t, o.index(), args(o.operands));
  if (types().kind(t) == TypeKind::Struct) return construct(t, 0, args(o.operands));
  return {"(" + args(o.operands) + (o.operands.size() == 1 ? ",)" : ")")};
}

/// Lists, one inside the other, in place of an array of elements of different sizes.
std::string FunctionWriter::undefLists(TypeId t, int depth) {
  std::string head, tail;
  bool empty = false;
  for (DimId d : types()[t].dims) {
    std::string extent = dim(d, 14);
    empty |= extent == "_" || extent == "0";
    head += "list(for " + names_.local("i") + " in 0.." + extent + ": ", tail += ")";
  }
  std::string out = empty ? "[]" : head + undef(types()[t].parts[0], depth + 1) + tail;
  if (depth == 0) return out;
  const std::string list = names_.local("nothing"); // its type is asked for where the elements are made
  return "{ let " + list + ": " + type(t) + " = " + out + "; " + list + " }";
}

/// Whether there is a size in the type that no value tells.
bool FunctionWriter::hidesSizes(TypeId t) const {
  const std::vector<TypeId>& parts = types()[t].parts;
  return types().kind(t) == TypeKind::Pack ||
         (types().kind(t) != TypeKind::List &&
          std::any_of(parts.begin(), parts.end(), [&](TypeId part) { return hidesSizes(part); }));
}

/// Something of a type that nothing reads.
std::string FunctionWriter::undef(TypeId t, int depth) {
  const types::Type& ty = types()[t];
  auto each = [&](const std::vector<TypeId>& parts) {
    std::string out;
    for (TypeId part : parts) out += (out.empty() ? "" : ", ") + undef(part, depth + 1);
    return out;
  };
  switch (ty.kind) {
  case TypeKind::Bool: return "false";
  case TypeKind::Char: return "'0'";
  case TypeKind::Str: return "\"\"";
  case TypeKind::Exit: return "0";
  case TypeKind::List: return depth > 0 ? "([] as " + type(t) + ")" : "[]";
  case TypeKind::Array: {
    if (isRagged(t)) return undefLists(t, depth);
    std::string axes;
    bool known = true;
    for (DimId d : ty.dims) {
      std::string extent = dim(d, 14);
      known = known && extent != "_";
      axes += std::string(axes.empty() ? "" : ", ") + names_.local("i") + " in 0.." +
              (extent == "_" ? "0" : extent);
    }
    if (known && depth == 0 && types().isFloat(ty.parts[0])) return "zero()";
    if (ty.dims.size() == 1 && axes.ends_with(" in 0..0")) return "([] as " + type(ty.parts[0]) + "[0])";
    return "[for " + axes + ": " + undef(ty.parts[0], depth + 1) + "]";
  }
  case TypeKind::Pack: {
    std::vector<DimId> sizes;
    int64_t size = 0;
    do // the least of which no size inside is negative
      sizes.assign(ty.number, m_.types.dims.constant(size));
    while (hasNegativeSize(m_.types.openPack(t, sizes)) && ++size < 16);
    return sized(t, undef(m_.types.openPack(t, sizes), depth + 1), sizes).text;
  }
  case TypeKind::Tuple:
  case TypeKind::Known: return "(" + each(ty.parts) + (ty.parts.size() == 1 ? ",)" : ")");
  case TypeKind::Struct:
  case TypeKind::Enum: {
    const types::Record& r = types().recordInfo(ty.record);
    uint32_t best = 0; // a case that does not hold the enum itself ends soonest
    for (uint32_t c = 0; c < r.cases.size(); ++c)
      if (r.cases[c].fields.size() < r.cases[best].fields.size()) best = c;
    if (depth > 8) return "zero()";
    std::vector<TypeId> fields;
    for (uint32_t k = 0; k < r.cases[best].fields.size(); ++k)
      fields.push_back(m_.types.fieldType(t, best, k));
    return construct(t, best, each(fields)).text;
  }
  default: return "(0 as " + type(t) + ")";
  }
}

} // namespace melix::decompile
