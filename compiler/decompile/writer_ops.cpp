// Ops without regions as source.

#include "decompile/writer_ops.h"

#include "core/ir/build.h"
#include "core/ir/walk.h"
#include "decompile/writer.h"
#include "decompile/writer_checks.h"
#include "decompile/writer_control.h"
#include "decompile/writer_nest.h"
#include "decompile/writer_places.h"
#include "decompile/writer_sizes.h"
#include "decompile/writer_sums.h"
#include "decompile/writer_types.h"
#include "types/tangent.h"

#include <cmath>
#include <cstdio>

namespace melix::decompile {

using namespace core;

namespace {

/// The integer all of whose bits are set.
std::string allOnes(TypeKind kind) {
  if (types::scalarClass(kind) == types::ScalarClass::SInt) return "-1";
  return std::to_string(~uint64_t(0) >> (64 - types::scalarBits(kind)));
}

Expr binaryText(FunctionWriter& w, const Op& o, const char* symbol, int level) {
  return {w.value(o.operands[0], level) + " " + symbol + " " + w.value(o.operands[1], level + 1), level};
}

/// Whether an element of an array without elements is meant: the check before it lets nothing through, and
/// written as a place it would be an error.
bool readsNothing(const FunctionWriter& w, const Op& o) {
  TypeId t = w.f.typeOf(o.operands[0]);
  const Path& path = o.as<Path>();
  for (size_t k = 0; k < path.size() && w.types().kind(t) == TypeKind::Array && k < w.types()[t].dims.size();
       ++k)
    if (path[k].kind == StepKind::Index && w.types().dims.asConstant(w.types()[t].dims[k]) == 0) return true;
  return false;
}

std::string quoted(const std::string& text) {
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

std::string charText(uint32_t code) {
  char buffer[24];
  bool plain = code >= ' ' && code < 0x7f && code != '\'' && code != '\\';
  std::snprintf(buffer, sizeof buffer, plain ? "'%c'" : "'\\u{%x}'", code);
  return buffer;
}

Expr constant(FunctionWriter& w, const Op& o) {
  const auto& c = o.as<Constant>();
  TypeId t = w.f.typeOf(o.results[0]);
  TypeKind kind = w.types().kind(t);
  if (kind == TypeKind::Str) return {quoted(c.text)};
  if (kind == TypeKind::Exit) return {std::to_string(c.bits)};
  if (w.types().isUnit(t)) return {"()"};
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
    return {"(" + text + " as " + typeText(w, t) + ")"};
  }
  case types::ScalarClass::SInt:
  case types::ScalarClass::UInt: {
    const unsigned unused = 64 - types::scalarBits(kind);
    const bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
    int64_t extended = static_cast<int64_t>(c.bits << unused) >> unused;
    std::string text = isSigned ? std::to_string(extended) : std::to_string(c.bits);
    if (kind == TypeKind::I64) return {text, text[0] == '-' ? 16 : 20};
    return {"(" + text + " as " + typeText(w, t) + ")"};
  }
  case types::ScalarClass::Char: return {charText(static_cast<uint32_t>(c.bits))};
  default: w.note("a constant of " + w.types().print(t)); return {"()"};
  }
}

Expr converted(FunctionWriter& w, const Op& o) {
  TypeId from = w.f.typeOf(o.operands[0]), t = w.f.typeOf(o.results[0]);
  if (w.types().isInt(t) && w.types().kind(from) != TypeKind::Bool)
    return {std::string(o.index() ? "wrap" : "saturate") + "[" + typeText(w, t) + "](" +
            w.value(o.operands[0]) + ")"};
  return {w.value(o.operands[0], 17) + " as " + typeText(w, t), 16};
}

Expr made(FunctionWriter& w, const Op& o) {
  TypeId t = w.f.typeOf(o.results[0]);
  if (o.kind == OpKind::Variant) return construct(w, t, o.index(), w.args(o.operands));
  if (w.types().kind(t) == TypeKind::Struct) return construct(w, t, 0, w.args(o.operands));
  return {"(" + w.args(o.operands) + (o.operands.size() == 1 ? ",)" : ")")};
}

/// Whether there is a size in the type that no value tells.
bool hidesSizes(const FunctionWriter& w, TypeId t) {
  const std::vector<TypeId>& parts = w.types()[t].parts;
  return w.types().kind(t) == TypeKind::Pack ||
         (w.types().kind(t) != TypeKind::List &&
          std::any_of(parts.begin(), parts.end(), [&](TypeId part) { return hidesSizes(w, part); }));
}

Expr expression(FunctionWriter& w, const Op& o) {
  auto called = [&](std::string f) { return Expr{f + "(" + w.args(o.operands) + ")"}; };
  TypeId t = w.f.typeOf(o.results[0]);
  bool isBool = w.types().kind(t) == TypeKind::Bool;
  switch (o.kind) {
  case OpKind::Const: return constant(w, o);
  case OpKind::DimValue: return {dimText(w, o.dims[0]), w.types().dims.asSymbol(o.dims[0]) ? 20 : 13};
  case OpKind::Zero:
    if (w.types().isScalar(t)) return {isBool ? "false" : "(0 as " + typeText(w, t) + ")"};
    // The least value of a tangent is its zero; a Dict is written as a struct, which may hold what has none.
    return {hidesSizes(w, t) || types::holdsDict(w.types(), t) ? undefText(w, t) : "zero()"};
  case OpKind::Undef: return {undefText(w, t)};
  case OpKind::Make:
  case OpKind::Known:
  case OpKind::Variant: return made(w, o);
  case OpKind::Capture: return {w.value(o.operands[0], 20) + "." + std::to_string(o.index())};
  case OpKind::CastDims: return resized(w, w.f.typeOf(o.operands[0]), t, w.value(o.operands[0], 20));
  case OpKind::Pack: return packed(w, o);
  case OpKind::StopGradient: return called("stop_gradient");
  case OpKind::Get:
    if (readsNothing(w, o)) return {undefText(w, t, 1)};
    if (slicesRows(w, o)) return rows(w, o);
    return {w.value(o.operands[0], 20) + place(w, o, 1)};
  case OpKind::Reshape: return called("reshape");
  case OpKind::ArrayOf:
  case OpKind::ListOf: return {"[" + w.args(o.operands) + "]"};
  case OpKind::Add:
    if (isPlain(w, t)) return binaryText(w, o, "+", 13);
    return {combined(w, t, {named(w, w.value(o.operands[0])), named(w, w.value(o.operands[1]))})};
  case OpKind::Sub:
    if (isPlain(w, t)) return binaryText(w, o, "-", 13);
    return {combined(
        w, t,
        {named(w, w.value(o.operands[0])), named(w, combined(w, t, {named(w, w.value(o.operands[1]))}))})};
  case OpKind::Mul: return binaryText(w, o, "*", 14);
  case OpKind::Div:
  case OpKind::IDiv: return binaryText(w, o, "/", 14);
  case OpKind::IRem: return binaryText(w, o, "%", 14);
  case OpKind::Neg:
    return isPlain(w, t) ? Expr{"-" + w.value(o.operands[0], 16), 16}
                         : Expr{combined(w, t, {named(w, w.value(o.operands[0]))})};
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
    if (static_cast<ops::MathKind>(o.index()) == ops::MathKind::Rem) return binaryText(w, o, "%", 14);
    return called(std::string(ops::mathName(static_cast<ops::MathKind>(o.index()))));
  case OpKind::And: return isBool ? binaryText(w, o, "and", 5) : binaryText(w, o, "&", 11);
  case OpKind::Or: return isBool ? binaryText(w, o, "or", 4) : binaryText(w, o, "|", 10);
  case OpKind::Xor: {
    if (isBool) return {w.value(o.operands[0], 9) + " != " + w.value(o.operands[1], 9), 8};
    std::string a = w.value(o.operands[0], 12), b = w.value(o.operands[1], 12);
    return {"(" + a + " | " + b + ") - (" + a + " & " + b + ")", 13};
  }
  case OpKind::Not:
    if (isBool) return {"not " + w.value(o.operands[0], 7), 6};
    return {allOnes(w.types().kind(t)) + " - " + w.value(o.operands[0], 14), 13};
  case OpKind::Shl: return binaryText(w, o, "<<", 12);
  case OpKind::Shr: return binaryText(w, o, ">>", 12);
  case OpKind::Cmp: {
    constexpr const char* symbols[] = {"==", "!=", "<", "<=", ">", ">="};
    return {w.value(o.operands[0], 9) + " " + symbols[o.index()] + " " + w.value(o.operands[1], 9), 8};
  }
  case OpKind::Select:
    return {"if " + w.value(o.operands[0]) + " { " + w.value(o.operands[1]) + " } else { " +
                w.value(o.operands[2]) + " }",
            1};
  case OpKind::Convert: return converted(w, o);
  case OpKind::Bitcast: {
    bool toFloat = w.types().isFloat(t);
    return called(toFloat ? (w.types().kind(t) == TypeKind::F64 ? "f64_from_bits" : "f32_from_bits")
                          : "bits");
  }
  case OpKind::Length: return called("len");
  case OpKind::ToList: return called("list");
  case OpKind::ArgSort:
    return {"argsort(" + w.value(o.operands[0]) + (o.index() ? ", descending: true" : "") + ")"};
  case OpKind::Format: return formatted(w, o);
  case OpKind::Debug: return called("debug");
  case OpKind::BlackBox: return called("black_box");
  default: w.note("`" + std::string(ops::opText(o.kind)) + "`"); return {"()"};
  }
}

/// Lists, one inside the other, in place of an array of elements of different sizes.
std::string undefLists(FunctionWriter& w, TypeId t, int depth) {
  std::string head, tail;
  bool empty = false;
  for (DimId d : w.types()[t].dims) {
    std::string extent = dimText(w, d, 14);
    empty |= extent == "_" || extent == "0";
    head += "list(for " + w.names.local("i") + " in 0.." + extent + ": ", tail += ")";
  }
  std::string out = empty ? "[]" : head + undefText(w, w.types()[t].parts[0], depth + 1) + tail;
  if (depth == 0) return out;
  const std::string list = w.names.local("nothing"); // its type is asked for where the elements are made
  return "{ let " + list + ": " + typeText(w, t) + " = " + out + "; " + list + " }";
}

} // namespace

void writeRegion(FunctionWriter& w, RegionId r) {
  for (OpId id : w.f.regions[r].ops)
    if (w.op(id).kind != OpKind::Yield) writeOp(w, id);
}

void writeOp(FunctionWriter& w, OpId id) {
  const Op& o = w.op(id);
  switch (o.kind) {
  case OpKind::If: return writeBranch(w, o);
  case OpKind::Match: return writeMatch(w, o);
  case OpKind::For: return writeFor(w, o);
  case OpKind::While: return writeWhile(w, o);
  case OpKind::Nest: return writeNest(w, o);
  case OpKind::Set:
  case OpKind::AddAt: return writeUpdate(w, o);
  case OpKind::Push:
  case OpKind::Pop: return writeListUpdate(w, o);
  case OpKind::Unpack: return writeUnpack(w, o);
  case OpKind::Builtin: return writeBuiltin(w, o);
  case OpKind::BindDim: return bindDim(w, o.resultDims[0], w.value(o.operands[0]));
  case OpKind::Panic: return w.lines.add("panic(" + w.value(o.operands[0]) + ")");
  case OpKind::ToArray: return bindResults(w, o, "array(" + w.value(o.operands[0]) + ")");
  case OpKind::Check: return writeCheck(w, id);
  case OpKind::Call: {
    std::string given;
    for (DimId d : o.dims) given += (given.empty() ? "" : ", ") + dimText(w, d);
    std::string callee = w.names.function(o.as<CallAttr>().callee);
    return bindResults(w, o,
                       callee + (given.empty() ? "" : "[" + given + "]") + "(" + w.args(o.operands) + ")");
  }
  default:
    if (o.results.size() != 1) return w.note("`" + std::string(ops::opText(o.kind)) + "`");
    return define(w, o.results[0], expression(w, o));
  }
}

/// Something of a type that nothing reads.
std::string undefText(FunctionWriter& w, TypeId t, int depth) {
  const types::Type& ty = w.types()[t];
  auto each = [&](const std::vector<TypeId>& parts) {
    std::string out;
    for (TypeId part : parts) out += (out.empty() ? "" : ", ") + undefText(w, part, depth + 1);
    return out;
  };
  switch (ty.kind) {
  case TypeKind::Bool: return "false";
  case TypeKind::Char: return "'0'";
  case TypeKind::Str: return "\"\"";
  case TypeKind::Exit: return "0";
  case TypeKind::List: return depth > 0 ? "([] as " + typeText(w, t) + ")" : "[]";
  case TypeKind::Array: {
    if (isRagged(w, t)) return undefLists(w, t, depth);
    std::string axes;
    bool known = true;
    for (DimId d : ty.dims) {
      std::string extent = dimText(w, d, 14);
      known = known && extent != "_";
      axes += std::string(axes.empty() ? "" : ", ") + w.names.local("i") + " in 0.." +
              (extent == "_" ? "0" : extent);
    }
    if (known && depth == 0 && w.types().isFloat(ty.parts[0])) return "zero()";
    if (ty.dims.size() == 1 && axes.ends_with(" in 0..0"))
      return "([] as " + typeText(w, ty.parts[0]) + "[0])";
    return "[for " + axes + ": " + undefText(w, ty.parts[0], depth + 1) + "]";
  }
  case TypeKind::Pack: {
    std::vector<DimId> sizes;
    int64_t size = 0;
    do // the least of which no size inside is negative
      sizes.assign(ty.number, w.m.types.dims.constant(size));
    while (hasNegativeSize(w, w.m.types.openPack(t, sizes)) && ++size < 16);
    return sized(w, t, undefText(w, w.m.types.openPack(t, sizes), depth + 1), sizes).text;
  }
  case TypeKind::Tuple:
  case TypeKind::Known: return "(" + each(ty.parts) + (ty.parts.size() == 1 ? ",)" : ")");
  case TypeKind::Struct:
  case TypeKind::Enum: {
    const types::Record& r = w.types().recordInfo(ty.record);
    uint32_t best = 0; // a case that does not hold the enum itself ends soonest
    for (uint32_t c = 0; c < r.cases.size(); ++c)
      if (r.cases[c].fields.size() < r.cases[best].fields.size()) best = c;
    if (depth > 8) return "zero()";
    std::vector<TypeId> fields;
    for (uint32_t k = 0; k < r.cases[best].fields.size(); ++k)
      fields.push_back(w.m.types.fieldType(t, best, k));
    return construct(w, t, best, each(fields)).text;
  }
  default: return "(0 as " + typeText(w, t) + ")";
  }
}

} // namespace melix::decompile
