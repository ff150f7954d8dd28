#include "types/dim_quotient.h"

#include <algorithm>

namespace melix::types {

namespace {

DimId ofAtom(DimStore& dims, const DimAtom& atom) {
  if (atom.kind == DimAtomKind::Symbol) return dims.symbol(atom.symbol);
  if (atom.kind == DimAtomKind::FloorDiv) return dims.floorDiv(atom.args[0], atom.args[1]);
  if (atom.kind == DimAtomKind::Mod) return dims.mod(atom.args[0], atom.args[1]);
  if (atom.kind == DimAtomKind::TooLarge) return dims.tooLarge();
  DimId out = atom.args[0];
  for (DimId d : atom.args) out = atom.kind == DimAtomKind::Min ? dims.min(out, d) : dims.max(out, d);
  return out;
}

/// None if it is no multiple.
std::optional<DimId> quotientOf(DimStore& dims, const DimTerm& term, const DimTerm& by) {
  if (!std::ranges::includes(term.factors, by.factors) || term.coefficient % by.coefficient != 0)
    return std::nullopt;
  std::vector<DimAtomId> left;
  std::ranges::set_difference(term.factors, by.factors, std::back_inserter(left));
  DimId out = dims.constant(term.coefficient / by.coefficient);
  for (DimAtomId factor : left) out = dims.mul(out, ofAtom(dims, DimAtom(dims.atom(factor))));
  return out;
}

} // namespace

std::optional<DimId> exactQuotient(DimStore& dims, DimId whole, DimId by) {
  if (whole == by) return dims.constant(1);
  const std::vector<DimTerm> divisor = dims.terms(by), terms = dims.terms(whole);
  if (divisor.size() != 1 || divisor[0].coefficient < 1 || dims.isTooLarge(whole)) return std::nullopt;
  DimId out = dims.constant(0);
  for (const DimTerm& term : terms) {
    const std::optional<DimId> quotient = quotientOf(dims, term, divisor[0]);
    if (!quotient) return std::nullopt;
    out = dims.add(out, *quotient);
  }
  return out;
}

} // namespace melix::types
