// What is known of sums and differences whose terms are compared with each other, as `k - i` where `i <= k`.

#include "core/analysis/range_forms.h"

#include "core/ir/nest.h"

#include <algorithm>
#include <map>

namespace melix::core {

namespace {

constexpr int deepest = 4;                               ///< facts that one answer follows from
constexpr size_t longest = 6;                            ///< terms of a form
constexpr int mostForms = 128;                           ///< that are looked at for one answer
constexpr int64_t largestCoefficient = int64_t(1) << 32; ///< factor of a term, of which sums do not wrap

} // namespace

class OrderedForms {
public:
  /// Σ factor · value + rest, as exact integers.
  struct Form {
    std::map<ValueId, int64_t> terms;
    DimId rest;
    void add(ValueId v, int64_t factor) {
      const auto at = terms.try_emplace(v, 0).first;
      if ((at->second += factor) == 0) terms.erase(at);
    }
  };

  explicit OrderedForms(Ranges& ranges) : ranges_(ranges), dims_(ranges.dims_) {}

  /// Of a sum that does not wrap.
  bool isIndex(ValueId v, DimId extent) {
    const Op* op = ranges_.def(v);
    const bool isSum = op && (op->kind == OpKind::Add || op->kind == OpKind::Sub);
    if (!isSum || !ranges_.ofSum(*op, Ranges::maxDepth)) return false;
    const Form index = of(v);
    Form left = of(extent);
    left.rest = dims_.sub(left.rest, dims_.constant(1));
    add(left, index, -1);
    return isNatural(index) && isNatural(left);
  }

  /// a >= b + by.
  bool isNoLess(ValueId a, ValueId b, int64_t by) {
    Form difference = of(a);
    add(difference, of(b), -1);
    difference.rest = dims_.sub(difference.rest, dims_.constant(by));
    return isNatural(difference);
  }

  /// What may wrap, and what has no terms, is a term itself.
  Form of(ValueId v, int depth = deepest) {
    Form form{{}, dims_.constant(0)};
    if (const std::optional<int64_t> c = ranges_.integer(v)) {
      form.rest = dims_.constant(*c);
      return form;
    }
    const Op* op = ranges_.def(v);
    if (op && op->kind == OpKind::DimValue && ranges_.isExact(op->dims[0])) return of(op->dims[0]);
    const bool isSum = op && (op->kind == OpKind::Add || op->kind == OpKind::Sub);
    if (isSum && depth > 0 && ranges_.ofSum(*op, depth)) {
      add(form, of(op->operands[0], depth - 1), 1);
      add(form, of(op->operands[1], depth - 1), op->kind == OpKind::Add ? 1 : -1);
    } else {
      form.add(v, 1);
    }
    return form;
  }
  /// With the numbers that sizes are made of, if numbers that are known here determine these.
  Form of(DimId d) {
    Form form{{}, dims_.constant(0)};
    for (const types::DimTerm& term : std::vector(dims_.terms(d))) {
      const types::DimAtom* atom = term.factors.size() == 1 ? &dims_.atom(term.factors[0]) : nullptr;
      const bool isSymbol = atom && atom->kind == types::DimAtomKind::Symbol;
      const auto number = isSymbol ? ranges_.numbers_.find(atom->symbol) : ranges_.numbers_.end();
      const bool isSmall = term.coefficient >= -largestCoefficient && term.coefficient <= largestCoefficient;
      if (number == ranges_.numbers_.end() || !isSmall) continue;
      form.add(number->second, term.coefficient);
      d = dims_.sub(d, dims_.mul(dims_.constant(term.coefficient), dims_.symbol(number->first)));
    }
    form.rest = d;
    return form;
  }
  void add(Form& form, const Form& other, int64_t factor) {
    for (auto [v, by] : other.terms) form.add(v, factor * by);
    form.rest = dims_.add(form.rest, dims_.mul(dims_.constant(factor), other.rest));
  }

  /// By the ranges of its terms, and by what these are compared with.
  bool isNatural(const Form& form, int depth = deepest) {
    DimId least = form.rest;
    for (auto [v, factor] : form.terms) {
      const std::optional<Ranges::Range> r = ranges_.range(v);
      if (!r) return false;
      least = dims_.add(least, dims_.mul(dims_.constant(factor), factor > 0 ? r->low : r->high));
    }
    if (ranges_.isAtLeast(least, 0)) return true;
    if (depth == 0 || form.terms.size() > longest || ++looked_ > mostForms) return false;
    return std::ranges::any_of(form.terms,
                               [&](const auto& term) {
                                 return (term.second == 1 || term.second == -1) &&
                                        isNaturalWithout(form, term.first, term.second, depth - 1);
                               }) ||
           isNaturalBySome(form, depth - 1);
  }

private:
  /// The nearest first. The range of a branch adds orders while its arms are looked at, which moves them.
  bool isNaturalBySome(const Form& form, int depth) {
    for (size_t k = ranges_.orders_.size(); k-- > 0;) {
      const Ranges::Order order = ranges_.orders_[k];
      if (isNaturalBy(form, order, depth)) return true;
    }
    return false;
  }
  /// Less what is known to be natural.
  bool isNaturalBy(const Form& form, const Ranges::Order& order, int depth) {
    Form natural = of(order.more);
    add(natural, of(order.less), -1);
    natural.rest = dims_.sub(natural.rest, dims_.constant(order.by));
    auto isShared = [&](const auto& term) {
      const auto at = form.terms.find(term.first);
      return at != form.terms.end() && (at->second > 0) == (term.second > 0);
    };
    if (std::ranges::none_of(natural.terms, isShared)) return false;
    Form rest = form;
    add(rest, natural, -1);
    return isNatural(rest, depth);
  }
  /// With what bounds a term in its place: a side of a greatest or least of two, the end of an axis.
  bool isNaturalWithout(const Form& form, ValueId v, int64_t factor, int depth) {
    auto with = [&](const Form& bound) {
      Form other = form;
      other.add(v, -factor);
      add(other, bound, factor);
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
    Form last = of(*extent);
    if (last.terms.empty()) return false; // its range says as much
    last.rest = dims_.sub(last.rest, dims_.constant(1));
    return with(last);
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
  const OrderedForms::Form form = forms.of(size);
  return !form.terms.empty() && forms.isNatural(form);
}

} // namespace melix::core
