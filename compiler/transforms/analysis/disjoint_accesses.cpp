#include "transforms/analysis/disjoint_accesses.h"

#include "core/ir/path.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <utility>

namespace melix::transforms {

using namespace core;

namespace {

/// Factors and constants: no sum of so few multiples of indices and sizes wraps.
constexpr int64_t largest = 1 << 12;
bool isSmall(int64_t factor) { return factor >= -largest && factor <= largest; }

/// Whether it is more than zero, as nothing in it is less.
bool isPositive(const AffineIndex& x) {
  auto isNatural = [](const auto& term) { return term.second > 0 && term.second < largest; };
  return x.constant > 0 && x.constant < largest && x.outside.empty() &&
         std::ranges::all_of(x.axes, isNatural) && std::ranges::all_of(x.dims, isNatural);
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

std::optional<AffineIndex> DisjointAccesses::form(ValueId v) const {
  const std::optional<AffineIndex> found =
      affineIndex(m_, f_, v, [&](ValueId x) { return points(x).has_value(); }, [](ValueId) { return false; });
  return found ? opened(*found) : std::nullopt;
}

/// The number of points of an axis, or iterations of a loop.
std::optional<AffineIndex> DisjointAccesses::points(ValueId v) const {
  const Value& value = f_.values[v];
  const OpId parent = value.region.valid() ? f_.regions[value.region].parent : OpId();
  if (!parent.valid()) return std::nullopt;
  const Op& op = f_.ops[parent];
  if (op.kind == OpKind::Nest && value.region == op.regions[0] && value.index < op.dims.size()) {
    AffineIndex size;
    size.dims[op.dims[value.index]] = 1;
    return opened(size);
  }
  if (op.kind == OpKind::For && value.index == 0) return form(op.operands[0]);
  return std::nullopt;
}

/// With sizes split into terms, and in place of those that are numbers these.
std::optional<AffineIndex> DisjointAccesses::opened(AffineIndex x) const {
  const std::map<DimId, int64_t> dims = std::exchange(x.dims, {});
  for (auto [d, factor] : dims)
    for (const types::DimTerm& term : m_.types.dims.terms(d)) {
      if (!isSmall(factor) || !isSmall(term.coefficient)) return std::nullopt;
      const int64_t times = factor * term.coefficient;
      if (term.factors.empty()) {
        AffineIndex constant;
        constant.constant = 1;
        accumulate(x, constant, times);
        continue;
      }
      if (term.factors.size() != 1) return std::nullopt;
      const types::DimAtom& atom = m_.types.dims.atom(term.factors[0]);
      if (atom.kind != types::DimAtomKind::Symbol) return std::nullopt;
      const std::optional<AffineIndex> number = ofSymbol(atom.symbol);
      if (!number) return std::nullopt;
      accumulate(x, *number, times);
    }
  return x;
}

std::optional<AffineIndex> DisjointAccesses::ofSymbol(DimSym s) const {
  if (const auto number = boundTo_.find(s); number != boundTo_.end())
    if (std::optional<AffineIndex> known = form(number->second)) return known;
  AffineIndex out;
  out.dims[m_.types.dims.symbol(s)] = 1;
  return out;
}

/// What the form is not less than, or not more than, whatever axes and indices are further in than `depth`.
std::optional<AffineIndex> DisjointAccesses::bound(AffineIndex form, bool isUpper, uint32_t depth) const {
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
    if (!isSmall(factor)) return std::nullopt;
    form.axes.erase(inner);
    if ((factor > 0) != isUpper) continue; // it may be zero
    std::optional<AffineIndex> last = points(inner);
    if (!last) return std::nullopt;
    last->constant -= 1;
    accumulate(form, *last, factor);
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
  const std::optional<AffineIndex> first = form(index);
  if (!first) return std::nullopt;
  IndexForms out{*first, *first};
  if (step.kind != StepKind::Slice) return out;
  AffineIndex length;
  length.dims[step.length] = 1;
  const std::optional<AffineIndex> steps = opened(length);
  if (!steps || step.step < 1 || step.step > largest) return std::nullopt;
  accumulate(out.last, *steps, step.step);
  AffineIndex one;
  one.constant = 1;
  accumulate(out.last, one, -step.step);
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
  std::optional<AffineIndex> high = bound(a.last, true, depth), low = bound(b.first, false, depth);
  if (!high || !low) return false;
  if (AffineIndex& later = isLaterMore ? *low : *high; iteration.valid() && later.axes.contains(iteration)) {
    const int64_t factor = later.axes.at(iteration);
    if ((factor > 0) != isLaterMore || !isSmall(factor)) return false;
    later.constant += factor; // of the next iteration; of others it is further
  }
  accumulate(*low, *high, -1);
  return isPositive(*low);
}

} // namespace melix::transforms
