#include "decompile/writer.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

FunctionWriter::FunctionWriter(Shared& shared, FunctionId f)
    : shared_(shared), m_(shared.module), id_(f), f_(m_.functions[f]), names_(shared.names), uses_(m_, f),
      lastUse_(f_.values.size()) {
  forEachOp(f_, [&](OpId id) {
    for (ValueId v : f_.ops[id].operands) lastUse_[v.index] = uses_.ancestorIn(uses_.homeOf(v), id);
  });
}

std::string FunctionWriter::write() {
  names_.startFunction();
  std::string dims = parameters(f_.dimParams), params;
  for (ValueId p : f_.params()) {
    std::string n = name(p);
    params += (params.empty() ? "" : ", ") + n + ": " + type(f_.typeOf(p));
  }
  open("fn " + names_.function(id_) + dims + "(" + params + ")" + resultTypes() + " {");
  region(f_.body);
  if (!f_.results.empty()) line(returned());
  close("}");
  dropUnusedSizes();
  return std::move(out_);
}

std::string FunctionWriter::parameters(const std::vector<DimSym>& symbols) {
  std::string out;
  for (DimSym s : symbols) {
    out += (out.empty() ? "" : ", ") + names_.dim(s);
    knownDims_.insert(s);
  }
  return out.empty() ? "" : "[" + out + "]";
}

std::string FunctionWriter::statements() {
  names_.startFunction();
  region(f_.body);
  dropUnusedSizes();
  return std::move(out_);
}

// --- lines and names
// ----------------------------------------------------------------------------------------------

void FunctionWriter::line(const std::string& text) {
  out_ += std::string(static_cast<size_t>(2 * indent_), ' ') + text + "\n";
}

void FunctionWriter::note(const std::string& what) {
  line("// no spelling: " + what);
  shared_.notes.push_back(what);
}

std::string FunctionWriter::hintOf(ValueId v) const {
  NameId hint = f_.values[v].hint;
  if (hint.valid()) return std::string(types().names.text(hint));
  return types().kind(f_.typeOf(v)) == TypeKind::Array ? "a" : "v";
}

std::string FunctionWriter::name(ValueId v) {
  auto it = exprs_.find(v);
  if (it != exprs_.end()) return it->second.text;
  if (f_.values[v].def.valid()) note("a value that nothing has defined");
  std::string n = names_.local(hintOf(v));
  call(v, n);
  return n;
}

std::string FunctionWriter::value(ValueId v, int level) {
  auto it = exprs_.find(v);
  if (it == exprs_.end()) return name(v);
  return it->second.level < level ? "(" + it->second.text + ")" : it->second.text;
}

std::string FunctionWriter::args(std::span<const ValueId> vs, size_t from) {
  std::string out;
  for (size_t k = from; k < vs.size(); ++k) out += (k > from ? ", " : "") + value(vs[k]);
  return out;
}

std::string FunctionWriter::tuple(std::span<const ValueId> vs) {
  return vs.size() == 1 ? value(vs[0]) : "(" + args(vs) + ")";
}

/// Whether an operand is a variable that an update may change before the op's value is used.
bool FunctionWriter::readsVariable(const Op& o) {
  return std::any_of(o.operands.begin(), o.operands.end(), [&](ValueId v) {
    return !types().isScalar(f_.typeOf(v)) && variables_.count(value(v)) != 0;
  });
}

/// A scalar that is used once, by an op of its own region, stands where it is used.
void FunctionWriter::define(ValueId v, Expr e) {
  const Op& o = op(f_.values[v].def);
  bool scalar = types().isScalar(f_.typeOf(v)), reads = readsVariable(o);
  bool literal = o.kind == OpKind::Const || o.kind == OpKind::DimValue;
  bool alias = e.level == 20 && !reads && (o.kind == OpKind::Pack || o.kind == OpKind::StopGradient);
  bool inPlace =
      scalar && !reads && uses_.count(v) == 1 && e.text.size() < 60 && e.text.find('\n') == std::string::npos;
  if (literal || alias || inPlace) {
    exprs_[v] = std::move(e);
    return;
  }
  if (!uses_.used(v)) return;
  std::string n = names_.local(hintOf(v));
  line("let " + n + (scalar ? "" : ": " + type(f_.typeOf(v))) + " = " + e.text);
  call(v, n);
}

/// What a function gives: sizes that no result shows, then the results.
std::string FunctionWriter::returned() {
  const Op& y = terminator(f_.body);
  std::string out;
  std::vector<size_t> silent = silentSizes(f_.resultDims, f_.results);
  for (size_t k : silent) out += dim(y.dims[k]) + ", ";
  return silent.empty() ? tuple(y.operands) : "(" + out + args(y.operands) + ")";
}

/// The results of a call, and the sizes it decided.
void FunctionWriter::bindAll(const Op& o, const std::string& e) {
  std::string left;
  std::vector<TypeId> resultTypes;
  for (ValueId v : o.results) resultTypes.push_back(f_.typeOf(v));
  const std::vector<size_t> silent = silentSizes(o.resultDims, resultTypes);
  for (size_t k : silent) {
    left += (left.empty() ? "" : ", ") + names_.dim(o.resultDims[k], false);
    knownDims_.insert(o.resultDims[k]);
  }
  for (ValueId v : o.results) {
    bool needed = uses_.used(v) || !o.resultDims.empty();
    std::string n = needed ? names_.local(hintOf(v)) : "_";
    left += (left.empty() ? "" : ", ") + n;
    call(v, n);
  }
  if (o.results.empty()) return line(e);
  line("let " + (silent.size() + o.results.size() == 1 ? left : "(" + left + ")") + " = " + e);
  finishSizes(o, {});
}

/// Sizes that the results of an op bring: those told already, by `silent` or before, and those read from the
/// results. A value whose type mentions one that was told is given that type.
void FunctionWriter::finishSizes(const Op& o, const std::map<DimSym, std::string>& silent) {
  std::vector<std::pair<TypeId, std::string>> from;
  for (ValueId v : o.results)
    if (exprs_.count(v)) from.emplace_back(f_.typeOf(v), value(v));
  for (const auto& [s, text] : silent) bindDim(s, text);
  std::set<DimSym> told;
  for (DimSym s : o.resultDims)
    if (knownDims_.count(s)) told.insert(s);
  bindDims(o.resultDims, from);
  for (ValueId v : o.results) {
    std::map<DimSym, int> counts;
    countSizes(f_.typeOf(v), counts);
    bool mentions = std::any_of(told.begin(), told.end(), [&](DimSym s) { return counts.count(s) != 0; });
    if (!mentions || !uses_.used(v) || types().kind(f_.typeOf(v)) == TypeKind::Pack) continue;
    std::string n = names_.local(hintOf(v));
    line("let " + n + ": " + type(f_.typeOf(v)) + " = " + value(v));
    call(v, n);
  }
}

std::string FunctionWriter::variable(const std::string& hint, const std::string& typeText,
                                     const std::string& initial) {
  std::string n = names_.local(hint);
  line("var " + n + (typeText.empty() ? "" : ": " + typeText) + " = " + initial);
  variables_[n] = builders_;
  return n;
}

} // namespace melix::decompile
