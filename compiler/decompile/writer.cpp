#include "decompile/writer.h"

#include "core/ir/walk.h"
#include "decompile/writer_ops.h"
#include "decompile/writer_sizes.h"
#include "decompile/writer_types.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

namespace {

/// Whether an operand is a variable that an update may change before the op's value is used.
bool readsVariable(FunctionWriter& w, const Op& o) {
  return std::any_of(o.operands.begin(), o.operands.end(), [&](ValueId v) {
    return !w.types().isScalar(w.f.typeOf(v)) && w.variables.contains(w.value(v));
  });
}

/// What a function gives: sizes that no result shows, then the results.
std::string returned(FunctionWriter& w) {
  const Op& y = w.terminator(w.f.body);
  std::string out;
  std::vector<size_t> silent = silentSizes(w, w.f.resultDims, w.f.results);
  for (size_t k : silent) out += dimText(w, y.dims[k]) + ", ";
  return silent.empty() ? w.tuple(y.operands) : "(" + out + w.args(y.operands) + ")";
}

} // namespace

FunctionWriter::FunctionWriter(Shared& shared, FunctionId function)
    : shared(shared), m(shared.module), id(function), f(m.functions[function]), names(shared.names),
      uses(m, function), lastUse_(f.values.size()) {
  forEachOp(f, [&](OpId id) {
    for (ValueId v : f.ops[id].operands) lastUse_[v.index] = uses.ancestorIn(uses.homeOf(v), id);
  });
}

std::string FunctionWriter::write() {
  names.startFunction();
  std::string dims = parameters(*this, f.dimParams), params;
  for (ValueId p : f.params()) {
    std::string n = name(p);
    params += (params.empty() ? "" : ", ") + n + ": " + typeText(*this, f.typeOf(p));
  }
  lines.open("fn " + names.function(id) + dims + "(" + params + ")" + resultTypeText(*this) + " {");
  writeRegion(*this, f.body);
  if (!f.results.empty()) lines.add(returned(*this));
  lines.close("}");
  return text();
}

std::string parameters(FunctionWriter& w, const std::vector<DimSym>& symbols) {
  std::string out;
  for (DimSym s : symbols) {
    out += (out.empty() ? "" : ", ") + w.names.dim(s);
    w.sizes.add(s);
  }
  return out.empty() ? "" : "[" + out + "]";
}

std::string FunctionWriter::statements() {
  names.startFunction();
  writeRegion(*this, f.body);
  return text();
}

std::string FunctionWriter::text() {
  std::string out = lines.take();
  sizes.dropUnusedLets(out);
  return out;
}

void FunctionWriter::note(const std::string& what) {
  lines.add("// no spelling: " + what);
  shared.notes.push_back(what);
}

std::string FunctionWriter::hintOf(ValueId v) const {
  NameId hint = f.values[v].hint;
  if (hint.valid()) return std::string(types().names.text(hint));
  return types().kind(f.typeOf(v)) == TypeKind::Array ? "a" : "v";
}

std::string FunctionWriter::name(ValueId v) {
  auto it = exprs_.find(v);
  if (it != exprs_.end()) return it->second.text;
  if (f.values[v].def.valid()) note("a value that nothing has defined");
  std::string n = names.local(hintOf(v));
  call(v, n);
  return n;
}

std::string FunctionWriter::value(ValueId v, int level) {
  auto it = exprs_.find(v);
  if (it == exprs_.end()) return name(v);
  return it->second.level < level ? "(" + it->second.text + ")" : it->second.text;
}

bool FunctionWriter::isLastUse(ValueId v, const Op& user) const {
  const OpId last = lastUse_[v.index];
  return last.valid() && &op(last) == &user;
}

std::string FunctionWriter::args(std::span<const ValueId> vs, size_t from) {
  std::string out;
  for (size_t k = from; k < vs.size(); ++k) out += (k > from ? ", " : "") + value(vs[k]);
  return out;
}

std::string FunctionWriter::tuple(std::span<const ValueId> vs) {
  return vs.size() == 1 ? value(vs[0]) : "(" + args(vs) + ")";
}

/// A scalar that is used once, by an op of its own region, stands where it is used.
void define(FunctionWriter& w, ValueId v, Expr e) {
  const Op& o = w.op(w.f.values[v].def);
  bool scalar = w.types().isScalar(w.f.typeOf(v)), reads = readsVariable(w, o);
  bool literal = o.kind == OpKind::Const || o.kind == OpKind::DimValue;
  bool alias = e.level == 20 && !reads && (o.kind == OpKind::Pack || o.kind == OpKind::StopGradient);
  bool inPlace = scalar && !reads && w.uses.count(v) == 1 && e.text.size() < 60 &&
                 e.text.find('\n') == std::string::npos;
  if (literal || alias || inPlace) {
    w.setExpression(v, std::move(e));
    return;
  }
  if (!w.uses.used(v)) return;
  std::string n = w.names.local(w.hintOf(v));
  w.lines.add("let " + n + (scalar ? "" : ": " + typeText(w, w.f.typeOf(v))) + " = " + e.text);
  w.call(v, n);
}

/// The results of a call, and the sizes it decided.
void bindResults(FunctionWriter& w, const Op& o, const std::string& e) {
  std::string left;
  std::vector<TypeId> resultTypes;
  for (ValueId v : o.results) resultTypes.push_back(w.f.typeOf(v));
  const std::vector<size_t> silent = silentSizes(w, o.resultDims, resultTypes);
  for (size_t k : silent) {
    left += (left.empty() ? "" : ", ") + w.names.dim(o.resultDims[k], false);
    w.sizes.add(o.resultDims[k]);
  }
  for (ValueId v : o.results) {
    bool needed = w.uses.used(v) || !o.resultDims.empty();
    std::string n = needed ? w.names.local(w.hintOf(v)) : "_";
    left += (left.empty() ? "" : ", ") + n;
    w.call(v, n);
  }
  if (o.results.empty()) return w.lines.add(e);
  w.lines.add("let " + (silent.size() + o.results.size() == 1 ? left : "(" + left + ")") + " = " + e);
  finishSizes(w, o, {});
}

/// Sizes that the results of an op bring: those told already, by `silent` or before, and those read from the
/// results. A value whose type mentions one that was told is given that type.
void finishSizes(FunctionWriter& w, const Op& o, const std::map<DimSym, std::string>& silent) {
  std::vector<std::pair<TypeId, std::string>> from;
  for (ValueId v : o.results)
    if (w.isNamed(v)) from.emplace_back(w.f.typeOf(v), w.value(v));
  for (const auto& [s, text] : silent) bindDim(w, s, text);
  std::set<DimSym> told;
  for (DimSym s : o.resultDims)
    if (w.sizes.contains(s)) told.insert(s);
  bindDims(w, o.resultDims, from);
  for (ValueId v : o.results) {
    std::map<DimSym, int> counts;
    countSizes(w, w.f.typeOf(v), counts);
    bool mentions = std::any_of(told.begin(), told.end(), [&](DimSym s) { return counts.count(s) != 0; });
    if (!mentions || !w.uses.used(v) || w.types().kind(w.f.typeOf(v)) == TypeKind::Pack) continue;
    std::string n = w.names.local(w.hintOf(v));
    w.lines.add("let " + n + ": " + typeText(w, w.f.typeOf(v)) + " = " + w.value(v));
    w.call(v, n);
  }
}

std::string variable(FunctionWriter& w, const std::string& hint, const std::string& typeText,
                     const std::string& initial) {
  std::string n = w.names.local(hint);
  w.lines.add("var " + n + (typeText.empty() ? "" : ": " + typeText) + " = " + initial);
  w.variables.add(n);
  return n;
}

} // namespace melix::decompile
