#include "transforms/analysis/disjoint_accesses.h"

#include "core/ir/path.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <utility>

namespace melix::transforms {

using namespace core;

namespace {

/// Whether it is more than zero, as nothing in it is less.
bool isPositive(const AffineForm& x) {
  auto isNatural = [](const auto& term) { return term.second > 0; };
  return x.constant > 0 && isSmall(x) && x.outside.empty() && std::ranges::all_of(x.axes, isNatural) &&
         std::ranges::all_of(x.dims, isNatural);
}

} // namespace

DisjointAccesses::DisjointAccesses(const Module& m, const Function& f, const Uses& uses)
    : m_(m), f_(f), uses_(uses) {
  forEachOp(f, [&](OpId id) {
    const Op& op = f.ops[id];
    if (op.kind == OpKind::BindDim) boundTo_[op.resultDims[0]] = op.operands[0];
  });
}

// --- numbers
// ----------------------------------------------------------------------------------------------------

uint32_t DisjointAccesses::depthOf(RegionId r) const {
  uint32_t depth = 0;
  for (OpId at = f_.regions[r].parent; at.valid(); at = f_.regions[uses_.regionOf(at)].parent) ++depth;
  return depth;
}

std::optional<AffineForm> DisjointAccesses::form(ValueId v) const {
  return affineForm(m_.types.dims, f_, v,
                    {[&](ValueId x) { return points(x).has_value(); }, [](ValueId) { return false; },
                     [&](DimId d) { return form(d); }});
}

/// The number of points of an axis, or iterations of a loop.
std::optional<AffineForm> DisjointAccesses::points(ValueId v) const {
  const Value& value = f_.values[v];
  const OpId parent = value.region.valid() ? f_.regions[value.region].parent : OpId();
  if (!parent.valid()) return std::nullopt;
  const Op& op = f_.ops[parent];
  if (op.kind == OpKind::Nest && value.region == op.regions[0] && value.index < op.dims.size())
    return form(op.dims[value.index]);
  if (op.kind == OpKind::For && value.index == 0) return form(op.operands[0]);
  return std::nullopt;
}

/// Of symbols; a symbol that is a number gives the form of the number.
std::optional<AffineForm> DisjointAccesses::form(DimId size) const {
  bool isSum = true;
  AffineForm out = affineForm(m_.types.dims, size, [&](DimSym s) -> std::optional<AffineForm> {
    if (const auto number = boundTo_.find(s); number != boundTo_.end())
      if (std::optional<AffineForm> known = form(number->second)) return known;
    return AffineForm::ofSize(m_.types.dims, m_.types.dims.symbol(s));
  });
  for (auto [d, factor] : out.dims) isSum &= m_.types.dims.asSymbol(d).has_value();
  return isSum ? std::optional(std::move(out)) : std::nullopt;
}

/// What the form is not less than, or not more than, whatever axes and indices are further in than `depth`.
std::optional<AffineForm> DisjointAccesses::bound(AffineForm form, bool isUpper, uint32_t depth) const {
  for (;;) {
    ValueId inner;
    uint32_t deepest = depth;
    for (auto [axis, factor] : form.axes)
      if (const uint32_t at = depthOf(f_.values[axis].region); at > deepest) {
        deepest = at;
        inner = axis;
      }
    if (!inner.valid()) return form;
    const int64_t factor = form.axes.at(inner);
    if (!isSmall(form)) return std::nullopt;
    form.axes.erase(inner);
    if ((factor > 0) != isUpper) continue; // it may be zero
    std::optional<AffineForm> last = points(inner);
    if (!last) return std::nullopt;
    last->constant -= 1;
    form.add(*last, factor);
  }
}

// --- places
// -----------------------------------------------------------------------------------------------------

bool DisjointAccesses::isPlace(const Op& access) const {
  const bool isArray = m_.types.kind(f_.typeOf(access.operands[0])) == TypeKind::Array;
  const Path& path = access.as<Path>();
  return isArray && !path.empty() &&
         std::ranges::all_of(path, [](const PathStep& s) { return isIndexLike(s.kind); });
}

PlaceForms DisjointAccesses::formsOf(const Op& access) const {
  PlaceForms out;
  size_t operand = access.kind == OpKind::Get ? 1 : 2;
  for (const PathStep& s : access.as<Path>()) {
    const bool isIndexed = takesIndex(s.kind);
    out.push_back(isIndexed ? formsOf(s, access.operands[operand]) : std::nullopt);
    operand += isIndexed;
  }
  return out;
}

std::optional<IndexForms> DisjointAccesses::formsOf(const PathStep& step, ValueId index) const {
  const std::optional<AffineForm> first = form(index);
  if (!first) return std::nullopt;
  IndexForms out{*first, *first};
  if (step.kind != StepKind::Slice) return out;
  const std::optional<AffineForm> steps = form(step.length);
  if (!steps || step.step < 1) return std::nullopt;
  out.last.add(*steps, step.step);
  out.last.add(AffineForm::ofConstant(-step.step), 1);
  return out;
}

bool DisjointAccesses::areDisjoint(const PlaceForms& place, const Op& update, uint32_t depth,
                                   ValueId iteration) const {
  if (!isPlace(update)) return false;
  const PlaceForms written = formsOf(update);
  for (size_t k = 0; k < std::min(place.size(), written.size()); ++k)
    if (place[k] && written[k] &&
        (isLess(*place[k], *written[k], depth, iteration, true) ||
         isLess(*written[k], *place[k], depth, iteration, false)))
      return true;
  return false;
}

/// Whether `a` is less than `b`; the one that is written later, the greater one or the lesser, has another
/// iteration.
bool DisjointAccesses::isLess(const IndexForms& a, const IndexForms& b, uint32_t depth, ValueId iteration,
                              bool isLaterMore) const {
  std::optional<AffineForm> high = bound(a.last, true, depth), low = bound(b.first, false, depth);
  if (!high || !low) return false;
  if (AffineForm& later = isLaterMore ? *low : *high; iteration.valid() && later.axes.contains(iteration)) {
    const int64_t factor = later.axes.at(iteration);
    if ((factor > 0) != isLaterMore || !isSmall(later)) return false;
    later.constant += factor; // of the next iteration; of others it is further
  }
  low->add(*high, -1);
  return isPositive(*low);
}

} // namespace melix::transforms
