// Sizes that the run decides as source: where they are read, and what hides them.
//
// A type hides sizes in Melix by `_`, each `_` a size of its own. Where a pack hides one size twice, one of
// several values, or one that no value in it shows, it is a struct whose parameters are its sizes:
//
//   pack 1 (i64[_], f64[N, _])   ->   struct Sized[H, N] { value: (int[H], f64[N, H]) }, said as Sized[_, N]

#include "decompile/writer.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

/// How the size `s` is read from a value of type `t`; empty if it cannot be.
std::string FunctionWriter::sizePath(TypeId t, DimSym s, const std::string& base) {
  const types::Type& ty = types()[t];
  auto at =
      std::find_if(ty.dims.begin(), ty.dims.end(), [&](DimId d) { return types().dims.asSymbol(d) == s; });
  auto k = static_cast<size_t>(at - ty.dims.begin());
  switch (ty.kind) {
  case TypeKind::Array:
    if (at == ty.dims.end() || (k > 0 && isRagged(t))) return "";
    return ty.dims.size() == 1 || isRagged(t) ? "len(" + base + ")"
                                              : "shape(" + base + ")." + std::to_string(k);
  case TypeKind::Struct:
    return at == ty.dims.end() ? "" : base + "." + names_.dim(types().recordInfo(ty.record).dimParams[k]);
  case TypeKind::Tuple:
  case TypeKind::Known:
    for (size_t i = 0; i < ty.parts.size(); ++i)
      if (std::string found = sizePath(ty.parts[i], s, base + "." + std::to_string(i)); !found.empty())
        return found;
    return "";
  default: return "";
  }
}

/// Which of the sizes no value of these types shows: they go beside the values as integers.
std::vector<size_t> FunctionWriter::silentSizes(std::span<const core::DimSym> symbols,
                                                const std::vector<TypeId>& from) {
  std::vector<size_t> out;
  for (size_t k = 0; k < symbols.size(); ++k)
    if (std::none_of(from.begin(), from.end(),
                     [&](TypeId t) { return !sizePath(t, symbols[k], "x").empty(); }))
      out.push_back(k);
  return out;
}

void FunctionWriter::bindDim(DimSym s, const std::string& e) {
  std::string n = names_.dim(s, false);
  line("let " + n + " = " + e);
  sizes_.push_back(n);
  knownDims_.insert(s);
}

/// Reads sizes from values whose types mention them.
void FunctionWriter::bindDims(std::span<const core::DimSym> symbols,
                              const std::vector<std::pair<TypeId, std::string>>& from) {
  for (DimSym s : symbols)
    for (const auto& [t, text] : from)
      if (std::string found = knownDims_.count(s) ? "" : sizePath(t, s, text); !found.empty())
        bindDim(s, found);
}

/// Takes out the `let`s of sizes that nothing mentions.
void FunctionWriter::dropUnusedSizes() {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t k = sizes_.size(); k-- > 0;) {
    const std::string& n = sizes_[k];
    size_t uses = 0;
    for (size_t at = out_.find(n); at != std::string::npos; at = out_.find(n, at + n.size()))
      uses += (at == 0 || !isWord(out_[at - 1])) &&
              (at + n.size() == out_.size() || !isWord(out_[at + n.size()]));
    size_t at = out_.find("let " + n + " = ");
    if (uses != 1 || at == std::string::npos) continue;
    size_t begin = out_.rfind('\n', at) + 1;
    out_.erase(begin, out_.find('\n', at) + 1 - begin);
  }
}

// --- what hides sizes
// ------------------------------------------------------------------------------------------

/// How often a type mentions each symbol.
void FunctionWriter::countSizes(TypeId t, std::map<DimSym, int>& counts) const {
  const types::Type& ty = types()[t];
  for (DimId d : ty.dims) {
    std::vector<DimSym> symbols;
    types().dims.collectSymbols(d, symbols);
    for (DimSym s : symbols) ++counts[s];
  }
  for (TypeId part : ty.parts) countSizes(part, counts);
}

/// Whether `_` says it all: each hidden size stands alone, once, where it is read. In a tuple `_` hides a
/// size of the part that it stands in, not of the tuple.
bool FunctionWriter::showsSizes(TypeId pack) {
  const TypeKind hidden = types().kind(types()[pack].parts[0]);
  if (hidden == TypeKind::Tuple || hidden == TypeKind::Known) return false;
  std::vector<DimId> own;
  std::vector<DimSym> symbols;
  for (uint32_t k = 0; k < types()[pack].number; ++k) {
    symbols.push_back(hiddenSize(k));
    own.push_back(m_.types.dims.symbol(symbols.back()));
  }
  TypeId inner = m_.types.openPack(pack, own);
  std::map<DimSym, int> counts;
  countSizes(inner, counts);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](DimSym s) { return counts[s] == 1 && !sizePath(inner, s, "x").empty(); });
}

/// The parameter number `k` of structs that hide sizes: of what is hidden, or of the other sizes.
DimSym FunctionWriter::parameter(std::vector<DimSym>& made, const char* hint, size_t k) {
  while (made.size() <= k) {
    made.push_back(m_.types.dims.newSym({hint, types::DimSymKind::Parameter, 0, {}}));
    names_.parameter(made.back());
  }
  return made[k];
}

DimSym FunctionWriter::hiddenSize(size_t k) { return parameter(shared_.hidden, "H", k); }

/// The form of a pack whatever its other sizes are, and these, in order: each stands for itself alone, so
/// that a function and its caller, who knows that two of them are one, or a number, mean the same form.
TypeId FunctionWriter::formOf(TypeId pack, std::vector<DimId>& others) {
  auto [known, fresh] = shared_.forms.try_emplace(pack);
  if (!fresh) {
    others = known->second.second;
    return known->second.first;
  }
  TypeId form = m_.types.generalised({pack}, others)[0];
  types::DimSubst toParams;
  const std::vector<DimSym> found = m_.types.sizeSyms(others.size());
  for (size_t k = 0; k < found.size(); ++k)
    toParams[found[k]] = m_.types.dims.symbol(parameter(shared_.others, "N", k));
  known->second = {m_.types.substitute(form, toParams), others};
  return known->second.first;
}

/// The struct for packs of this form.
const SizedStruct& FunctionWriter::sizedStruct(TypeId pack) {
  std::vector<DimId> others, own;
  TypeId form = formOf(pack, others);
  auto [it, fresh] = shared_.sized.try_emplace(form);
  if (!fresh) return it->second;
  std::vector<DimSym> params;
  for (uint32_t k = 0; k < types()[pack].number; ++k) {
    params.push_back(hiddenSize(k));
    own.push_back(m_.types.dims.symbol(params.back()));
  }
  for (size_t k = 0; k < others.size(); ++k) params.push_back(parameter(shared_.others, "N", k));
  SizedStruct& made = it->second;
  FunctionWriter w(shared_, id_);
  made.name = names_.item("Sized");
  made.params = w.parameters(params);
  made.form = form;
  made.inner = m_.types.openPack(form, own);
  made.symbols = params;
  made.declaration = "struct " + made.name + made.params + " {\n  value: " + w.type(made.inner) + "\n}\n";
  return made;
}

/// `Sized[_, N]`, or with the hidden sizes said.
std::string FunctionWriter::sizedType(TypeId pack, std::span<const core::DimId> hidden) {
  std::string out;
  std::vector<DimId> others;
  formOf(pack, others);
  for (uint32_t k = 0; k < types()[pack].number; ++k)
    out += (k ? ", " : "") + (k < hidden.size() ? dim(hidden[k]) : "_");
  for (DimId d : others) out += ", " + dim(d);
  return sizedStruct(pack).name + "[" + out + "]";
}

/// What is made of a value and its sizes.
Expr FunctionWriter::sized(TypeId pack, const std::string& inner, std::span<const core::DimId> hidden) {
  if (showsSizes(pack)) return {inner};
  return {sizedStruct(pack).name + "(" + inner + ") as " + sizedType(pack, hidden), 16};
}

Expr FunctionWriter::pack(const Op& o) {
  TypeId t = f_.typeOf(o.results[0]);
  return sized(t, value(o.operands[0], showsSizes(t) ? 20 : 0), o.dims);
}

/// What was hidden gets names: the sizes, then the value.
void FunctionWriter::unpack(const Op& o) {
  TypeId t = f_.typeOf(o.results[0]), packed = f_.typeOf(o.operands[0]);
  if (showsSizes(packed)) {
    const std::string n = named(value(o.operands[0]), hintOf(o.results[0]));
    call(o.results[0], n);
    return bindDims(o.resultDims, {{t, n}});
  }
  std::string whole = named(value(o.operands[0]), "whole");
  for (uint32_t k = 0; k < o.resultDims.size(); ++k)
    bindDim(o.resultDims[k], whole + "." + names_.dim(hiddenSize(k)));
  if (types().isUnit(t)) return call(o.results[0], "()");
  std::string n = names_.local(hintOf(o.results[0]));
  line("let " + n + ": " + type(t) + " = " + whole + ".value");
  call(o.results[0], n);
}

bool FunctionWriter::hasNegativeSize(TypeId t) const {
  const types::Type& ty = types()[t];
  return std::any_of(ty.dims.begin(), ty.dims.end(),
                     [&](DimId d) { return types().dims.asConstant(d).value_or(0) < 0; }) ||
         std::any_of(ty.parts.begin(), ty.parts.end(), [&](TypeId part) { return hasNegativeSize(part); });
}

/// A value at a type equal up to sizes: arrays, structs and enums by `as`, tuples part by part; others agree
/// where they are named.
Expr FunctionWriter::resized(TypeId from, TypeId to, const std::string& e) {
  if (from == to) return {e};
  const TypeKind kind = types().kind(to);
  if ((kind == TypeKind::Array && !isRagged(to)) || kind == TypeKind::Struct || kind == TypeKind::Enum)
    return {e + " as " + type(to), 16};
  if (kind != TypeKind::Tuple) return {e};
  const std::vector<TypeId>&parts = types()[to].parts, &given = types()[from].parts;
  const std::string whole = named(e, "whole");
  std::string out;
  for (size_t k = 0; k < parts.size(); ++k)
    out += (k ? ", " : "") + resized(given[k], parts[k], whole + "." + std::to_string(k)).text;
  return {"(" + out + (parts.size() == 1 ? ",)" : ")")};
}

// --- what is made of parts
// --------------------------------------------------------------------------------------

/// Whether the fields of a case tell all sizes of its record.
bool FunctionWriter::fieldsTellSizes(RecordId id, uint32_t c) {
  const types::Record& r = types().recordInfo(id);
  std::vector<TypeId> fields;
  for (const types::Field& field : r.cases[c].fields) fields.push_back(field.type);
  return silentSizes(r.dimParams, fields).empty();
}

/// A struct or enum case of its fields; the type beside it where they do not tell its sizes.
Expr FunctionWriter::construct(TypeId t, uint32_t c, const std::string& fields) {
  const types::Type& ty = types()[t];
  std::string out = names_.record(ty.record);
  if (ty.kind == TypeKind::Enum) out += "." + names_.enumCase(ty.record, c);
  if (ty.kind == TypeKind::Struct || !fields.empty()) out += "(" + fields + ")";
  if (fieldsTellSizes(ty.record, c)) return {out};
  return {out + " as " + type(t), 16};
}

} // namespace melix::decompile
