#include "decompile/writer.h"

#include "core/build.h"
#include "core/walk.h"

#include <cmath>
#include <cstdio>

namespace melix::decompile {

using namespace core;

FunctionWriter::FunctionWriter(const Module& m, FunctionId f, Names& names, std::vector<std::string>& notes)
    : m_(m), id_(f), f_(m.functions[f]), names_(names), notes_(notes), uses_(countUses(m.functions[f])), lastUse_(f_.values.size()) {
  std::vector<RegionId> regions = regionsOfOps(f_);
  forEachOp(f_, [&](OpId id) {
    for (ValueId v : f_.ops[id].operands) {
      // The op around this one that stands where the value is defined.
      RegionId home = homeOf(f_, v);
      OpId at = id;
      while (regions[at.index] != home && f_.regions[regions[at.index]].parent.valid()) at = f_.regions[regions[at.index]].parent;
      lastUse_[v.index] = at;
    }
  });
}

void FunctionWriter::line(const std::string& text) { out_ += std::string(static_cast<size_t>(2 * indent_), ' ') + text + "\n"; }

void FunctionWriter::note(const std::string& what) {
  line("// no spelling: " + what);
  notes_.push_back(what);
}

std::string FunctionWriter::dim(DimId d) {
  const types::DimStore& dims = m_.types.dims;
  std::string out;
  for (const types::DimTerm& t : dims.terms(d)) {
    int64_t c = t.coefficient;
    std::string term;
    for (types::DimAtomId a : t.factors) {
      const types::DimAtom& atom = dims.atom(a);
      if (!term.empty()) term += " * ";
      switch (atom.kind) {
      case types::DimAtomKind::Symbol: term += names_.dim(atom.symbol); break;
      case types::DimAtomKind::FloorDiv: term += "(" + dim(atom.args[0]) + ") / (" + dim(atom.args[1]) + ")"; break;
      case types::DimAtomKind::Mod: term += "(" + dim(atom.args[0]) + ") % (" + dim(atom.args[1]) + ")"; break;
      default: {
        term += atom.kind == types::DimAtomKind::Min ? "min(" : "max(";
        for (size_t k = 0; k < atom.args.size(); ++k) term += (k ? ", " : "") + dim(atom.args[k]);
        term += ")";
      }
      }
    }
    int64_t size = c < 0 ? -c : c;
    std::string text = term.empty() ? std::to_string(size) : size == 1 ? term : std::to_string(size) + " * " + term;
    out += out.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
    out += text;
  }
  return out.empty() ? "0" : out;
}

std::string FunctionWriter::type(TypeId t) {
  const types::Type& ty = m_.types[t];
  auto list = [&](const std::vector<DimId>& ds) {
    std::string out = "[";
    for (size_t k = 0; k < ds.size(); ++k) out += (k ? ", " : "") + dim(ds[k]);
    return out + "]";
  };
  switch (ty.kind) {
  case TypeKind::Array: {
    std::string element = type(ty.parts[0]);
    if (m_.types.kind(ty.parts[0]) == TypeKind::Struct && m_.types[ty.parts[0]].dims.empty()) element += "[]";
    return element + list(ty.dims);
  }
  case TypeKind::Tuple:
  case TypeKind::Known: {
    std::string out = "(";
    for (size_t k = 0; k < ty.parts.size(); ++k) out += (k ? ", " : "") + type(ty.parts[k]);
    return out + ")";
  }
  case TypeKind::Struct:
  case TypeKind::Enum: return names_.record(ty.record) + (ty.dims.empty() ? "" : list(ty.dims));
  case TypeKind::List: return "List[" + type(ty.parts[0]) + "]";
  case TypeKind::Pack:
  case TypeKind::Acc: return type(ty.parts[0]);
  case TypeKind::Str: return "str";
  default: return types::isFloatKind(ty.kind) || m_.types.isScalar(t) ? (ty.kind == TypeKind::I64 ? "int" : std::string(types::scalarName(ty.kind))) : m_.types.print(t);
  }
}

std::string FunctionWriter::hintOf(ValueId v) const {
  NameId hint = f_.values[v].hint;
  if (hint.valid()) return std::string(m_.types.names.text(hint));
  return m_.types.kind(f_.typeOf(v)) == TypeKind::Array ? "a" : "v";
}

std::string FunctionWriter::name(ValueId v) {
  auto it = exprs_.find(v);
  if (it != exprs_.end()) return it->second.text;
  std::string n = names_.local(hintOf(v));
  exprs_[v] = {n, 20};
  return n;
}

std::string FunctionWriter::value(ValueId v, int level) {
  auto it = exprs_.find(v);
  if (it == exprs_.end()) return name(v);
  return it->second.level < level ? "(" + it->second.text + ")" : it->second.text;
}

std::string FunctionWriter::args(const std::vector<ValueId>& vs, size_t from) {
  std::string out;
  for (size_t k = from; k < vs.size(); ++k) out += (k > from ? ", " : "") + value(vs[k]);
  return out;
}

std::string FunctionWriter::tuple(const std::vector<ValueId>& vs, size_t from) {
  return vs.size() - from == 1 ? value(vs[from]) : "(" + args(vs, from) + ")";
}

/// A value used once, by an op of its own region, stands where it is used.
void FunctionWriter::define(ValueId v, Expr e) {
  bool scalar = m_.types.isScalar(f_.typeOf(v));
  OpKind kind = op(f_.values[v].def).kind;
  bool literal = kind == OpKind::Const || kind == OpKind::DimValue;
  // What is read of a variable is read before the variable changes.
  bool changes = !op(f_.values[v].def).operands.empty() && variables_.count(value(op(f_.values[v].def).operands[0])) != 0;
  bool alias = e.level == 20 && !changes && (kind == OpKind::CastDims || kind == OpKind::Pack || kind == OpKind::StopGradient);
  if (literal || alias || (scalar && !(changes && kind == OpKind::Get) && uses_[v.index] == 1 && e.text.size() < 60 && e.text.find('\n') == std::string::npos)) {
    exprs_[v] = std::move(e);
    return;
  }
  if (uses_[v.index] == 0) return;
  std::string n = names_.local(hintOf(v));
  line("let " + n + (scalar ? "" : ": " + type(f_.typeOf(v))) + " = " + e.text);
  exprs_[v] = {n, 20};
}

void FunctionWriter::bindAll(const std::vector<ValueId>& results, const std::string& e) {
  std::string left;
  for (ValueId v : results) {
    std::string n = uses_[v.index] == 0 ? "_" : names_.local(hintOf(v));
    left += (left.empty() ? "" : ", ") + n;
    exprs_[v] = {n, 20};
  }
  if (results.empty()) return line(e);
  line("let " + (results.size() == 1 ? left : "(" + left + ")") + " = " + e);
}

Expr FunctionWriter::constant(const Op& o) {
  const auto& c = o.as<Constant>();
  TypeId t = f_.typeOf(o.results[0]);
  TypeKind kind = m_.types.kind(t);
  if (kind == TypeKind::Str) return {"\"" + c.text + "\""};
  switch (types::scalarClass(kind)) {
  case types::ScalarClass::Bool: return {c.bits ? "true" : "false"};
  case types::ScalarClass::Float: {
    double x = floatValue(kind, c.bits);
    std::string text = "nan";
    if (std::isinf(x)) text = x < 0 ? "-inf" : "inf";
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
    std::string text = std::to_string(static_cast<int64_t>(c.bits));
    if (kind == TypeKind::I64) return {text, text[0] == '-' ? 16 : 20};
    return {"(" + text + " as " + type(t) + ")"};
  }
  default: note("a constant of " + m_.types.print(t)); return {"()"};
  }
}

Expr FunctionWriter::binary(const Op& o, const char* symbol, int level) {
  return {value(o.operands[0], level) + " " + symbol + " " + value(o.operands[1], level + 1), level};
}

std::string FunctionWriter::place(const Op& o, size_t at) {
  std::string out;
  bool open = false;
  TypeId t = f_.typeOf(o.operands[0]);
  for (const PathStep& s : o.as<Path>()) {
    if (s.kind == StepKind::Field) {
      if (open) out += "]";
      open = false;
      while (m_.types.kind(t) == TypeKind::Array || m_.types.kind(t) == TypeKind::Acc) t = m_.types[t].parts[0];
      const types::Type& ty = m_.types[t];
      bool isStruct = ty.kind == TypeKind::Struct;
      out += "." + (isStruct ? names_.field(ty.record, 0, s.number) : std::to_string(s.number));
      t = isStruct ? m_.types.recordInfo(ty.record).cases[0].fields[s.number].type : ty.parts[s.number];
      continue;
    }
    if (s.kind == StepKind::Element && m_.types.kind(t) == TypeKind::List) t = m_.types[t].parts[0];
    out += open ? ", " : "[";
    open = s.kind != StepKind::Element;
    if (s.kind == StepKind::All) {
      out += ":";
    } else if (s.kind == StepKind::Slice) {
      std::string start = value(o.operands[at++], 14), length = dim(s.length);
      out += start + ".." + start + " + " + (s.step == 1 ? length : std::to_string(s.step) + " * (" + length + ") step " + std::to_string(s.step));
    } else {
      out += value(o.operands[at++]);
    }
    if (!open) out += "]";
  }
  return open ? out + "]" : out;
}

Expr FunctionWriter::expression(const Op& o) {
  auto call = [&](std::string f) { return Expr{f + "(" + args(o.operands) + ")", 20}; };
  TypeId t = o.results.empty() ? m_.types.scalar(TypeKind::Bool) : f_.typeOf(o.results[0]);
  bool isBool = m_.types.kind(t) == TypeKind::Bool;
  switch (o.kind) {
  case OpKind::Const: return constant(o);
  case OpKind::DimValue: return {dim(o.dims[0]), 13};
  case OpKind::Zero: return m_.types.isScalar(t) ? Expr{"(0 as " + type(t) + ")"} : Expr{m_.types.kind(t) == TypeKind::Array ? "zeros()" : "zero"};
  case OpKind::Undef: return {m_.types.kind(t) == TypeKind::Array ? "zeros()" : "zero"};
  case OpKind::Make:
  case OpKind::Known: {
    if (m_.types.kind(t) == TypeKind::Struct) return {names_.record(m_.types[t].record) + "(" + args(o.operands) + ")"};
    return {"(" + args(o.operands) + ")"};
  }
  case OpKind::Capture: return {value(o.operands[0], 20) + "." + std::to_string(o.index())};
  case OpKind::Variant: {
    RecordId r = m_.types[t].record;
    std::string name = names_.record(r) + "." + names_.enumCase(r, o.index());
    return {o.operands.empty() ? name : name + "(" + args(o.operands) + ")"};
  }
  case OpKind::CastDims:
  case OpKind::Pack:
  case OpKind::StopGradient: return {value(o.operands[0], 20)};
  case OpKind::Get: return {value(o.operands[0], 20) + place(o, 1), 20};
  case OpKind::Reshape: return {"reshape(" + value(o.operands[0]) + ")"};
  case OpKind::ArrayOf: return {"[" + args(o.operands) + "]"};
  case OpKind::Add: return binary(o, "+", 13);
  case OpKind::Sub: return binary(o, "-", 13);
  case OpKind::Mul: return binary(o, "*", 14);
  case OpKind::Div:
  case OpKind::IDiv: return binary(o, "/", 14);
  case OpKind::IRem: return binary(o, "%", 14);
  case OpKind::Neg: return {"-" + value(o.operands[0], 16), 16};
  case OpKind::Fma: return {value(o.operands[0], 14) + " * " + value(o.operands[1], 15) + " + " + value(o.operands[2], 14), 13};
  case OpKind::Sqrt: return call("sqrt");
  case OpKind::Abs: return call("abs");
  case OpKind::Min: return call("min");
  case OpKind::Max: return call("max");
  case OpKind::CopySign: return call("copysign");
  case OpKind::Round: {
    constexpr const char* names[] = {"floor", "ceil", "trunc", "round"};
    return call(names[o.index()]);
  }
  case OpKind::Math: return call(std::string(ops::mathName(static_cast<ops::MathKind>(o.index()))));
  case OpKind::And: return isBool ? binary(o, "and", 5) : binary(o, "&", 11);
  case OpKind::Or: return isBool ? binary(o, "or", 4) : binary(o, "|", 10);
  case OpKind::Xor: return isBool ? binary(o, "!=", 8) : (note("exclusive or"), Expr{"0"});
  case OpKind::Not: return {"not " + value(o.operands[0], 7), 6};
  case OpKind::Shl: return binary(o, "<<", 12);
  case OpKind::Shr: return binary(o, ">>", 12);
  case OpKind::Cmp: {
    Expr e = binary(o, std::string(ops::cmpText(static_cast<ops::CmpKind>(o.index()))).c_str(), 8);
    constexpr const char* symbols[] = {"==", "!=", "<", "<=", ">", ">="};
    e = {value(o.operands[0], 9) + " " + symbols[o.index()] + " " + value(o.operands[1], 9), 8};
    return e;
  }
  case OpKind::Select:
    return {"if " + value(o.operands[0]) + " { " + value(o.operands[1]) + " } else { " + value(o.operands[2]) + " }", 1};
  case OpKind::Convert: {
    bool toInt = m_.types.isInt(t);
    if (toInt) return {std::string(o.index() ? "wrap" : "saturate") + "[" + type(t) + "](" + value(o.operands[0]) + ")"};
    return {value(o.operands[0], 17) + " as " + type(t), 16};
  }
  case OpKind::Bitcast: return call("bits");
  case OpKind::ListOf: return {"[" + args(o.operands) + "]"};
  case OpKind::Length: return call("len");
  case OpKind::ToList: return call("list");
  case OpKind::Debug: return call("debug");
  default: note("`" + std::string(ops::opText(o.kind)) + "`"); return {"()"};
  }
}

std::string FunctionWriter::variable(const std::string& hint, const std::string& typeText, const std::string& initial) {
  std::string n = names_.local(hint);
  line("var " + n + (typeText.empty() ? "" : ": " + typeText) + " = " + initial);
  variables_[n] = builders_;
  return n;
}

/// The variable that an update changes: its operand's own if nothing later needs the old value, else a copy.
std::string FunctionWriter::variableFor(const Op& o) {
  ValueId x = o.operands[0];
  std::string text = value(x);
  auto own = variables_.find(text);
  bool last = lastUse_[x.index].valid() && &op(lastUse_[x.index]) == &o;
  if (own != variables_.end() && own->second == builders_ && last) return text;
  return variable(hintOf(o.results[0]), "", text);
}

void FunctionWriter::update(const Op& o) {
  std::string n = variableFor(o), at = place(o, 2);
  line(n + at + (o.kind == OpKind::Set ? " = " : " += ") + value(o.operands[1]));
  exprs_[o.results[0]] = {n, 20};
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
  case OpKind::Call: {
    std::string dims;
    for (DimId d : o.dims) dims += (dims.empty() ? "" : ", ") + dim(d);
    FunctionId callee = o.as<CallAttr>().callee;
    return bindAll(o.results, names_.function(callee) + (dims.empty() ? "" : "[" + dims + "]") + "(" + args(o.operands) + ")");
  }
  case OpKind::Check:
    if (o.as<CheckAttr>().kind == CheckKind::Assert) line("assert " + value(o.operands[0]));
    return;
  case OpKind::Panic: return line("panic(" + value(o.operands[0]) + ")");
  case OpKind::BindDim: return line("let " + names_.dim(o.resultDims[0], false) + " = " + value(o.operands[0]));
  case OpKind::Unpack: {
    for (DimSym s : o.resultDims) (void)names_.dim(s);
    std::string n = names_.local(hintOf(o.results[0]));
    if (m_.types.kind(f_.typeOf(o.results[0])) != TypeKind::Array || o.resultDims.size() != 1) note("values of hidden sizes together");
    line("let " + n + " = " + value(o.operands[0]));
    exprs_[o.results[0]] = {n, 20};
    return;
  }
  case OpKind::Push: {
    std::string n = variableFor(o);
    line("push(&" + n + ", " + value(o.operands[1]) + ")");
    exprs_[o.results[0]] = {n, 20};
    return;
  }
  default:
    if (o.results.size() != 1) return note("`" + std::string(ops::opText(o.kind)) + "`");
    return define(o.results[0], expression(o));
  }
}

std::string FunctionWriter::write() {
  names_.startFunction();
  std::string dims, params;
  for (DimSym s : f_.dimParams) dims += (dims.empty() ? "" : ", ") + names_.dim(s);
  for (ValueId p : f_.params()) {
    std::string n = name(p);
    params += (params.empty() ? "" : ", ") + n + ": " + type(f_.typeOf(p));
  }
  std::string result;
  for (TypeId t : f_.results) result += (result.empty() ? "" : ", ") + type(t);
  if (f_.results.size() != 1) result = "(" + result + ")";
  line("fn " + names_.function(id_) + (dims.empty() ? "" : "[" + dims + "]") + "(" + params + ")" +
       (f_.results.empty() ? "" : " -> " + result) + " {");
  ++indent_;
  if (!f_.resultDims.empty()) note("results whose sizes are decided inside");
  region(f_.body);
  if (!f_.results.empty()) line(tuple(terminator(f_.body).operands));
  --indent_;
  line("}");
  return std::move(out_);
}

} // namespace melix::decompile
