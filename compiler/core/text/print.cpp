#include "core/text/print.h"

#include "core/ir/monoid.h"
#include "core/ir/walk.h"
#include "core/text/text_names.h"
#include "core/text/text_words.h"

#include <algorithm>

namespace melix::core {

std::string_view checkName(CheckKind kind) {
  constexpr std::string_view names[] = {
#define CHECK(Kind, Name, Operands, Dims, Message) Name,
#include "core/ir/checks.def"
  };
  return names[static_cast<size_t>(kind)];
}

std::string_view derivativeName(DerivativeMode mode) {
  constexpr std::string_view names[] = {"jvp", "reverse", "forward", "backward"};
  return names[static_cast<size_t>(mode)];
}

namespace {

class Printer {
public:
  Printer(const Module& m, TextNames& names, const Function& f) : m_(m), names_(names), f_(f) {}
  /// Of this function up to names.
  Printer(const Module& m, TextNames& names, FunctionId self)
      : m_(m), names_(names), f_(m.functions[self]), self_(self) {}

  std::string function(FunctionId id, const RegionNotes& notes = {}) {
    notes_ = notes ? &notes : nullptr;
    id_ = id;
    const Region& body = f_.regions[f_.body];
    names_.beginScope();
    out_ = "fn " + name(id);
    if (!f_.dimParams.empty()) out_ += " [" + syms(f_.dimParams) + "]";
    out_ += " " + params(body.params) + " -> (";
    for (DimSym s : f_.resultDims) names_.sym(s);
    for (size_t i = 0; i < f_.results.size(); ++i) out_ += (i ? ", " : "") + names_.type(f_.results[i]);
    out_ += ")";
    if (!f_.resultDims.empty()) out_ += " defines [" + syms(f_.resultDims) + "]";
    for (InoutPair p : f_.inouts)
      out_ += " inout " + std::to_string(p.param) + "=" + std::to_string(p.result);
    if (f_.customJvp.valid()) out_ += " jvp @" + names_.function(f_.customJvp);
    if (f_.keep) out_ += " keep";
    if (f_.isCold) out_ += " cold";
    if (f_.device != Device::Caller) out_ += " on " + std::string(nameOf(f_.device));
    out_ += " {\n";
    indent_ = 1;
    noted(f_.body);
    ops(body);
    out_ += "}\n";
    return std::move(out_);
  }

  std::string opLine(const Op& op) {
    line(op, false);
    return std::move(out_);
  }

private:
  std::string name(FunctionId f) const { return self_.valid() && f == self_ ? "self" : names_.function(f); }
  std::string value(ValueId v) {
    auto it = values_.find(v);
    if (it != values_.end()) return it->second;
    NameId hint = v.index < f_.values.size() && !self_.valid() ? f_.values[v].hint : NameId();
    std::string name = hint.valid() ? asValueWord(m_.types.names.text(hint)) : "";
    if (name.empty()) name = std::to_string(nextNumber_++);
    return values_.emplace(v, "%" + pool_.take(name)).first->second;
  }
  std::string values(std::span<const ValueId> vs, size_t from = 0, size_t to = SIZE_MAX) {
    std::string out;
    for (size_t i = from; i < std::min(to, vs.size()); ++i) out += (i > from ? ", " : "") + value(vs[i]);
    return out;
  }
  std::string typesOf(std::span<const ValueId> vs) {
    std::string out;
    for (size_t i = 0; i < vs.size(); ++i) out += (i ? ", " : "") + names_.type(f_.typeOf(vs[i]));
    return out;
  }
  std::string syms(std::span<const DimSym> s) {
    std::string out;
    for (size_t i = 0; i < s.size(); ++i) out += (i ? ", " : "") + names_.sym(s[i]);
    return out;
  }
  std::string dims(std::span<const DimId> d) {
    std::string out;
    for (size_t i = 0; i < d.size(); ++i) out += (i ? ", " : "") + names_.dim(d[i]);
    return out;
  }
  std::string params(const std::vector<ValueId>& vs) {
    std::string out = "(";
    for (size_t i = 0; i < vs.size(); ++i)
      out += (i ? ", " : "") + value(vs[i]) + ": " + names_.type(f_.typeOf(vs[i]));
    return out + ")";
  }

  void ops(const Region& region) {
    for (OpId id : region.ops) {
      out_.append(2 * indent_, ' ');
      line(f_.ops[id], true);
      out_ += "\n";
    }
  }

  void noted(RegionId region) {
    if (!notes_) return;
    for (const std::string& note : (*notes_)(id_, region, [&](ValueId v) { return value(v); })) {
      out_.append(2 * indent_, ' ');
      out_ += "// " + note + "\n";
    }
  }

  void region(RegionId id, bool header) {
    const Region& r = f_.regions[id];
    out_ += " {";
    if (header && (!r.params.empty() || !r.dimParams.empty())) {
      if (!r.dimParams.empty()) out_ += " [" + syms(r.dimParams) + "]";
      out_ += " " + params(r.params);
    }
    out_ += "\n";
    ++indent_;
    noted(id);
    ops(r);
    --indent_;
    out_.append(2 * indent_, ' ');
    out_ += "}";
  }

  void line(const Op& op, bool withRegions) {
    if (!op.results.empty()) out_ += values(op.results) + " = ";
    out_ += ops::opText(op.kind);
    if (op.kind == OpKind::Nest) return nest(op, withRegions);
    attributed(op);
    if (!op.dims.empty()) out_ += " dims [" + dims(op.dims) + "]";
    if (!op.resultDims.empty()) out_ += " defines [" + syms(op.resultDims) + "]";
    if (withRegions)
      for (RegionId r : op.regions) region(r, true);
    if (!op.results.empty()) out_ += " : " + typesOf(op.results);
  }

  std::string path(const Op& op, size_t at) {
    std::string out;
    bool open = false;
    auto close = [&] {
      if (open) out += "]";
      open = false;
    };
    for (const PathStep& s : op.as<Path>()) {
      if (s.kind == StepKind::Field) {
        close();
        out += "." + std::to_string(s.number);
        continue;
      }
      if (s.kind == StepKind::Element) {
        close();
        out += "<" + value(op.operands[at++]) + ">";
        continue;
      }
      out += open ? ", " : "[";
      open = true;
      if (s.kind == StepKind::All) out += ":";
      if (s.kind == StepKind::Index) out += value(op.operands[at++]);
      if (s.kind == StepKind::Slice) {
        out += value(op.operands[at++]) + " +: " + names_.dim(s.length);
        if (s.step != 1) out += " by " + std::to_string(s.step);
      }
    }
    close();
    return out;
  }

  std::string constant(const Op& op) {
    const auto& c = op.as<Constant>();
    TypeKind kind = m_.types.kind(f_.typeOf(op.results[0]));
    if (kind == TypeKind::Str) return quoted(c.text);
    return bitsText(kind, c.bits);
  }

  void attributed(const Op& op) {
    switch (op.kind) {
    case OpKind::Const: out_ += " " + constant(op); return;
    case OpKind::Get: out_ += " " + value(op.operands[0]) + path(op, 1); return;
    case OpKind::Set:
      out_ += " " + value(op.operands[0]) + path(op, 2) + " = " + value(op.operands[1]);
      return;
    case OpKind::AddAt:
      out_ += " " + value(op.operands[0]) + path(op, 2) + " += " + value(op.operands[1]);
      return;
    case OpKind::Cmp:
    case OpKind::Round:
    case OpKind::Scale:
    case OpKind::Directed:
    case OpKind::Math:
    case OpKind::Convert:
    case OpKind::ArgSort: out_ += " " + std::string(indexWord(op.kind, op.index())); break;
    case OpKind::Variant:
    case OpKind::Capture: out_ += " " + std::to_string(op.index()); break;
    case OpKind::Call:
    case OpKind::Closure: out_ += " @" + name(op.as<CallAttr>().callee); break;
    case OpKind::Builtin: out_ += " " + std::string(ops::builtinName(op.as<BuiltinAttr>().builtin)); break;
    case OpKind::Match: {
      out_ += " cases [";
      for (uint32_t r : op.as<MatchAttr>().regionOf)
        out_ += (out_.back() == '[' ? "" : ", ") + std::to_string(r);
      out_ += "]";
      break;
    }
    case OpKind::For: out_ += " collects " + std::to_string(op.as<LoopAttr>().collects); break;
    case OpKind::Holds:
    case OpKind::Check: {
      const auto& c = op.as<CheckAttr>();
      out_ += " " + std::string(checkName(c.kind)) + " " + quoted(c.text);
      if (c.type.valid()) out_ += " of " + names_.type(c.type);
      break;
    }
    case OpKind::Derivative: {
      const auto& d = op.as<DerivativeAttr>();
      out_ += " " + std::string(derivativeName(d.mode)) + " @" + name(d.callee) + " wrt [";
      for (uint32_t w : d.wrt) out_ += (out_.back() == '[' ? "" : ", ") + std::to_string(w);
      out_ += "] seeded [";
      for (bool s : d.seeded) out_ += std::string(out_.back() == '[' ? "" : ", ") + (s ? "1" : "0");
      out_ += "]";
      if (d.saved.valid()) out_ += " saved " + names_.record(d.saved);
      break;
    }
    case OpKind::Format: {
      const auto& a = op.as<FormatAttr>();
      out_ += " " + quoted(a.spec) + (a.quoted ? " quoted" : "");
      break;
    }
    default: break;
    }
    if (!op.operands.empty()) out_ += " " + values(op.operands);
  }

  std::string axes(const std::vector<uint32_t>& keep, const Region& body) {
    std::string out = "[";
    for (size_t i = 0; i < keep.size(); ++i) out += (i ? ", " : "") + axis(keep[i], body);
    return out + "]";
  }
  std::string axis(uint32_t a, const Region& body) { return value(body.params[a]).substr(1); }

  void nest(const Op& op, bool withRegions) {
    const auto& attr = op.as<NestAttr>();
    const Region& body = f_.regions[op.regions[0]];
    out_ += " (";
    for (size_t a = 0; a < op.dims.size(); ++a)
      out_ += (a ? ", " : "") + value(body.params[a]) + ": " + names_.dim(op.dims[a]);
    out_ += ") ->";
    for (size_t i = 0; i < attr.results.size(); ++i) {
      const NestResult& r = attr.results[i];
      out_ += i ? ", " : " ";
      if (r.kind == NestResultKind::Filter) {
        out_ += "filter" + (r.yields == 1 ? "" : " " + std::to_string(r.yields));
        continue;
      }
      out_ += (r.kind == NestResultKind::Collect ? "collect" : "keep") + axes(r.keep, body);
      if (r.kind == NestResultKind::Collect) continue;
      out_ += " " + std::string(infoOf(r.monoid).text);
      if (r.monoid == MonoidKind::Combine)
        out_ += " " + std::to_string(r.yields) + " region " + std::to_string(r.combineRegion);
      if (r.order == OrderKind::Chain) out_ += " chain";
      if (r.order == OrderKind::Lanes)
        out_ += " lanes(" + std::to_string(r.lanes) + ", " + axis(r.row, body) + ")";
      if (r.fused) out_ += " fused";
    }
    if (attr.accs > 0) {
      out_ += " accs (";
      for (uint32_t k = 0; k < attr.accs; ++k) {
        ValueId p = body.params[op.dims.size() + k];
        out_ += (k ? ", " : "") + value(p) + " = " + value(op.operands[k]);
      }
      out_ += ")";
    }
    if (op.operands.size() > attr.accs) out_ += " units (" + values(op.operands, attr.accs) + ")";
    if (!op.resultDims.empty()) out_ += " defines [" + syms(op.resultDims) + "]";
    if (withRegions)
      for (size_t i = 0; i < op.regions.size(); ++i) region(op.regions[i], i > 0);
    if (!op.results.empty()) out_ += " : " + typesOf(op.results);
  }

  const Module& m_;
  TextNames& names_;
  const Function& f_;
  const FunctionId self_; ///< if values are numbered, whatever they are called
  const RegionNotes* notes_ = nullptr;
  FunctionId id_; ///< of the function that is written as a whole
  std::string out_;
  size_t indent_ = 0;
  unsigned nextNumber_ = 0;
  NamePool pool_;
  std::unordered_map<ValueId, std::string> values_;
};

std::string recordText(const Module& m, TextNames& names, types::RecordId id) {
  const types::Record& r = m.types.recordInfo(id);
  names.beginScope();
  std::string out = (r.isEnum ? "enum " : "struct ") + names.record(id);
  if (!r.dimParams.empty()) {
    out += "[";
    for (size_t i = 0; i < r.dimParams.size(); ++i) out += (i ? ", " : "") + names.sym(r.dimParams[i]);
    out += "]";
  }
  if (r.tangentOf.valid()) out += " tangent " + names.record(r.tangentOf);
  out += " {";
  for (size_t c = 0; c < r.cases.size(); ++c) {
    if (r.isEnum) out += (c ? ", " : " ") + asWord(m.types.names.text(r.cases[c].name)) + "(";
    for (size_t k = 0; k < r.cases[c].fields.size(); ++k) {
      const types::Field& f = r.cases[c].fields[k];
      out += k ? ", " : r.isEnum ? "" : " ";
      if (f.name.valid()) out += asWord(m.types.names.text(f.name)) + ": ";
      out += names.type(f.type);
    }
    if (r.isEnum) out += ")";
  }
  return out + " }\n";
}

} // namespace

std::string printRecords(const Module& m, TextNames& names) {
  std::string out;
  for (size_t i = 0; i < names.recordsMet().size(); ++i) out += recordText(m, names, names.recordsMet()[i]);
  return out;
}

std::string printFunction(const Module& m, FunctionId f, const PrintOptions& options) {
  TextNames names(m);
  return Printer(m, names, m.functions[f]).function(f, options.notes);
}

StructureText::StructureText(const Module& m)
    : module_(m), names_(std::make_unique<TextNames>(m, TextNames::Dims::Numbered)) {}
StructureText::~StructureText() = default;
std::string StructureText::of(FunctionId f) { return Printer(module_, *names_, f).function(f); }

std::string printOp(const Module& m, FunctionId f, OpId op) {
  TextNames names(m);
  return Printer(m, names, m.functions[f]).opLine(m.functions[f].ops[op]);
}

std::string printModule(const Module& m, const PrintOptions& options) {
  TextNames names(m);
  std::string functions;
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    if (!m.functions[FunctionId(i)].body.valid()) continue;
    functions += (functions.empty() ? "" : "\n") +
                 Printer(m, names, m.functions[FunctionId(i)]).function(FunctionId(i), options.notes);
  }
  if (!options.records) return functions;
  const std::string head = (m.recordsFlat ? "records flat\n" : "") + printRecords(m, names);
  return head + (head.empty() ? "" : "\n") + functions;
}

} // namespace melix::core
