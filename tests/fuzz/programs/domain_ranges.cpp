// Ranges of axes, whole and in part, and reductions over them.
#include "fuzz/programs/domains.h"

namespace melix::fuzz::programs {

namespace {

constexpr double fewTerms = 5; ///< whose product stays small

NodePtr range(Site& s, const std::string& size, NodePtr low, NodePtr high, NodePtr step = nullptr) {
  std::string index = s.c.freshName("i");
  NodePtr out = make(Form::Range, unit(), {std::move(low), std::move(high)}, index);
  out->flag = step != nullptr;
  if (step) out->kids.push_back(std::move(step));
  s.axes.push_back({index, size});
  s.volume *= std::max(1.0, s.c.guess(size));
  return out;
}

/// What stays within `0 ..= size`.
NodePtr within(Site& s, NodePtr end, const std::string& size) {
  return s.c.chance(50) ? greatest(number(0), least(end, sizeValue(size)))
                        : least(sizeValue(size), greatest(end, number(0)));
}

} // namespace

bool affords(const Site& s, const std::string& size) { return s.volume * s.c.guess(size) <= s.most; }

NodePtr wholeRange(Site& s, const std::string& size) { return range(s, size, number(0), sizeValue(size)); }

namespace {

/// From or up to an index of the same axis.
NodePtr triangle(Site& s, const std::string& size, const std::string& of) {
  NodePtr i = named(of), end = sizeValue(size), next = operate("+", named(of), number(1));
  switch (s.c.below(6)) {
  case 0: return range(s, size, number(0), i);
  case 1: return range(s, size, number(0), next);
  case 2: return range(s, size, i, end);
  case 3: return range(s, size, next, end);
  case 4: return range(s, size, number(0), operate("-", end, i));
  default: return range(s, size, i, end, number(s.c.between(2, 5)));
  }
}

/// A band or a block around an index of any axis.
NodePtr band(Site& s, const std::string& size, NodePtr i) {
  Context& c = s.c;
  if (c.chance(40)) {
    NodePtr width = number(c.between(2, 17));
    NodePtr first = operate("*", operate("/", i, width), clone(width));
    NodePtr low = least(first, sizeValue(size));
    return range(s, size, low, least(operate("+", clone(first), clone(width)), sizeValue(size)));
  }
  int64_t width = c.between(0, 5);
  NodePtr low = within(s, operate("-", i, number(width)), size);
  NodePtr high = within(s, operate("+", clone(i), number(width + 1)), size);
  return range(s, size, low, high);
}

} // namespace

NodePtr partOf(Site& s, const std::string& size) {
  Context& c = s.c;
  NodePtr end = sizeValue(size);
  std::vector<std::string> same;
  for (const Axis& axis : s.axes)
    if (axis.size == size) same.push_back(axis.name);
  if (!same.empty() && c.chance(55)) return triangle(s, size, c.pick(same));
  if (!s.axes.empty() && c.chance(25)) return band(s, size, named(c.pick(s.axes).name));
  switch (c.below(12)) {
  case 0: return range(s, size, number(0), end, number(c.between(2, 9)));
  case 1: return range(s, size, number(0), operate("/", end, number(c.between(2, 4))));
  case 2: return range(s, size, operate("/", end, number(c.between(2, 4))), end);
  case 3: return range(s, size, number(0), within(s, affine(s), size));
  case 4: return range(s, size, within(s, affine(s), size), end);
  default: return wholeRange(s, size);
  }
}

namespace {

NodePtr closed(Site& s, const char* how, std::vector<NodePtr> kids, NodePtr filter, NodePtr body,
               const Type& type) {
  (void)s;
  if (filter) kids.push_back(filter);
  kids.push_back(std::move(body));
  NodePtr out = make(Form::Reduce, type, std::move(kids), how);
  out->flag = filter != nullptr;
  return out;
}

/// `max(-99, max(for …))`: a number where there is no term.
NodePtr extreme(Site& s, std::vector<NodePtr> heads, NodePtr filter) {
  bool most = s.c.chance(50);
  const char* how = most ? "max" : "min";
  NodePtr all = closed(s, how, std::move(heads), filter, term(s), s.element);
  return make(Form::Builtin, s.element, {constant(s.element, most ? -99 : 99), all}, how);
}

/// A count or a test of all or any.
NodePtr counted(Site& s, std::vector<NodePtr> heads) {
  Context& c = s.c;
  NodePtr test = condition(s);
  switch (c.below(4)) {
  case 0: return converted(s.element, closed(s, "any", std::move(heads), nullptr, test, truth()));
  case 1: return converted(s.element, closed(s, "all", std::move(heads), nullptr, test, truth()));
  case 2: return closed(s, "sum", std::move(heads), test, constant(s.element, 1), s.element);
  default: return closed(s, "sum", std::move(heads), nullptr, indicator(c, s.element, test), s.element);
  }
}

/// A product of numbers that stay small.
NodePtr productOfTerms(Site& s, std::vector<NodePtr> heads, double terms) {
  NodePtr body = terms <= fewTerms
                     ? term(s)
                     : guarded(s.c, condition(s), constant(s.element, -1), constant(s.element, 1));
  return closed(s, "prod", std::move(heads), nullptr, body, s.element);
}

/// The place of the best of `1 ..`, where there is one.
NodePtr place(Site& s, const std::string& size, NodePtr head) {
  NodePtr all =
      closed(s, s.c.chance(50) ? "argmax" : "argmin", {std::move(head)}, nullptr, term(s), integer());
  return converted(s.element, operate("%", all, sizeValue(size)));
}

} // namespace

NodePtr reductionOf(Site& s) {
  Context& c = s.c;
  Nested inside(s);
  std::vector<std::string> fitting;
  for (const std::string& size : s.sizes)
    if (affords(s, size)) fitting.push_back(size);
  if (fitting.empty()) return term(s);
  const std::string size = c.pick(fitting);
  double terms = c.guess(size);
  size_t how = c.below(100);
  if (how >= 90 && how < 94 && !s.graded) return place(s, size, wholeRange(s, size));
  std::vector<NodePtr> heads = {partOf(s, size)};
  if (how >= 94) return productOfTerms(s, std::move(heads), terms);
  const std::string other = c.pick(s.sizes);
  if (affords(s, other) && c.chance(30)) heads.push_back(partOf(s, other));
  if (how >= 82 && how < 90) return counted(s, std::move(heads));
  NodePtr filter = c.chance(20) ? condition(s) : nullptr;
  if (how >= 70 && how < 82 && s.real()) return extreme(s, std::move(heads), filter);
  NodePtr body = heads.size() == 1 && c.chance(20) ? reductionOf(s) : term(s);
  if (c.chance(10)) body = operate("*", body, term(s));
  return closed(s, "sum", std::move(heads), filter, body, s.element);
}

} // namespace melix::fuzz::programs
