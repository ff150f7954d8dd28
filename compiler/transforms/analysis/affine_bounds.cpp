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
    const std::optional<Forms> forms =
        ofAtom(dims().atom(term.factors[0]), factor > 0 ? extreme : opposite(extreme), depth - 1);
    if (!forms || !add(sum, *forms, factor)) return std::nullopt;
  }
  if (isInside(outside)) return std::nullopt;
  AffineIndex rest;
  if (const std::optional<int64_t> known = dims().asConstant(outside))
    rest.constant = *known;
  else
    rest.dims[outside] = 1;
  add(sum, {rest}, 1);
  return sum;
}

std::optional<DimId> AffineBounds::end(const AffineIndex& form, bool isGreatest) const {
  DimId sum = dims().constant(form.constant);
  auto plus = [&](DimId d, int64_t factor) { sum = dims().add(sum, dims().mul(dims().constant(factor), d)); };
  for (auto [d, factor] : form.dims) plus(d, factor);
  for (auto [axis, factor] : form.axes) {
    if ((factor > 0) != isGreatest) continue; // it is 0 there
    const DimId extent = extents_.at(axis);
    if (isInside(extent)) return std::nullopt;
    plus(dims().sub(extent, dims().constant(1)), factor);
  }
  return sum;
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
  for (DimId each : std::vector(atom.args)) {
    const std::optional<Forms> forms = of(each, extreme, depth);
    if (!forms) return std::nullopt;
    out.insert(out.end(), forms->begin(), forms->end());
  }
  return out.size() <= mostForms ? std::optional(out) : std::nullopt;
}

std::optional<Forms> AffineBounds::ofValue(ValueId v, Extreme extreme, int depth) const {
  Forms out(1);
  if (extents_.contains(v)) return out[0].axes[v] = 1, out;
  const OpId def = fn().values[v].def;
  if (depth == 0 || !def.valid()) return std::nullopt;
  const Op& op = fn().ops[def];
  auto operand = [&](size_t k, Extreme e) { return ofValue(op.operands[k], e, depth - 1); };
  switch (op.kind) {
  case OpKind::Const: return out[0].constant = static_cast<int64_t>(op.as<Constant>().bits), out;
  case OpKind::DimValue: return of(op.dims[0], extreme, depth - 1);
  case OpKind::Min:
  case OpKind::Max: {
    if ((op.kind == OpKind::Min) != (extreme == Extreme::Least)) return std::nullopt;
    std::optional<Forms> a = operand(0, extreme), b = operand(1, extreme);
    if (!a || !b || a->size() + b->size() > mostForms) return std::nullopt;
    a->insert(a->end(), b->begin(), b->end());
    return a;
  }
  case OpKind::Add:
  case OpKind::Sub: {
    const bool isSum = op.kind == OpKind::Add;
    const std::optional<Forms> a = operand(0, extreme), b = operand(1, isSum ? extreme : opposite(extreme));
    if (!a || !b || !add(out, *a, 1) || !add(out, *b, isSum ? 1 : -1)) return std::nullopt;
    return out;
  }
  default: return std::nullopt;
  }
}
/// Every form with every other.
bool AffineBounds::add(Forms& to, const Forms& forms, int64_t factor) {
  constexpr int64_t largest = 1 << 8;
  if (to.size() * forms.size() > mostForms || factor > largest || factor < -largest) return false;
  Forms out;
  for (const AffineIndex& a : to)
    for (const AffineIndex& b : forms) accumulate(out.emplace_back(a), b, factor);
  to = std::move(out);
  return true;
}

} // namespace melix::transforms
