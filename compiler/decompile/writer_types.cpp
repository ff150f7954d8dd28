// Types as source.

#include "decompile/writer.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

/// An array of packs: its elements are of different sizes.
bool FunctionWriter::isRagged(TypeId t) const {
  return types().kind(t) == TypeKind::Array && types().kind(types()[t].parts[0]) == TypeKind::Pack;
}

/// A size; `_` where it is hidden, or decided by what is being said.
std::string FunctionWriter::dim(DimId d, int level) {
  const types::DimStore& dims = types().dims;
  std::vector<DimSym> symbols;
  dims.collectSymbols(d, symbols);
  for (DimSym s : symbols)
    if (!knownDims_.count(s)) return "_";
  std::string out;
  bool sum = false, product = false;
  for (const types::DimTerm& t : dims.terms(d)) {
    int64_t c = t.coefficient, size = c < 0 ? -c : c;
    std::string term;
    for (types::DimAtomId a : t.factors) {
      const types::DimAtom& atom = dims.atom(a);
      if (!term.empty()) term += " * ", product = true;
      switch (atom.kind) {
      case types::DimAtomKind::Symbol: term += names_.dim(atom.symbol); break;
      case types::DimAtomKind::FloorDiv:
        term += "(" + dim(atom.args[0], 14) + " / " + dim(atom.args[1], 15) + ")";
        break;
      case types::DimAtomKind::Mod:
        term += "(" + dim(atom.args[0], 14) + " % " + dim(atom.args[1], 15) + ")";
        break;
      default:
        term += atom.kind == types::DimAtomKind::Min ? "min(" : "max(";
        for (size_t k = 0; k < atom.args.size(); ++k) term += (k ? ", " : "") + dim(atom.args[k]);
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

std::string FunctionWriter::dims(const std::vector<DimId>& ds) {
  std::string out;
  for (DimId d : ds) out += (out.empty() ? "" : ", ") + dim(d);
  return "[" + out + "]";
}

/// Lists in place of the axes from `axis` on.
std::string FunctionWriter::raggedType(TypeId t, size_t axis) {
  std::string out = type(types()[t].parts[0]);
  for (size_t k = axis; k < types()[t].dims.size(); ++k) out = "List[" + out + "]";
  return out;
}

std::string FunctionWriter::type(TypeId t) {
  const types::Type& ty = types()[t];
  switch (ty.kind) {
  case TypeKind::Array: {
    std::string element = type(ty.parts[0]);
    return isRagged(t) ? raggedType(t, 0) : element + dims(ty.dims);
  }
  case TypeKind::Tuple:
  case TypeKind::Known: {
    std::string out;
    for (TypeId part : ty.parts) out += (out.empty() ? "" : ", ") + type(part);
    return "(" + out + (ty.parts.size() == 1 ? ",)" : ")");
  }
  case TypeKind::Struct:
  case TypeKind::Enum: return names_.record(ty.record) + (ty.dims.empty() ? "" : dims(ty.dims));
  case TypeKind::List: return "List[" + type(ty.parts[0]) + "]";
  case TypeKind::Pack: return showsSizes(t) ? type(ty.parts[0]) : sizedType(t);
  case TypeKind::Acc: return type(ty.parts[0]);
  case TypeKind::Str: return "str";
  case TypeKind::I64:
  case TypeKind::Exit: return "int";
  default: return types().isScalar(t) ? std::string(types::scalarName(ty.kind)) : types().print(t);
  }
}

/// `-> T`; a size that the function decides is `?N` where it first stands alone.
std::string FunctionWriter::resultTypes() {
  if (f_.results.empty()) return "";
  std::vector<DimSym> alone; // the others are `_` wherever they stand
  for (DimSym s : f_.resultDims)
    for (TypeId t : f_.results)
      if (!sizePath(t, s, "r").empty() && knownDims_.insert(s).second) alone.push_back(s);
  std::string out;
  const size_t silent = silentSizes(f_.resultDims, f_.results).size();
  for (size_t k = 0; k < silent; ++k) out += out.empty() ? "int" : ", int";
  for (TypeId t : f_.results) out += (out.empty() ? "" : ", ") + type(t);
  for (DimSym s : alone) {
    std::string own = names_.dim(s);
    for (size_t at = out.find(own); at != std::string::npos; at = out.find(own, at + own.size())) {
      size_t end = at + own.size();
      bool bare =
          at > 0 && (out[at - 1] == '[' || out[at - 1] == ' ') && (out[end] == ']' || out[end] == ',');
      if (!bare) continue;
      out.insert(at, "?");
      break;
    }
    knownDims_.erase(s);
  }
  return " -> " + (silent + f_.results.size() == 1 ? out : "(" + out + ")");
}

} // namespace melix::decompile
