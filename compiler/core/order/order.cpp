#include "core/order/order.h"

#include "core/analysis/footprint.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace melix::core {

namespace {

constexpr int64_t shortExtent = 16; ///< axes of smaller literal extent are no rows of their own

using Axes = std::set<ValueId>;

/// What the rule asks of one reduction.
struct Reduction {
  std::vector<TermAccess> accesses; ///< in the order of the text
  std::vector<ValueId> reduced;     ///< in nest order
  Axes kept;
  Axes together;  ///< of these, those whose points may be computed side by side
  Axes shortAxes; ///< of reduced and kept ones, those of a small literal extent
};

bool meets(const Axes& a, const Axes& b) {
  return std::any_of(a.begin(), a.end(), [&](ValueId x) { return b.contains(x); });
}

class Rule {
public:
  explicit Rule(Reduction about) : about_(std::move(about)) {
    reduced_.insert(about_.reduced.begin(), about_.reduced.end());
    isOverProducts_ = isOverProducts();
    for (TermAccess& a : about_.accesses)
      std::erase_if(a.axes, [&](ValueId x) { return !about_.kept.contains(x) && !reduced_.contains(x); });
  }

  /// The row axis, if it is lanes.
  std::optional<ValueId> lanes() const {
    const std::vector<const TermAccess*> most = withMostAxes();
    if (about_.kept.empty()) return row(most.empty() ? nullptr : most.back());
    if (most.empty() || isOverProducts_ || hasTwoSides()) return std::nullopt;
    const TermAccess* deciding = nullptr;
    for (const TermAccess* a : most) {
      if (lastIsKept(*a)) return std::nullopt;
      if (meets(a->indices.back(), reduced_)) deciding = a;
    }
    return deciding ? std::optional(row(deciding)) : std::nullopt;
  }

private:
  std::vector<const TermAccess*> withMostAxes() const {
    size_t most = 0;
    for (const TermAccess& a : about_.accesses) most = std::max(most, a.axes.size());
    std::vector<const TermAccess*> out;
    for (const TermAccess& a : about_.accesses)
      if (a.axes.size() == most) out.push_back(&a);
    return out;
  }

  /// By the kept axes, as far as no loop stands between.
  bool hasTwoSides() const {
    Footprint all;
    for (const TermAccess& a : about_.accesses) all.operands.push_back(a.axes);
    return all.within(about_.together).hasTwoSides();
  }

  /// Whether the term holds sums of products of which a kept axis determines one side, and a reduced one the
  /// other, whose elements do not lie side by side along it.
  bool isOverProducts() const {
    std::set<Axes> rows, columns;
    for (const TermAccess& a : about_.accesses) {
      if (!meets(a.axes, reduced_))
        rows.insert(a.axes);
      else if (!a.indices.empty() && !meets(a.indices.back(), reduced_))
        columns.insert(a.axes);
    }
    auto separatesRows = [&](const Axes& row, const Axes& column) {
      return std::any_of(row.begin(), row.end(), [&](ValueId x) {
        return about_.together.contains(x) && !about_.shortAxes.contains(x) && !column.contains(x);
      });
    };
    auto isSummedInside = [&](const Axes& row, const Axes& column) {
      return std::any_of(row.begin(), row.end(), [&](ValueId x) {
        return column.contains(x) && !about_.kept.contains(x) && !reduced_.contains(x);
      });
    };
    auto holdsKept = [&](const Axes& row, const Axes& column) {
      return std::all_of(column.begin(), column.end(),
                         [&](ValueId x) { return row.contains(x) || !about_.kept.contains(x); });
    };
    return std::any_of(rows.begin(), rows.end(), [&](const Axes& row) {
      return std::any_of(columns.begin(), columns.end(), [&](const Axes& column) {
        return separatesRows(row, column) && holdsKept(row, column) && isSummedInside(row, column);
      });
    });
  }

  bool lastIsKept(const TermAccess& a) const {
    const Axes& last = a.indices.back();
    const bool slides = meets(last, reduced_);
    return std::any_of(last.begin(), last.end(), [&](ValueId x) {
      return about_.kept.contains(x) && !(slides && about_.shortAxes.contains(x));
    });
  }

  /// The reduced axis that the last index which has one varies with, of several the last in nest order.
  ValueId lastReduced(const TermAccess& access, bool mayBeShort) const {
    for (size_t k = access.indices.size(); k-- > 0;)
      for (size_t a = about_.reduced.size(); a-- > 0;) {
        const ValueId axis = about_.reduced[a];
        if (access.indices[k].contains(axis) && (mayBeShort || !about_.shortAxes.contains(axis))) return axis;
      }
    return {};
  }

  ValueId row(const TermAccess* deciding) const {
    const ValueId axis = deciding ? lastReduced(*deciding, true) : ValueId();
    if (!axis.valid()) return about_.reduced.back();
    const ValueId other = about_.shortAxes.contains(axis) ? lastReduced(*deciding, false) : ValueId();
    return other.valid() ? other : axis;
  }

  Reduction about_;
  Axes reduced_;
  bool isOverProducts_ = false;
};

/// The nests of a function, from the outside in.
class Orders {
public:
  Orders(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(m.functions[f]), effects_(effects), footprints_(m, f) {}

  void region(RegionId r) {
    const OpId parent = f_.regions[r].parent;
    const bool isBranch =
        parent.valid() && (f_.ops[parent].kind == OpKind::If || f_.ops[parent].kind == OpKind::Match);
    const bool outer = std::exchange(isOfRows_, isBranch ? isOfRows_ : holdsSeveralNests(r));
    for (OpId id : f_.regions[r].ops) {
      const bool isNest = f_.ops[id].kind == OpKind::Nest;
      const size_t outside = around_.size(), before = inOrder_;
      if (isNest && isOfRows_ && keepsAxes(f_.ops[id])) inOrder_ = outside;
      if (isNest) nest(id);
      const size_t axes = isNest ? f_.ops[id].dims.size() : 0;
      for (RegionId inner : f_.ops[id].regions) {
        const std::vector<ValueId>& params = f_.regions[inner].params;
        if (inner == f_.ops[id].regions[0])
          for (size_t a = 0; a < axes; ++a) around_.push_back({params[a], isShort(f_.ops[id].dims[a])});
        const size_t here = inOrder_;
        if (runsInOrder(f_.ops[id])) inOrder_ = around_.size();
        region(inner);
        around_.resize(outside);
        inOrder_ = here;
      }
      inOrder_ = before;
    }
    isOfRows_ = outer;
  }

private:
  struct Axis {
    ValueId param;
    bool isShort;
  };

  /// Whether what stands inside is done for one iteration or point after another.
  static bool runsInOrder(const Op& op) {
    return op.kind == OpKind::For || op.kind == OpKind::While ||
           (op.kind == OpKind::Nest && nestAccs(op) > 0);
  }

  /// Whether a point of a nest does several sweeps.
  bool holdsSeveralNests(RegionId r) const {
    const OpId parent = f_.regions[r].parent;
    return parent.valid() && f_.ops[parent].kind == OpKind::Nest &&
           std::ranges::count_if(f_.regions[r].ops, [&](OpId id) { return holdsNest(id); }) > 1;
  }
  /// Not those of functions and loops inside, whose points are not the nest's.
  bool holdsNest(OpId id) const {
    const Op& op = f_.ops[id];
    const bool isBranch = op.kind == OpKind::If || op.kind == OpKind::Match;
    return op.kind == OpKind::Nest ||
           (isBranch && std::ranges::any_of(op.regions, [&](RegionId r) {
              return std::ranges::any_of(f_.regions[r].ops, [&](OpId inner) { return holdsNest(inner); });
            }));
  }
  static bool keepsAxes(const Op& nest) {
    return std::ranges::any_of(nestResults(nest), [](const NestResult& r) { return !r.keep.empty(); });
  }

  bool isShort(DimId extent) const {
    const std::optional<int64_t> known = m_.types.dims.asConstant(extent);
    return known && *known < shortExtent;
  }

  void nest(OpId id) {
    Op& op = f_.ops[id];
    const NestView nest(f_, op);
    for (const NestPart& part : nest.parts()) {
      NestResult& r = resultOf(op, part);
      const TypeKind term = m_.types.kind(f_.typeOf(nest.yields(part)[0]));
      const bool open = r.kind == NestResultKind::Reduce && r.order == OrderKind::Unset;
      if (!open || !isOrdered(r.monoid, OrderKind::Chain, term) || r.keep.size() == nest.axes()) continue;
      choose(r, term, about(id, nest, part));
      const bool inNestOrder = nest.accs() > 0 || effects_.ofOp(f_, id).debug;
      if (r.order == OrderKind::Lanes && inNestOrder) r.row = lastReduced(r, nest.axes());
    }
  }
  static uint32_t lastReduced(const NestResult& r, size_t axes) {
    auto last = static_cast<uint32_t>(axes - 1);
    while (std::find(r.keep.begin(), r.keep.end(), last) != r.keep.end()) --last;
    return last;
  }

  Reduction about(OpId id, const NestView& nest, const NestPart& part) const {
    Reduction out{footprints_.accesses(id, nest.yields(part)[0]), {}, {}, {}, {}};
    auto keep = [&](const Axis& axis, bool together) {
      out.kept.insert(axis.param);
      if (together) out.together.insert(axis.param);
      if (axis.isShort) out.shortAxes.insert(axis.param);
    };
    for (size_t k = 0; k < around_.size(); ++k) keep(around_[k], k >= inOrder_);
    const std::vector<uint32_t>& kept = part.spec->keep;
    for (uint32_t a = 0; a < nest.axes(); ++a) {
      const Axis axis{nest.axisParams()[a], isShort(f_.ops[id].dims[a])};
      if (std::find(kept.begin(), kept.end(), a) != kept.end()) {
        keep(axis, true);
        continue;
      }
      out.reduced.push_back(axis.param);
      if (axis.isShort) out.shortAxes.insert(axis.param);
    }
    return out;
  }

  void choose(NestResult& r, TypeKind term, Reduction about) const {
    const std::optional<ValueId> row = Rule(std::move(about)).lanes();
    r.order = row ? OrderKind::Lanes : OrderKind::Chain;
    if (!row) return;
    r.lanes = term == TypeKind::F64 ? 32 : 64;
    r.row = f_.values[*row].index;
  }

  Module& m_;
  Function& f_;
  const Effects& effects_;
  Footprints footprints_;
  std::vector<Axis> around_; ///< of the nests around the op at hand
  bool isOfRows_ = false;    ///< whether the region at hand does several sweeps at a point of a nest
  size_t inOrder_ = 0;       ///< so many of these stand around what is done for one point after another
};

} // namespace

std::vector<uint32_t> termSequence(const NestResult& r, uint32_t axes) {
  std::vector<uint32_t> out;
  const bool lanes = r.order == OrderKind::Lanes;
  for (uint32_t a = 0; a < axes; ++a)
    if (std::find(r.keep.begin(), r.keep.end(), a) == r.keep.end() && !(lanes && a == r.row))
      out.push_back(a);
  if (lanes) out.push_back(r.row);
  return out;
}

void chooseOrders(Module& m) {
  const Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const FunctionId f(i);
    if (m.functions[f].body.valid()) Orders(m, f, effects).region(m.functions[f].body);
  }
  raiseAll(m);
}

} // namespace melix::core
