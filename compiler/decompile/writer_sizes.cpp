// Sizes that the run decides as source: where they are read, and what hides them.
//
// A type hides sizes in Melix by `_`, each `_` a size of its own. Where a pack hides one size twice, one of
// several values, or one that no value in it shows, it is a struct whose parameters are its sizes:
//
//   pack 1 (i64[_], f64[N, _])   ->   struct Sized[H, N] { value: (int[H], f64[N, H]) }, said as Sized[_, N]

#include "decompile/writer_sizes.h"

#include "decompile/writer.h"
#include "decompile/writer_sums.h"
#include "decompile/writer_types.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

namespace {

/// The parameter number `k` of structs that hide sizes: of what is hidden, or of the other sizes.
DimSym parameter(FunctionWriter& w, std::vector<DimSym>& made, const char* hint, size_t k) {
  while (made.size() <= k) {
    made.push_back(w.m.types.dims.newSym({hint, types::DimSymKind::Parameter, 0, {}}));
    w.names.parameter(made.back());
  }
  return made[k];
}

DimSym hiddenSize(FunctionWriter& w, size_t k) { return parameter(w, w.shared.hidden, "H", k); }

/// The form of a pack whatever its other sizes are, and these, in order: each stands for itself alone, so
/// that a function and its caller, who knows that two of them are one, or a number, mean the same form.
TypeId formOf(FunctionWriter& w, TypeId pack, std::vector<DimId>& others) {
  auto [known, fresh] = w.shared.forms.try_emplace(pack);
  if (!fresh) {
    others = known->second.second;
    return known->second.first;
  }
  TypeId form = w.m.types.generalised({pack}, others)[0];
  types::DimSubst toParams;
  const std::vector<DimSym> found = w.m.types.sizeSyms(others.size());
  for (size_t k = 0; k < found.size(); ++k)
    toParams[found[k]] = w.m.types.dims.symbol(parameter(w, w.shared.others, "N", k));
  known->second = {w.m.types.substitute(form, toParams), others};
  return known->second.first;
}

/// Whether the fields of a case tell all sizes of its record.
bool fieldsTellSizes(FunctionWriter& w, RecordId id, uint32_t c) {
  const types::Record& r = w.types().recordInfo(id);
  std::vector<TypeId> fields;
  for (const types::Field& field : r.cases[c].fields) fields.push_back(field.type);
  return silentSizes(w, r.dimParams, fields).empty();
}

} // namespace

/// How the size `s` is read from a value of type `t`; empty if it cannot be.
std::string sizePath(FunctionWriter& w, TypeId t, DimSym s, const std::string& base) {
  const types::Type& ty = w.types()[t];
  auto at =
      std::find_if(ty.dims.begin(), ty.dims.end(), [&](DimId d) { return w.types().dims.asSymbol(d) == s; });
  auto k = static_cast<size_t>(at - ty.dims.begin());
  switch (ty.kind) {
  case TypeKind::Array:
    if (at == ty.dims.end() || (k > 0 && isRagged(w, t))) return "";
    return ty.dims.size() == 1 || isRagged(w, t) ? "len(" + base + ")"
                                                 : "shape(" + base + ")." + std::to_string(k);
  case TypeKind::Struct:
    return at == ty.dims.end() ? "" : base + "." + w.names.dim(w.types().recordInfo(ty.record).dimParams[k]);
  case TypeKind::Tuple:
  case TypeKind::Known:
    for (size_t i = 0; i < ty.parts.size(); ++i)
      if (std::string found = sizePath(w, ty.parts[i], s, base + "." + std::to_string(i)); !found.empty())
        return found;
    return "";
  default: return "";
  }
}

/// Which of the sizes no value of these types shows: they go beside the values as integers.
std::vector<size_t> silentSizes(FunctionWriter& w, std::span<const core::DimSym> symbols,
                                const std::vector<TypeId>& from) {
  std::vector<size_t> out;
  for (size_t k = 0; k < symbols.size(); ++k)
    if (std::none_of(from.begin(), from.end(),
                     [&](TypeId t) { return !sizePath(w, t, symbols[k], "x").empty(); }))
      out.push_back(k);
  return out;
}

void bindDim(FunctionWriter& w, DimSym s, const std::string& e) {
  std::string n = w.names.dim(s, false);
  w.lines.add("let " + n + " = " + e);
  w.sizes.addLet(s, n);
}

/// Reads sizes from values whose types mention them.
void bindDims(FunctionWriter& w, std::span<const core::DimSym> symbols,
              const std::vector<std::pair<TypeId, std::string>>& from) {
  for (DimSym s : symbols)
    for (const auto& [t, text] : from)
      if (std::string found = w.sizes.contains(s) ? "" : sizePath(w, t, s, text); !found.empty())
        bindDim(w, s, found);
}

/// How often a type mentions each symbol.
void countSizes(const FunctionWriter& w, TypeId t, std::map<DimSym, int>& counts) {
  const types::Type& ty = w.types()[t];
  for (DimId d : ty.dims) {
    std::vector<DimSym> symbols;
    w.types().dims.collectSymbols(d, symbols);
    for (DimSym s : symbols) ++counts[s];
  }
  for (TypeId part : ty.parts) countSizes(w, part, counts);
}

/// Whether `_` says it all: each hidden size stands alone, once, where it is read. In a tuple `_` hides a
/// size of the part that it stands in, not of the tuple.
bool showsSizes(FunctionWriter& w, TypeId pack) {
  const TypeKind hidden = w.types().kind(w.types()[pack].parts[0]);
  if (hidden == TypeKind::Tuple || hidden == TypeKind::Known) return false;
  std::vector<DimId> own;
  std::vector<DimSym> symbols;
  for (uint32_t k = 0; k < w.types()[pack].number; ++k) {
    symbols.push_back(hiddenSize(w, k));
    own.push_back(w.m.types.dims.symbol(symbols.back()));
  }
  TypeId inner = w.m.types.openPack(pack, own);
  std::map<DimSym, int> counts;
  countSizes(w, inner, counts);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](DimSym s) { return counts[s] == 1 && !sizePath(w, inner, s, "x").empty(); });
}

/// The struct for packs of this form.
const SizedStruct& sizedStruct(FunctionWriter& writer, TypeId pack) {
  std::vector<DimId> others, own;
  TypeId form = formOf(writer, pack, others);
  auto [it, fresh] = writer.shared.sized.try_emplace(form);
  if (!fresh) return it->second;
  std::vector<DimSym> params;
  for (uint32_t k = 0; k < writer.types()[pack].number; ++k) {
    params.push_back(hiddenSize(writer, k));
    own.push_back(writer.m.types.dims.symbol(params.back()));
  }
  for (size_t k = 0; k < others.size(); ++k)
    params.push_back(parameter(writer, writer.shared.others, "N", k));
  SizedStruct& made = it->second;
  FunctionWriter w(writer.shared, writer.id);
  made.name = writer.names.item("Sized");
  made.params = parameters(w, params);
  made.form = form;
  made.inner = writer.m.types.openPack(form, own);
  made.symbols = params;
  made.declaration =
      "struct " + made.name + made.params + " {\n  value: " + typeText(w, made.inner) + "\n}\n";
  return made;
}

/// `Sized[_, N]`, or with the hidden sizes said.
std::string sizedType(FunctionWriter& w, TypeId pack, std::span<const core::DimId> hidden) {
  std::string out;
  std::vector<DimId> others;
  formOf(w, pack, others);
  for (uint32_t k = 0; k < w.types()[pack].number; ++k)
    out += (k ? ", " : "") + (k < hidden.size() ? dimText(w, hidden[k]) : "_");
  for (DimId d : others) out += ", " + dimText(w, d);
  return sizedStruct(w, pack).name + "[" + out + "]";
}

/// What is made of a value and its sizes.
Expr sized(FunctionWriter& w, TypeId pack, const std::string& inner, std::span<const core::DimId> hidden) {
  if (showsSizes(w, pack)) return {inner};
  return {sizedStruct(w, pack).name + "(" + inner + ") as " + sizedType(w, pack, hidden), 16};
}

Expr packed(FunctionWriter& w, const Op& o) {
  TypeId t = w.f.typeOf(o.results[0]);
  return sized(w, t, w.value(o.operands[0], showsSizes(w, t) ? 20 : 0), o.dims);
}

/// What was hidden gets names: the sizes, then the value.
void writeUnpack(FunctionWriter& w, const Op& o) {
  TypeId t = w.f.typeOf(o.results[0]), packed = w.f.typeOf(o.operands[0]);
  if (showsSizes(w, packed)) {
    const std::string n = named(w, w.value(o.operands[0]), w.hintOf(o.results[0]));
    w.call(o.results[0], n);
    return bindDims(w, o.resultDims, {{t, n}});
  }
  std::string whole = named(w, w.value(o.operands[0]), "whole");
  for (uint32_t k = 0; k < o.resultDims.size(); ++k)
    bindDim(w, o.resultDims[k], whole + "." + w.names.dim(hiddenSize(w, k)));
  if (w.types().isUnit(t)) return w.call(o.results[0], "()");
  std::string n = w.names.local(w.hintOf(o.results[0]));
  w.lines.add("let " + n + ": " + typeText(w, t) + " = " + whole + ".value");
  w.call(o.results[0], n);
}

bool hasNegativeSize(const FunctionWriter& w, TypeId t) {
  const types::Type& ty = w.types()[t];
  return std::any_of(ty.dims.begin(), ty.dims.end(),
                     [&](DimId d) { return w.types().dims.asConstant(d).value_or(0) < 0; }) ||
         std::any_of(ty.parts.begin(), ty.parts.end(), [&](TypeId part) { return hasNegativeSize(w, part); });
}

/// A value at a type equal up to sizes: arrays, structs and enums by `as`, tuples part by part; others agree
/// where they are named.
Expr resized(FunctionWriter& w, TypeId from, TypeId to, const std::string& e) {
  if (from == to) return {e};
  const TypeKind kind = w.types().kind(to);
  if ((kind == TypeKind::Array && !isRagged(w, to)) || kind == TypeKind::Struct || kind == TypeKind::Enum)
    return {e + " as " + typeText(w, to), 16};
  if (kind != TypeKind::Tuple) return {e};
  const std::vector<TypeId>&parts = w.types()[to].parts, &given = w.types()[from].parts;
  const std::string whole = named(w, e, "whole");
  std::string out;
  for (size_t k = 0; k < parts.size(); ++k)
    out += (k ? ", " : "") + resized(w, given[k], parts[k], whole + "." + std::to_string(k)).text;
  return {"(" + out + (parts.size() == 1 ? ",)" : ")")};
}

/// A struct or enum case of its fields; the type beside it where they do not tell its sizes.
Expr construct(FunctionWriter& w, TypeId t, uint32_t c, const std::string& fields) {
  const types::Type& ty = w.types()[t];
  std::string out = w.names.record(ty.record);
  if (ty.kind == TypeKind::Enum) out += "." + w.names.enumCase(ty.record, c);
  if (ty.kind == TypeKind::Struct || !fields.empty()) out += "(" + fields + ")";
  if (fieldsTellSizes(w, ty.record, c)) return {out};
  return {out + " as " + typeText(w, t), 16};
}

} // namespace melix::decompile
