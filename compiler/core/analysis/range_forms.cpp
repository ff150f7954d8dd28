// What is known of sums and differences whose terms are compared with each other, as `k - i` where `i <= k`.

#include "core/analysis/range_forms.h"

#include "core/analysis/affine.h"
#include "core/ir/nest.h"

#include <algorithm>

namespace melix::core {

namespace {

constexpr int deepest = 4;     ///< facts that one answer follows from
constexpr size_t longest = 6;  ///< terms of a form
constexpr int mostForms = 128; ///< that are looked at for one answer

} // namespace

class OrderedForms {
public:
  explicit OrderedForms(Ranges& ranges) : ranges_(ranges), dims_(ranges.dims_) {}

  /// Of a sum that does not wrap.
  bool isIndex(ValueId v, DimId extent) {
    const Op* op = ranges_.def(v);
    const bool isSum = op && (op->kind == OpKind::Add || op->kind == OpKind::Sub);
    if (!isSum || !ranges_.ofSum(*op, Ranges::maxDepth)) return false;
    const AffineForm index = of(v);
    AffineForm left = less(of(extent), 1);
    left.add(index, -1);
    return isNatural(index) && isNatural(left);
  }

  /// a >= b + by.
  bool isNoLess(ValueId a, ValueId b, int64_t by) { return isNatural(difference(a, b, by)); }

  /// With the numbers that sizes are made of, if numbers that are known here determine these.
  AffineForm of(DimId d) {
    const AffineForm form = affineForm(dims_, d, [&](DimSym s) {
      const auto number = ranges_.numbers_.find(s);
      return number == ranges_.numbers_.end() ? std::nullopt : std::optional(ofTerm(number->second));
    });
    return isSmall(form) && isSmallNumber(form.constant) ? form : AffineForm{{}, {}, {{d, 1}}, 0};
  }

  /// By the ranges of its terms, and by what these are compared with.
  bool isNatural(const AffineForm& form, int depth = deepest) {
    DimId least = sizeOf(dims_, form);
    for (auto [v, factor] : form.outside) {
      const std::optional<Ranges::Range> r = ranges_.range(v);
      if (!r) return false;
      least = dims_.add(least, dims_.mul(dims_.constant(factor), factor > 0 ? r->low : r->high));
    }
    if (ranges_.isAtLeast(least, 0)) return true;
    if (depth == 0 || form.outside.size() > longest || ++looked_ > mostForms) return false;
    return std::ranges::any_of(form.outside,
                               [&](const auto& term) {
                                 return (term.second == 1 || term.second == -1) &&
                                        isNaturalWithout(form, term.first, term.second, depth - 1);
                               }) ||
           isNaturalBySome(form, depth - 1);
  }

private:
  static bool isSmallNumber(int64_t constant) { return constant <= smallNumber && constant >= -smallNumber; }
  static AffineForm ofTerm(ValueId v) { return {{}, {{v, 1}}, {}, 0}; }
  static AffineForm less(AffineForm form, int64_t by) {
    form.add(AffineForm::ofConstant(by), -1);
    return form;
  }
  /// Values that may wrap and values that are no sums are terms themselves.
  AffineForm of(ValueId v) {
    return *affineForm(dims_, ranges_.f_, v,
                       {[](ValueId) { return false; }, [](ValueId) { return true; },
                        [&](DimId d) { return of(d); },
                        [&](const Op& op, int depth) { return opens(op, depth); }, deepest});
  }
  bool opens(const Op& op, int depth) {
    switch (op.kind) {
    case OpKind::Const: {
      const std::optional<int64_t> known = ranges_.integer(op.results[0]);
      return known == static_cast<int64_t>(op.as<Constant>().bits) && isSmallNumber(*known);
    }
    case OpKind::DimValue: return ranges_.isExact(op.dims[0]);
    case OpKind::Add:
    case OpKind::Sub: return depth > 0 && ranges_.ofSum(op, depth);
    default: return false;
    }
  }
  AffineForm difference(ValueId a, ValueId b, int64_t by) {
    AffineForm out = less(of(a), by);
    out.add(of(b), -1);
    return out;
  }

  /// The nearest first. The range of a branch adds orders while its arms are looked at, which moves them.
  bool isNaturalBySome(const AffineForm& form, int depth) {
    for (size_t k = ranges_.orders_.size(); k-- > 0;) {
      const Ranges::Order order = ranges_.orders_[k];
      if (isNaturalBy(form, order, depth)) return true;
    }
    return false;
  }
  /// Less what is known to be natural.
  bool isNaturalBy(const AffineForm& form, const Ranges::Order& order, int depth) {
    const AffineForm natural = difference(order.more, order.less, order.by);
    auto isShared = [&](const auto& term) {
      const int64_t factor = form.outside.factorOf(term.first);
      return factor != 0 && (factor > 0) == (term.second > 0);
    };
    if (std::ranges::none_of(natural.outside, isShared)) return false;
    AffineForm rest = form;
    rest.add(natural, -1);
    return isNatural(rest, depth);
  }
  /// With what bounds a term in its place: a side of a greatest or least of two, the end of an axis.
  bool isNaturalWithout(const AffineForm& form, ValueId v, int64_t factor, int depth) {
    auto with = [&](const AffineForm& bound) {
      AffineForm other = form;
      other.outside.erase(v);
      other.add(bound, factor);
      return isNatural(other, depth);
    };
    const Op* op = ranges_.def(v);
    if (op && (op->kind == OpKind::Min || op->kind == OpKind::Max)) {
      const bool first = with(of(op->operands[0]));
      const bool isEither = (op->kind == OpKind::Max) == (factor > 0);
      return first == isEither ? first : with(of(op->operands[1]));
    }
    const std::optional<DimId> extent = factor < 0 ? extentOf(v) : std::nullopt;
    if (!extent) return false;
    const AffineForm end = of(*extent);
    return !end.outside.empty() && with(less(end, 1)); // without numbers its range says as much
  }
  /// The extent of the axis that a number is, if that is what it says.
  std::optional<DimId> extentOf(ValueId v) const {
    const std::optional<NestAxis> axis = axisOf(ranges_.f_, v);
    if (!axis) return std::nullopt;
    const DimId extent = ranges_.f_.ops[axis->nest].dims[axis->axis];
    return ranges_.isExact(extent) ? std::optional(extent) : std::nullopt;
  }

  Ranges& ranges_;
  types::DimStore& dims_;
  int looked_ = 0; ///< forms
};

bool isIndexByOrder(Ranges& ranges, ValueId v, DimId extent) {
  return OrderedForms(ranges).isIndex(v, extent);
}

bool isNoLessByOrder(Ranges& ranges, ValueId a, ValueId b, int64_t by) {
  return OrderedForms(ranges).isNoLess(a, b, by);
}

bool isNaturalByOrder(Ranges& ranges, DimId size) {
  OrderedForms forms(ranges);
  const AffineForm form = forms.of(size);
  return !form.outside.empty() && forms.isNatural(form);
}

} // namespace melix::core
