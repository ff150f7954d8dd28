// Types and sizes as source.

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

std::string FunctionWriter::type(TypeId t) {
  const types::Type ty = types()[t];
  switch (ty.kind) {
  case TypeKind::Array: {
    std::string element = type(ty.parts[0]);
    if (!isRagged(t)) return element + dims(ty.dims);
    for (size_t k = 0; k < ty.dims.size(); ++k) element = "List[" + element + "]";
    return element;
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
  case TypeKind::Pack: {
    size_t unread = unreadable(t).size();
    std::string ints, inner = type(ty.parts[0]);
    for (size_t k = 0; k < unread; ++k) ints += k ? ", int" : "int";
    if (unread == 0) return inner;
    if (types().isUnit(ty.parts[0])) return unread == 1 ? ints : "(" + ints + ")";
    return "(" + ints + ", " + inner + ")";
  }
  case TypeKind::Acc: return type(ty.parts[0]);
  case TypeKind::Str: return "str";
  case TypeKind::I64:
  case TypeKind::Exit: return "int";
  default: return types().isScalar(t) ? std::string(types::scalarName(ty.kind)) : types().print(t);
  }
}

/// What a parameter hides is named: two sizes that are one number are then one name.
std::string FunctionWriter::paramType(TypeId t) {
  if (types().kind(t) != TypeKind::Pack || !unreadable(t).empty()) return type(t);
  std::vector<DimId> own;
  for (uint32_t k = 0; k < types()[t].number; ++k) {
    DimSym s = m_.types.dims.newSym({"H", types::DimSymKind::Parameter, 0, {}});
    knownDims_.insert(s);
    own.push_back(m_.types.dims.symbol(s));
  }
  return type(m_.types.openPack(t, own));
}

/// `-> T`; a size that the function decides is `?N` where it first stands alone.
std::string FunctionWriter::resultTypes() {
  if (f_.results.empty()) return "";
  std::vector<DimSym> alone; // the others are `_` wherever they stand
  for (DimSym s : f_.resultDims)
    for (TypeId t : f_.results)
      if (!sizePath(t, s, "r").empty() && knownDims_.insert(s).second) alone.push_back(s);
  std::string out;
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
  return " -> " + (f_.results.size() == 1 ? out : "(" + out + ")");
}

/// How the size `s` is read from a value of type `t`; empty if it cannot be.
std::string FunctionWriter::sizePath(TypeId t, DimSym s, const std::string& base) {
  const types::Type ty = types()[t];
  auto at =
      std::find_if(ty.dims.begin(), ty.dims.end(), [&](DimId d) { return types().dims.asSymbol(d) == s; });
  auto k = static_cast<size_t>(at - ty.dims.begin());
  switch (ty.kind) {
  case TypeKind::Array:
    if (at == ty.dims.end()) return "";
    return ty.dims.size() == 1 ? "len(" + base + ")" : "shape(" + base + ")." + std::to_string(k);
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

/// The hidden sizes of a pack that no value inside shows: they stand in front of it as integers.
std::vector<uint32_t> FunctionWriter::unreadable(TypeId pack) {
  std::vector<uint32_t> out;
  for (uint32_t k = 0; k < types()[pack].number; ++k)
    if (sizePath(types()[pack].parts[0], m_.types.boundSym(k), "x").empty()) out.push_back(k);
  return out;
}

void FunctionWriter::bindDim(DimSym s, const std::string& e) {
  std::string n = names_.dim(s, false);
  line("let " + n + " = " + e);
  sizes_.push_back(n);
  knownDims_.insert(s);
}

/// Reads sizes from values whose types mention them.
void FunctionWriter::bindDims(const std::vector<DimSym>& symbols,
                              const std::vector<std::pair<TypeId, std::string>>& from) {
  for (DimSym s : symbols) {
    std::string found;
    for (const auto& [t, text] : from)
      if (found.empty()) found = sizePath(t, s, text);
    if (!found.empty())
      bindDim(s, found);
    else if (!symbols.empty())
      knownDims_.erase(s);
  }
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

} // namespace melix::decompile
