#include "transforms/analysis/affine_bounds.h"

#include "core/ir/analyses.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

static Extreme opposite(Extreme e) { return e == Extreme::Least ? Extreme::Greatest : Extreme::Least; }

AffineBounds::AffineBounds(Module& m, FunctionId f) : m_(m), f_(f), info_(analysis<AccessInfo>(m, f)) {
  forEachOp(fn(), [&](OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::BindDim) boundTo_[op.resultDims[0]] = op.operands[0];
    if (op.kind != OpKind::Nest) return;
    const NestView nest(fn(), op);
    for (size_t k = 0; k < nest.axes(); ++k) extents_[nest.axisParams()[k]] = op.dims[k];
  });
}

std::optional<Forms> AffineBounds::of(DimId d, Extreme extreme, int depth) const {
  Forms sum(1);
  DimId outside = d;
  for (const types::DimTerm& term : dims().terms(d)) {
    std::optional<DimId> atom = insideAtom(term);
    if (!atom) continue;
    if (term.factors.size() != 1 || depth == 0) return std::nullopt;
    const int64_t factor = term.coefficient;
    outside = dims().sub(outside, dims().mul(dims().constant(factor), *atom));
    const Extreme directed = factor > 0 ? extreme : opposite(extreme);
    if (!add(sum, ofAtom(dims().atom(term.factors[0]), directed, depth - 1), factor)) return std::nullopt;
  }
  if (isInside(outside)) return std::nullopt;
  return add(sum, Forms{AffineForm::ofSize(dims(), outside)}, 1) ? std::optional(sum) : std::nullopt;
}

std::optional<DimId> AffineBounds::end(const AffineForm& form, bool isGreatest) const {
  const DimId found = extremeOf(dims(), form, isGreatest, [&](ValueId axis) {
    const DimId extent = extents_.at(axis);
    return isInside(extent) ? DimId() : extent;
  });
  return found.valid() ? std::optional(found) : std::nullopt;
}
bool AffineBounds::isRagged(TypeId type) const {
  std::vector<DimSym> symbols;
  m_.types.collectSymbols(type, symbols);
  return std::ranges::any_of(symbols, [&](DimSym s) { return isInside(s); });
}
std::optional<DimId> AffineBounds::sizeOf(ValueId v) const {
  const OpId def = fn().values[v].def;
  if (def.valid() && fn().ops[def].kind == OpKind::DimValue) return fn().ops[def].dims[0];
  const auto bound = std::ranges::find(boundTo_, v, [](const auto& each) { return each.second; });
  return bound == boundTo_.end() ? std::nullopt : std::optional(dims().symbol(bound->first));
}

/// Whether the number of a size differs with axes.
bool AffineBounds::isInside(DimSym s) const {
  const auto bound = boundTo_.find(s);
  return bound != boundTo_.end() && !axesOf(bound->second).empty();
}
bool AffineBounds::isInside(DimId d) const {
  std::vector<DimSym> symbols;
  dims().collectSymbols(d, symbols);
  return std::ranges::any_of(symbols, [&](DimSym s) { return isInside(s); });
}
/// A factor of a term that differs with axes, as a dimension.
std::optional<DimId> AffineBounds::insideAtom(const types::DimTerm& term) const {
  for (types::DimAtomId id : term.factors) {
    const types::DimAtom& atom = dims().atom(id);
    if (atom.kind == types::DimAtomKind::Symbol) {
      if (isInside(atom.symbol)) return dims().symbol(atom.symbol);
      continue;
    }
    const std::vector<DimId> args = atom.args;
    if (std::ranges::none_of(args, [&](DimId d) { return isInside(d); })) continue;
    return combined(atom.kind, args);
  }
  return std::nullopt;
}
/// An extremum; of nothing else a form is found.
DimId AffineBounds::combined(types::DimAtomKind kind, const std::vector<DimId>& args) const {
  if (kind != types::DimAtomKind::Min && kind != types::DimAtomKind::Max) return dims().tooLarge();
  DimId made = args[0];
  for (DimId each : args)
    made = kind == types::DimAtomKind::Min ? dims().min(made, each) : dims().max(made, each);
  return made;
}

std::optional<Forms> AffineBounds::ofAtom(const types::DimAtom& atom, Extreme extreme, int depth) const {
  using types::DimAtomKind;
  if (atom.kind == DimAtomKind::Symbol) return ofValue(boundTo_.at(atom.symbol), extreme, depth);
  if (atom.kind != (extreme == Extreme::Least ? DimAtomKind::Min : DimAtomKind::Max)) return std::nullopt;
  Forms out;
  for (DimId each : std::vector(atom.args))
    if (!append(out, of(each, extreme, depth))) return std::nullopt;
  return out;
}

/// The form of a value; its sizes and extrema are bounded in turn.
std::optional<Forms> AffineBounds::ofValue(ValueId v, Extreme extreme, int depth) const {
  const std::optional<AffineForm> form = affineForm(
      dims(), fn(), v, {[&](ValueId x) { return extents_.contains(x); }, [](ValueId) { return true; }});
  if (depth == 0 || !isSmall(*form)) return std::nullopt;
  Forms sum{{form->axes, {}, {}, form->constant}};
  auto directed = [&](int64_t factor) { return factor > 0 ? extreme : opposite(extreme); };
  for (auto [x, factor] : form->outside)
    if (!add(sum, ofExtremum(x, directed(factor), depth - 1), factor)) return std::nullopt;
  for (auto [d, factor] : form->dims)
    if (!add(sum, of(d, directed(factor), depth - 1), factor)) return std::nullopt;
  return sum;
}
/// Either side of a least or greatest of two.
std::optional<Forms> AffineBounds::ofExtremum(ValueId v, Extreme extreme, int depth) const {
  const OpId def = fn().values[v].def;
  if (!def.valid() || fn().ops[def].kind != (extreme == Extreme::Least ? OpKind::Min : OpKind::Max))
    return std::nullopt;
  Forms out;
  for (ValueId side : fn().ops[def].operands)
    if (!append(out, ofValue(side, extreme, depth))) return std::nullopt;
  return out;
}
bool AffineBounds::append(Forms& to, const std::optional<Forms>& forms) {
  if (forms) to.insert(to.end(), forms->begin(), forms->end());
  return forms && to.size() <= mostForms;
}
/// Every form with every other.
bool AffineBounds::add(Forms& to, const std::optional<Forms>& forms, int64_t factor) {
  if (!forms || to.size() * forms->size() > mostForms) return false;
  Forms out;
  for (const AffineForm& a : to)
    for (const AffineForm& b : *forms) {
      out.emplace_back(a).add(b, factor);
      if (!isSmall(out.back())) return false;
    }
  to = std::move(out);
  return true;
}

} // namespace melix::transforms
