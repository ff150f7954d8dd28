// What is known of sums and differences whose terms are compared with each other, as `k - i` where `i <= k`.

#include "core/ranges.h"

#include <algorithm>

namespace melix::core {

namespace {

constexpr int deepest = 4;    ///< facts that one answer follows from
constexpr size_t longest = 6; ///< terms of a form

} // namespace

void Ranges::Form::add(ValueId v, int64_t factor) {
  const auto at = terms.try_emplace(v, 0).first;
  if ((at->second += factor) == 0) terms.erase(at);
}

void Ranges::add(Form& form, const Form& other, int64_t factor) {
  for (auto [v, by] : other.terms) form.add(v, factor * by);
  form.rest = dims_.add(form.rest, dims_.mul(dims_.constant(factor), other.rest));
}

/// As exact integers: what may wrap, and what has no terms, is a term itself.
Ranges::Form Ranges::formOf(ValueId v, int depth) {
  Form form{{}, dims_.constant(0)};
  if (const std::optional<int64_t> c = integer(v)) {
    form.rest = dims_.constant(*c);
    return form;
  }
  const Op* op = def(v);
  if (op && op->kind == OpKind::DimValue && isExact(op->dims[0])) return formOf(op->dims[0]);
  const bool isSum = op && (op->kind == OpKind::Add || op->kind == OpKind::Sub);
  if (isSum && depth > 0 && ofSum(*op, depth)) {
    add(form, formOf(op->operands[0], depth - 1), 1);
    add(form, formOf(op->operands[1], depth - 1), op->kind == OpKind::Add ? 1 : -1);
  } else {
    form.add(v, 1);
  }
  return form;
}

/// With the numbers that sizes are made of, if these are told by numbers that are known here.
Ranges::Form Ranges::formOf(DimId d) {
  Form form{{}, dims_.constant(0)};
  for (const types::DimTerm& term : std::vector(dims_.terms(d))) {
    const types::DimAtom* atom = term.factors.size() == 1 ? &dims_.atom(term.factors[0]) : nullptr;
    const bool isSymbol = atom && atom->kind == types::DimAtomKind::Symbol;
    const auto number = isSymbol ? numbers_.find(atom->symbol) : numbers_.end();
    if (number != numbers_.end()) {
      form.add(number->second, term.coefficient);
      d = dims_.sub(d, dims_.mul(dims_.constant(term.coefficient), dims_.symbol(number->first)));
    }
  }
  form.rest = d;
  return form;
}

/// By the ranges of its terms, and by what these are compared with.
bool Ranges::isNaturalForm(const Form& form, int depth) {
  DimId least = form.rest;
  for (auto [v, factor] : form.terms) {
    const std::optional<Range> r = range(v);
    if (!r) return false;
    least = dims_.add(least, dims_.mul(dims_.constant(factor), factor > 0 ? r->low : r->high));
  }
  if (isAtLeast(least, 0)) return true;
  if (depth == 0 || form.terms.size() > longest) return false;
  for (auto [v, factor] : std::map(form.terms))
    if ((factor == 1 || factor == -1) && isNaturalWithout(form, v, factor, depth - 1)) return true;
  return std::ranges::any_of(std::vector(orders_), [&](const Order& order) {
    Form less = formOf(order.more, deepest);
    add(less, formOf(order.less, deepest), -1);
    less.rest = dims_.sub(less.rest, dims_.constant(order.by));
    auto isShared = [&](const auto& term) {
      const auto at = form.terms.find(term.first);
      return at != form.terms.end() && (at->second > 0) == (term.second > 0);
    };
    if (std::ranges::none_of(less.terms, isShared)) return false;
    Form rest = form;
    add(rest, less, -1);
    return isNaturalForm(rest, depth - 1);
  });
}

/// With what bounds a term in its place: a side of a greatest or least of two, the end of an axis.
bool Ranges::isNaturalWithout(const Form& form, ValueId v, int64_t factor, int depth) {
  auto with = [&](const Form& bound) {
    Form other = form;
    other.add(v, -factor);
    add(other, bound, factor);
    return isNaturalForm(other, depth);
  };
  const Op* op = def(v);
  if (op && (op->kind == OpKind::Min || op->kind == OpKind::Max)) {
    const bool first = with(formOf(op->operands[0], deepest));
    const bool isEither = (op->kind == OpKind::Max) == (factor > 0);
    return first == isEither ? first : with(formOf(op->operands[1], deepest));
  }
  const std::optional<DimId> extent = factor < 0 ? axisOf(v) : std::nullopt;
  if (!extent) return false;
  Form last = formOf(*extent);
  if (last.terms.empty()) return false; // its range says as much
  last.rest = dims_.sub(last.rest, dims_.constant(1));
  return with(last);
}

/// The extent of the axis that a number is, if that is what it says.
std::optional<DimId> Ranges::axisOf(ValueId v) {
  const Value& value = f_.values[v];
  const OpId parent = value.def.valid() ? OpId() : f_.regions[value.region].parent;
  if (!parent.valid()) return std::nullopt;
  const Op& nest = f_.ops[parent];
  const bool isAxis =
      nest.kind == OpKind::Nest && value.region == nest.regions[0] && value.index < nest.dims.size();
  return isAxis && isExact(nest.dims[value.index]) ? std::optional(nest.dims[value.index]) : std::nullopt;
}

bool Ranges::isIndexByOrder(ValueId v, DimId extent) {
  const Op* op = def(v);
  if (!op || (op->kind != OpKind::Add && op->kind != OpKind::Sub) || !ofSum(*op, maxDepth)) return false;
  const Form index = formOf(v, deepest);
  Form left = formOf(extent);
  left.rest = dims_.sub(left.rest, dims_.constant(1));
  add(left, index, -1);
  return isNaturalForm(index, deepest) && isNaturalForm(left, deepest);
}

} // namespace melix::core
