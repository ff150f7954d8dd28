// The place of an add, as a form of axes for each axis of the accumulator.

#include "core/analysis/affine.h"
#include "core/analysis/ranges.h"
#include "transforms/accumulation/gather_plan.h"

#include <algorithm>
#include <utility>

namespace melix::transforms {

using namespace core;

/// An affine form for each axis of the accumulator; slices and whole axes bring axes of their own.
bool AccumulationPlanner::placeIndices(Conversion& c, AffineIndices& indices) {
  const Op& add = fn().ops[c.site.add];
  const types::Type& t = types()[types()[fn().typeOf(add.operands[0])].parts[0]];
  size_t operand = 2;
  for (const PathStep& s : add.as<Path>()) {
    if (s.kind == StepKind::Index) {
      indices.push_back(placeIndex(c, add.operands[operand++], t.dims[indices.size()]));
    } else if (s.kind == StepKind::Slice) {
      auto start = affine(c, add.operands[operand++]);
      if (!outsideDim(s.length)) return false;
      ValueId q = elementAxis(c, s.length);
      if (start) start->axes[q] += s.step;
      indices.push_back(start);
    } else if (s.kind == StepKind::All) {
      indices.push_back(wholeAxis(c, t.dims[indices.size()]));
    } else {
      return false;
    }
  }
  while (indices.size() < t.dims.size()) indices.push_back(wholeAxis(c, t.dims[indices.size()]));
  return std::all_of(t.dims.begin(), t.dims.end(), [&](DimId d) { return outsideDim(d); }) &&
         std::all_of(indices.begin(), indices.end(), [](const auto& i) { return i.has_value(); }) &&
         writeQuotients(c, indices);
}

ValueId AccumulationPlanner::newAxis(Conversion& c, DimId extent) {
  ValueId q = fn().values.add(Value{types().int64(), {}, {}, 0, {}});
  c.axes.push_back(q);
  c.extents.push_back(extent);
  return q;
}

ValueId AccumulationPlanner::elementAxis(Conversion& c, DimId extent) {
  c.element.push_back(newAxis(c, extent));
  return c.element.back();
}

std::optional<AffineForm> AccumulationPlanner::wholeAxis(Conversion& c, DimId extent) {
  return AffineForm::ofAxis(elementAxis(c, extent));
}

std::optional<AffineForm> AccumulationPlanner::affine(const Conversion& c, ValueId v,
                                                      FunctionRef<bool(ValueId)> isSubstituted) const {
  return affineForm(types().dims, fn(), v,
                    {[&](ValueId x) { return c.isAxis(x) || (isSubstituted && isSubstituted(x)); },
                     [&](ValueId x) { return outside(x); }, [&](DimId d) { return affine(c, d); }});
}

/// Of a size, in place of those from inside the numbers that they are.
std::optional<AffineForm> AccumulationPlanner::affine(const Conversion& c, DimId d) const {
  AffineForm form = affineForm(types().dims, d, [&](DimSym s) {
    const auto number = boundTo_.find(s);
    return number == boundTo_.end() ? std::nullopt : affine(c, number->second);
  });
  const bool isOutside = std::ranges::all_of(form.dims, [&](auto& term) { return outsideDim(term.first); });
  return isOutside ? std::optional(std::move(form)) : std::nullopt;
}

// --- quotients, and places that are found
// ------------------------------------------------------------------------

/// The form of an index of an axis of the accumulator; of what is no form, as an index that is read
/// somewhere, an axis for all that it can be.
std::optional<AffineForm> AccumulationPlanner::placeIndex(Conversion& c, ValueId v, DimId extent) {
  if (std::optional<AffineForm> form = formOf(c, v)) return form;
  if (!outsideDim(extent)) return std::nullopt;
  return AffineForm::ofAxis(foundAxis(c, v, extent));
}

/// A form of the axes and of those that stand for quotients, remainders and places found.
std::optional<AffineForm> AccumulationPlanner::formOf(Conversion& c, ValueId v) {
  auto isMade = [&](ValueId x) {
    if (outside(x) || !fn().values[x].def.valid()) return false;
    const OpKind kind = fn().ops[fn().values[x].def].kind;
    return kind == OpKind::IDiv || kind == OpKind::IRem || kind == OpKind::Nest || kind == OpKind::Get;
  };
  std::optional<AffineForm> form = affine(c, v, isMade);
  if (!form) return std::nullopt;
  const LinearTerms<ValueId> axes = form->axes;
  for (auto [x, factor] : axes) {
    if (c.isAxis(x)) continue;
    const ValueId axis = substitute(c, x);
    if (!axis.valid()) return std::nullopt;
    form->axes.erase(x);
    form->add(AffineForm::ofAxis(axis), factor);
  }
  return form;
}

/// The axis that stands for a value of the body, if one can.
ValueId AccumulationPlanner::substitute(Conversion& c, ValueId v) {
  const Op& op = fn().ops[fn().values[v].def];
  if (op.kind == OpKind::IDiv || op.kind == OpKind::IRem) {
    const Divided* d = divide(c, op);
    return !d ? ValueId() : op.kind == OpKind::IDiv ? d->quotient : d->remainder;
  }
  const std::optional<DimId> extent = ranges_.extentOf(v);
  return extent && outsideDim(*extent) ? foundAxis(c, v, *extent) : ValueId();
}

ValueId AccumulationPlanner::foundAxis(Conversion& c, ValueId v, DimId extent) {
  for (const auto& [axis, place] : c.found)
    if (place == v && c.extentOf(axis) == extent) return axis;
  const ValueId axis = newAxis(c, extent);
  c.found[axis] = v;
  return axis;
}

/// What divides, if that is a number of at least 1 and the same for all points.
DimId AccumulationPlanner::divisor(ValueId v) const {
  const OpId def = fn().values[v].def;
  if (!def.valid()) return {};
  const Op& op = fn().ops[def];
  types::DimStore& dims = types().dims;
  if (op.kind == OpKind::DimValue && outsideDim(op.dims[0])) return dims.max(op.dims[0], dims.constant(1));
  if (op.kind != OpKind::Const || static_cast<int64_t>(op.as<Constant>().bits) < 1) return {};
  return dims.constant(static_cast<int64_t>(op.as<Constant>().bits));
}

/// An axis of the dividend that nothing else ends with is written as the quotient and the remainder.
const Divided* AccumulationPlanner::divide(Conversion& c, const Op& op) {
  const DimId by = divisor(op.operands[1]);
  if (!by.valid()) return nullptr;
  for (const Divided& d : c.divided)
    if (d.dividend == op.operands[0] && d.by == by) return &d;
  const std::optional<AffineForm> form = affine(c, op.operands[0]);
  if (!form || !ranges_.isNatural(op.operands[0])) return nullptr;
  auto isTaken = [&](ValueId axis) {
    return std::ranges::any_of(
        c.divided, [&](const Divided& d) { return d.axis == axis || d.rest.axes.contains(axis); });
  };
  auto isEnd = [&](ValueId axis) {
    return c.ends.contains(axis) || std::ranges::any_of(c.ends, [&](const auto& ends) {
             return std::ranges::any_of(ends.second,
                                        [&](const AffineForm& end) { return end.axes.contains(axis); });
           });
  };
  for (auto [axis, factor] : form->axes)
    if (isTaken(axis)) return nullptr;
  for (ValueId axis : c.axes) {
    const auto at = form->axes.find(axis);
    if (at == form->axes.end() || isEnd(axis) || (at->second != 1 && at->second != -1)) continue;
    const std::optional<DimId> most = form->isAxis() ? c.extentOf(axis) : ranges_.extentOf(op.operands[0]);
    if (!most || !outsideDim(*most)) return nullptr;
    Divided d{axis, op.operands[0], *form, at->second, by, {}, {}, {}};
    d.rest.axes.erase(axis);
    const DimId quotients = ceilDiv(types().dims, *most, by);
    d.isWhole = form->isAxis() && types().dims.mul(quotients, by) == *most;
    d.quotient = newAxis(c, quotients);
    d.remainder = newAxis(c, by);
    return &c.divided.emplace_back(std::move(d));
  }
  return nullptr;
}

/// In all indices, in place of the axes that are divided.
bool AccumulationPlanner::writeQuotients(const Conversion& c, AffineIndices& indices) const {
  for (const Divided& d : c.divided)
    for (std::optional<AffineForm>& index : indices) {
      const auto at = index->axes.find(d.axis);
      if (at == index->axes.end()) continue;
      const std::optional<int64_t> by = types().dims.asConstant(d.by);
      if (!by) return false;
      const int64_t factor = d.sign * at->second;
      index->axes.erase(at);
      index->add(AffineForm{{{d.quotient, *by}, {d.remainder, 1}}, {}, {}, 0}, factor);
      index->add(d.rest, -factor);
    }
  return true;
}

} // namespace melix::transforms
