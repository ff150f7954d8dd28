#include "transforms/mask_ranges.h"

#include "core/access.h"
#include "core/affine.h"
#include "core/clone.h"
#include "core/nest.h"
#include "core/walk.h"
#include "transforms/dce.h"
#include "transforms/rewrite_region.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

/// An end is the least of these, or the greatest.
using Forms = std::vector<AffineIndex>;
constexpr size_t mostForms = 4;
constexpr int deepest = 8; ///< ops between an axis and an end

enum class Extreme : uint8_t { Least, Greatest };
Extreme opposite(Extreme e) { return e == Extreme::Least ? Extreme::Greatest : Extreme::Least; }

/// Ends of ranges as forms of the axes of nests.
class EndForms {
public:
  EndForms(Module& m, FunctionId f) : m_(m), f_(f), info_(m.functions[f]) {
    forEachOp(fn(), [&](OpId id) {
      const Op& op = fn().ops[id];
      if (op.kind == OpKind::BindDim) boundTo_[op.resultDims[0]] = op.operands[0];
      if (op.kind != OpKind::Nest) return;
      const NestView nest(fn(), op);
      for (size_t k = 0; k < nest.axes(); ++k) extents_[nest.axisParams()[k]] = op.dims[k];
    });
  }

  /// What the dimension is the least or the greatest of.
  std::optional<Forms> of(DimId d, Extreme extreme, int depth = deepest) const {
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

  /// What a form is never more than: a size outside of the nests.
  std::optional<DimId> bound(const AffineIndex& form) const {
    DimId sum = dims().constant(form.constant);
    for (auto [d, factor] : form.dims) sum = dims().add(sum, dims().mul(dims().constant(factor), d));
    for (auto [axis, factor] : form.axes) {
      if (factor < 0) continue; // at its least
      const DimId extent = extents_.at(axis);
      if (isInside(extent)) return std::nullopt;
      const DimId last = dims().sub(extent, dims().constant(1));
      sum = dims().add(sum, dims().mul(dims().constant(factor), last));
    }
    return dims().atLeast(sum, 0) ? sum : dims().max(sum, dims().constant(0));
  }
  /// Whether it is never negative.
  bool isNatural(const AffineIndex& form) const {
    return form.constant >= 0 && std::ranges::all_of(form.axes, [](auto& a) { return a.second > 0; }) &&
           std::ranges::all_of(form.dims,
                               [&](auto& d) { return d.second > 0 && dims().atLeast(d.first, 0); });
  }
  const std::set<ValueId>& axesOf(ValueId v) const { return info_.axesOf(v); }
  /// Whether values of a type have sizes that differ with axes.
  bool isRagged(TypeId type) const {
    std::vector<DimSym> symbols;
    m_.types.collectSymbols(type, symbols);
    return std::ranges::any_of(symbols, [&](DimSym s) { return isInside(s); });
  }
  /// The size that a number is.
  std::optional<DimId> sizeOf(ValueId v) const {
    const OpId def = fn().values[v].def;
    if (def.valid() && fn().ops[def].kind == OpKind::DimValue) return fn().ops[def].dims[0];
    const auto bound = std::ranges::find(boundTo_, v, [](const auto& each) { return each.second; });
    return bound == boundTo_.end() ? std::nullopt : std::optional(dims().symbol(bound->first));
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::DimStore& dims() const { return m_.types.dims; }

  /// Whether the number of a size differs with axes.
  bool isInside(DimSym s) const {
    const auto bound = boundTo_.find(s);
    return bound != boundTo_.end() && !axesOf(bound->second).empty();
  }
  bool isInside(DimId d) const {
    std::vector<DimSym> symbols;
    dims().collectSymbols(d, symbols);
    return std::ranges::any_of(symbols, [&](DimSym s) { return isInside(s); });
  }
  /// A factor of a term that differs with axes, as a dimension.
  std::optional<DimId> insideAtom(const types::DimTerm& term) const {
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
  DimId combined(types::DimAtomKind kind, const std::vector<DimId>& args) const {
    if (kind != types::DimAtomKind::Min && kind != types::DimAtomKind::Max) return dims().tooLarge();
    DimId made = args[0];
    for (DimId each : args)
      made = kind == types::DimAtomKind::Min ? dims().min(made, each) : dims().max(made, each);
    return made;
  }

  std::optional<Forms> ofAtom(const types::DimAtom& atom, Extreme extreme, int depth) const {
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

  std::optional<Forms> ofValue(ValueId v, Extreme extreme, int depth) const {
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
  static bool add(Forms& to, const Forms& forms, int64_t factor) {
    constexpr int64_t largest = 1 << 8;
    if (to.size() * forms.size() > mostForms || factor > largest || factor < -largest) return false;
    Forms out;
    for (const AffineIndex& a : to)
      for (const AffineIndex& b : forms) accumulate(out.emplace_back(a), b, factor);
    to = std::move(out);
    return true;
  }

  Module& m_;
  FunctionId f_;
  AccessInfo info_;
  std::unordered_map<DimSym, ValueId> boundTo_;
  std::unordered_map<ValueId, DimId> extents_; ///< of axes
};

/// A sum that becomes one under a mask.
struct Range {
  OpId nest;
  ValueId axis;                      ///< counts from 0
  std::optional<DimId> offset;       ///< what is added to it
  std::unordered_set<ValueId> index; ///< the sums of both
  Forms begins, ends;                ///< the greatest, and the least
  DimId extent;
};

class Masker {
public:
  Masker(Module& m, FunctionId f, const Effects& effects) : m_(m), f_(f), effects_(effects), forms_(m, f) {}
  bool changed = false;

  void run(RegionId region, ValueId lastAxis = {}) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const bool isNest = fn().ops[id].kind == OpKind::Nest;
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) run(inner, isNest ? lastOf(id) : lastAxis);
      if (!isNest || !lastAxis.valid()) return true;
      const std::optional<Range> range = rangeOf(id, lastAxis);
      if (!range) return true;
      mask(*range, region);
      return !(changed = true);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::DimStore& dims() const { return m_.types.dims; }
  ValueId lastOf(OpId nest) const {
    const NestView view(fn(), fn().ops[nest]);
    return view.axes() == 0 ? ValueId() : view.axisParams().back();
  }

  std::optional<Range> rangeOf(OpId id, ValueId lastAxis) const {
    const Op& op = fn().ops[id];
    const NestView nest(fn(), op);
    if (nest.axes() != 1 || nest.accs() > 0 || nest.parts().size() != 1) return std::nullopt;
    const NestResult& r = *nest.parts()[0].spec;
    if (r.kind != NestResultKind::Reduce || r.monoid != MonoidKind::Sum ||
        !m_.types.isScalar(fn().typeOf(op.results[0])) || hasEffects(nest.body()))
      return std::nullopt;
    Range out;
    out.nest = id;
    out.axis = nest.axisParams()[0];
    findOffset(out, nest.body());
    const DimId begin = out.offset ? *out.offset : dims().constant(0);
    const std::optional<Forms> begins = forms_.of(begin, Extreme::Greatest),
                               ends = forms_.of(dims().add(begin, op.dims[0]), Extreme::Least);
    if (!begins || !ends || !setEnds(out, *begins, *ends) || !isOfTwoSides(out, nest.body(), lastAxis))
      return std::nullopt;
    return out;
  }
  bool hasEffects(RegionId body) const {
    bool any = false;
    forEachOp(fn(), body, [&](OpId id) { any |= effects_.ofOp(fn(), id).any(); });
    return any;
  }

  /// What all uses of the axis add to it, if that is one size.
  void findOffset(Range& out, RegionId body) const {
    bool isOne = true, isUsedAlone = false;
    forEachOp(fn(), body, [&](OpId id) {
      const Op& op = fn().ops[id];
      if (std::ranges::find(op.operands, out.axis) == op.operands.end()) return;
      const std::optional<DimId> with = op.kind == OpKind::Add ? sizeBeside(op, out.axis) : std::nullopt;
      if (!with) {
        isUsedAlone = true;
      } else if (!out.offset || *out.offset == *with) {
        out.offset = with;
        out.index.insert(op.results[0]);
      } else {
        isOne = false;
      }
    });
    if (!isOne || isUsedAlone) out.offset.reset(), out.index.clear();
  }
  std::optional<DimId> sizeBeside(const Op& sum, ValueId axis) const {
    return forms_.sizeOf(sum.operands[sum.operands[0] == axis ? 1 : 0]);
  }

  /// Whether they are within an extent from outside, and differ with axes.
  bool setEnds(Range& out, const Forms& begins, const Forms& ends) const {
    if (std::ranges::none_of(begins, [&](const AffineIndex& form) { return forms_.isNatural(form); }))
      return false;
    for (const AffineIndex& form : ends) {
      const std::optional<DimId> bound = forms_.bound(form);
      if (!bound) return false;
      out.extent = out.extent.valid() ? dims().min(out.extent, *bound) : *bound;
    }
    std::ranges::copy_if(begins, std::back_inserter(out.begins), [](const AffineIndex& form) {
      return !form.axes.empty() || !form.dims.empty() || form.constant > 0;
    });
    out.ends = ends;
    return !axesOf(out).empty();
  }
  static std::set<ValueId> axesOf(const Range& range) {
    std::set<ValueId> out;
    for (const Forms* forms : {&range.begins, &range.ends})
      for (const AffineIndex& form : *forms)
        for (auto [axis, factor] : form.axes) out.insert(axis);
    return out;
  }

  // --- the accesses of a term
  // ---------------------------------------------------------------------------------------------------------
  /// Whether two vary each with an axis that the other does not; and lanes are not left to the last axis,
  /// which alone tells the ends.
  bool isOfTwoSides(const Range& range, RegionId body, ValueId lastAxis) const {
    std::vector<std::set<ValueId>> accesses;
    bool isAlongLast = false, isOfRow = false; // as long as the range
    forEachOp(fn(), body, [&](OpId id) {
      const Op& op = fn().ops[id];
      if (op.kind != OpKind::Get || op.operands.size() < 2) return;
      isOfRow |= forms_.isRagged(fn().typeOf(op.operands[0]));
      std::set<ValueId>& axes = accesses.emplace_back();
      for (ValueId v : op.operands) varies(range, v, axes);
      std::set<ValueId> last;
      varies(range, op.operands.back(), last);
      isAlongLast |= last.contains(lastAxis);
      if (!axes.contains(range.axis)) accesses.pop_back();
    });
    if (isOfRow || (isAlongLast && axesOf(range) == std::set{lastAxis})) return false;
    auto holds = [](const std::set<ValueId>& a, const std::set<ValueId>& b) {
      return std::ranges::includes(a, b);
    };
    for (const auto& a : accesses)
      for (const auto& b : accesses)
        if (!holds(a, b) && !holds(b, a)) return true;
    return false;
  }
  /// The axes that a value of the body varies with, where the index is an axis by itself.
  void varies(const Range& range, ValueId v, std::set<ValueId>& out) const {
    if (v == range.axis || range.index.contains(v)) return (void)out.insert(range.axis);
    const OpId def = fn().values[v].def;
    if (!def.valid() || !fn().ops[def].regions.empty() || !forms_.axesOf(v).contains(range.axis))
      return out.insert(forms_.axesOf(v).begin(), forms_.axesOf(v).end()), void();
    for (ValueId operand : fn().ops[def].operands) varies(range, operand, out);
  }

  // --- the mask
  // ---------------------------------------------------------------------------------------------------------
  void mask(const Range& range, RegionId region) {
    const Op op = fn().ops[range.nest];
    Builder b(m_, f_, region, op.loc);
    NestBuilder made(b);
    const ValueId k = made.axis(range.extent, fn().values[range.axis].hint);
    Builder in = b.in(made.body());
    ValueId holds;
    auto require = [&](CmpKind how, const AffineIndex& form) {
      const ValueId is = in.compare(how, k, write(in, form));
      holds = holds.valid() ? in.binary(OpKind::And, holds, is) : is;
    };
    for (const AffineIndex& form : range.begins) require(CmpKind::Ge, form);
    for (const AffineIndex& form : range.ends)
      if (!isExtent(form, range.extent)) require(CmpKind::Lt, form);
    const NestResult spec = nestResults(op)[0];
    const TypeId type = fn().typeOf(op.results[0]);
    Builder yes = in.in(in.newRegion()), no = in.in(in.newRegion());
    yes.yield({term(range, op.regions[0], k, yes)});
    no.yield({m_.types.isFloat(type) ? no.number(type, 0) : no.constant(type, 0)});
    Op branch = Builder::simple(OpKind::If, {holds});
    branch.regions = {yes.region, no.region};
    made.add(spec, in.one(std::move(branch), type));
    const std::vector<ValueId> old(op.results.begin(), op.results.end());
    takeOver(fn(), made.finish(), old);
  }
  bool isExtent(const AffineIndex& form, DimId extent) const {
    if (!form.axes.empty()) return false;
    const std::optional<DimId> bound = forms_.bound(form);
    return bound && *bound == extent;
  }
  static ValueId write(Builder& b, const AffineIndex& form) {
    ValueId sum = b.integer(form.constant);
    auto plus = [&](ValueId v, int64_t factor) {
      if (factor == -1) return void(sum = b.binary(OpKind::Sub, sum, v));
      if (factor != 1) v = b.binary(OpKind::Mul, v, b.integer(factor));
      sum = b.binary(OpKind::Add, sum, v);
    };
    for (auto [axis, factor] : form.axes) plus(axis, factor);
    for (auto [d, factor] : form.dims) plus(b.dimValue(d), factor);
    return sum;
  }
  ValueId term(const Range& range, RegionId body, ValueId k, Builder& b) {
    Cloner copy(m_, f_, f_);
    copy.values[range.axis] = k;
    copy.instead = [&](OpId id, Builder&) {
      const Op& op = fn().ops[id];
      if (op.results.size() != 1 || !range.index.contains(op.results[0])) return false;
      copy.values[op.results[0]] = k;
      return true;
    };
    return copy.body(body, b).values[0];
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const EndForms forms_;
};

} // namespace

bool maskRanges(Module& m) {
  const Effects effects(m);
  bool changed = false;
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Masker masker(m, f, effects);
    masker.run(m.functions[f].body);
    if (masker.changed) eliminateDeadValues(m, f, effects);
    changed |= masker.changed;
  }
  return changed;
}

} // namespace melix::transforms
