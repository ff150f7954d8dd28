// Types as source.

#include "decompile/writer_types.h"

#include "decompile/writer.h"
#include "decompile/writer_sizes.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

namespace {

std::string dimsText(FunctionWriter& w, const std::vector<DimId>& ds) {
  std::string out;
  for (DimId d : ds) out += (out.empty() ? "" : ", ") + dimText(w, d);
  return "[" + out + "]";
}

} // namespace

/// An array of packs: its elements are of different sizes.
bool isRagged(const FunctionWriter& w, TypeId t) {
  return w.types().kind(t) == TypeKind::Array && w.types().kind(w.types()[t].parts[0]) == TypeKind::Pack;
}

/// A size; `_` where it is hidden, or decided by what is being said.
std::string dimText(FunctionWriter& w, DimId d, int level) {
  const types::DimStore& dims = w.types().dims;
  std::vector<DimSym> symbols;
  dims.collectSymbols(d, symbols);
  for (DimSym s : symbols)
    if (!w.sizes.contains(s)) return "_";
  std::string out;
  bool sum = false, product = false;
  for (const types::DimTerm& t : dims.terms(d)) {
    int64_t c = t.coefficient, size = c < 0 ? -c : c;
    std::string term;
    for (types::DimAtomId a : t.factors) {
      const types::DimAtom& atom = dims.atom(a);
      if (!term.empty()) term += " * ", product = true;
      switch (atom.kind) {
      case types::DimAtomKind::Symbol: term += w.names.dim(atom.symbol); break;
      case types::DimAtomKind::FloorDiv:
        term += "(" + dimText(w, atom.args[0], 14) + " / " + dimText(w, atom.args[1], 15) + ")";
        break;
      case types::DimAtomKind::Mod:
        term += "(" + dimText(w, atom.args[0], 14) + " % " + dimText(w, atom.args[1], 15) + ")";
        break;
      default:
        term += atom.kind == types::DimAtomKind::Min ? "min(" : "max(";
        for (size_t k = 0; k < atom.args.size(); ++k) term += (k ? ", " : "") + dimText(w, atom.args[k]);
        term += ")";
      }
    }
    if (term.empty())
      term = std::to_string(size);
    else if (size != 1)
      term = std::to_string(size) + " * " + term, product = true;
    sum |= !out.empty() || c < 0;
    out += out.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
    out += term;
  }
  if (out.empty()) out = "0";
  return (sum ? 13 : product ? 14 : 20) < level ? "(" + out + ")" : out;
}

/// Lists in place of the axes from `axis` on.
std::string raggedTypeText(FunctionWriter& w, TypeId t, size_t axis) {
  std::string out = typeText(w, w.types()[t].parts[0]);
  for (size_t k = axis; k < w.types()[t].dims.size(); ++k) out = "List[" + out + "]";
  return out;
}

std::string typeText(FunctionWriter& w, TypeId t) {
  const types::Type& ty = w.types()[t];
  switch (ty.kind) {
  case TypeKind::Array: {
    std::string element = typeText(w, ty.parts[0]);
    return isRagged(w, t) ? raggedTypeText(w, t, 0) : element + dimsText(w, ty.dims);
  }
  case TypeKind::Tuple:
  case TypeKind::Known: {
    std::string out;
    for (TypeId part : ty.parts) out += (out.empty() ? "" : ", ") + typeText(w, part);
    return "(" + out + (ty.parts.size() == 1 ? ",)" : ")");
  }
  case TypeKind::Struct:
  case TypeKind::Enum: return w.names.record(ty.record) + (ty.dims.empty() ? "" : dimsText(w, ty.dims));
  case TypeKind::List: return "List[" + typeText(w, ty.parts[0]) + "]";
  case TypeKind::Pack: return showsSizes(w, t) ? typeText(w, ty.parts[0]) : sizedType(w, t);
  case TypeKind::Acc: return typeText(w, ty.parts[0]);
  case TypeKind::Str: return "str";
  case TypeKind::I64:
  case TypeKind::Exit: return "int";
  default: return w.types().isScalar(t) ? std::string(types::scalarName(ty.kind)) : w.types().print(t);
  }
}

/// `-> T`; a size that the function decides is `?N` where it first stands alone.
std::string resultTypeText(FunctionWriter& w) {
  if (w.f.results.empty()) return "";
  std::vector<DimSym> alone; // the others are `_` wherever they stand
  for (DimSym s : w.f.resultDims)
    for (TypeId t : w.f.results)
      if (!sizePath(w, t, s, "r").empty() && w.sizes.add(s)) alone.push_back(s);
  std::string out;
  const size_t silent = silentSizes(w, w.f.resultDims, w.f.results).size();
  for (size_t k = 0; k < silent; ++k) out += out.empty() ? "int" : ", int";
  for (TypeId t : w.f.results) out += (out.empty() ? "" : ", ") + typeText(w, t);
  for (DimSym s : alone) {
    std::string own = w.names.dim(s);
    for (size_t at = out.find(own); at != std::string::npos; at = out.find(own, at + own.size())) {
      size_t end = at + own.size();
      bool bare =
          at > 0 && (out[at - 1] == '[' || out[at - 1] == ' ') && (out[end] == ']' || out[end] == ',');
      if (!bare) continue;
      out.insert(at, "?");
      break;
    }
    w.sizes.remove(s);
  }
  return " -> " + (silent + w.f.results.size() == 1 ? out : "(" + out + ")");
}

} // namespace melix::decompile
