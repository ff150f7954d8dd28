#include "types/dims.h"

namespace melix::types {

// A sum needs parentheses where a factor stands.
static bool isSum(const std::vector<DimTerm>& terms) {
  return terms.size() > 1 || (terms.size() == 1 && terms[0].coefficient < 0);
}

static bool isSingleProduct(const std::vector<DimTerm>& terms) {
  return terms.size() == 1 && !terms[0].factors.empty() &&
         (terms[0].coefficient != 1 || terms[0].factors.size() > 1);
}

std::string DimStore::printAtom(DimAtomId id) const {
  const DimAtom& a = atoms_[id];
  switch (a.kind) {
  case DimAtomKind::Symbol: return syms_[a.symbol].name;
  case DimAtomKind::FloorDiv:
  case DimAtomKind::Mod: {
    std::string left = print(a.args[0]), right = print(a.args[1]);
    if (isSum(dims_[a.args[0]])) left = "(" + left + ")";
    const std::vector<DimTerm>& divisor = dims_[a.args[1]];
    bool quotient = right.find_first_of("/%") != std::string::npos;
    if (isSum(divisor) || isSingleProduct(divisor) || quotient) right = "(" + right + ")";
    return left + (a.kind == DimAtomKind::FloorDiv ? " / " : " % ") + right;
  }
  case DimAtomKind::Min:
  case DimAtomKind::Max: {
    std::string out = a.kind == DimAtomKind::Min ? "min(" : "max(";
    for (size_t i = 0; i < a.args.size(); ++i) out += (i ? ", " : "") + print(a.args[i]);
    return out + ")";
  }
  case DimAtomKind::TooLarge: return "too_large";
  }
  return "?";
}

std::string DimStore::print(DimId d) const {
  const std::vector<DimTerm>& terms = dims_[d];
  if (terms.empty()) return "0";
  std::string out;
  auto append = [&](const DimTerm& t) {
    bool negative = t.coefficient < 0;
    uint64_t size =
        negative ? 0 - static_cast<uint64_t>(t.coefficient) : static_cast<uint64_t>(t.coefficient);
    if (out.empty())
      out = negative ? "-" : "";
    else
      out += negative ? " - " : " + ";
    if (t.factors.empty() || size != 1) out += std::to_string(size) + (t.factors.empty() ? "" : "*");
    for (size_t i = 0; i < t.factors.size(); ++i) {
      DimAtomKind kind = atoms_[t.factors[i]].kind;
      bool quotient = kind == DimAtomKind::FloorDiv || kind == DimAtomKind::Mod;
      bool alone = t.factors.size() == 1 && size == 1;
      std::string text = printAtom(t.factors[i]);
      out += (i ? "*" : "") + (quotient && !alone ? "(" + text + ")" : text);
    }
  };
  // Positive terms first: `N - 1`, never `-1 + N`; `2 - N`, not `-N + 2`.
  for (const DimTerm& t : terms)
    if (t.coefficient > 0) append(t);
  for (const DimTerm& t : terms)
    if (t.coefficient < 0) append(t);
  return out;
}

void DimStore::spell(DimId d, std::string_view text) {
  bool expression = !asConstant(d) && !asSymbol(d) && text.find('\n') == std::string_view::npos;
  if (expression) spellings_.emplace(d, text);
}

std::string DimStore::show(DimId d) const {
  auto spelled = spellings_.find(d);
  return spelled == spellings_.end() ? print(d) : spelled->second;
}

} // namespace melix::types
