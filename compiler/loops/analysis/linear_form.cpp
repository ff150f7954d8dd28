#include "loops/analysis/linear_form.h"

#include "loops/ir/build.h"
#include "support/wrapping.h"

#include <algorithm>
#include <unordered_map>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr int mostDepth = 24; ///< operations between a value and its terms
constexpr int64_t largestFactor = 1 << 8;
constexpr size_t mostTerms = 16;

/// Each value is looked at once, however often others are computed from it.
class LinearFormReader {
public:
  LinearFormReader(const Function& fn, FunctionRef<bool(ValueId)> isTerm) : fn_(fn), isTerm_(isTerm) {}

  const std::optional<LinearForm>& of(ValueId v, int depth) {
    if (const auto known = forms_.find(v); known != forms_.end()) return known->second;
    std::optional<LinearForm> found = find(v, depth);
    return forms_.emplace(v, std::move(found)).first->second;
  }

private:
  std::optional<LinearForm> find(ValueId v, int depth) {
    if (const uint64_t* known = asConstant(fn_, v)) return LinearForm{{}, static_cast<int64_t>(*known)};
    if (isTerm_(v)) return LinearForm{{{v, 1}}, 0};
    const Stmt* s = scalarOf(fn_, v);
    if (!s || depth == 0 || s->as<ScalarAttr>().from != TypeKind::I64) return std::nullopt;
    const OpKind op = s->as<ScalarAttr>().op;
    if (op == OpKind::Neg) return sum(s->operands[0], -1, {}, 0, depth);
    if (op == OpKind::Add) return sum(s->operands[0], 1, s->operands[1], 1, depth);
    if (op == OpKind::Sub) return sum(s->operands[0], 1, s->operands[1], -1, depth);
    if (op == OpKind::Mul) return product(s->operands[0], s->operands[1], depth);
    return std::nullopt;
  }
  std::optional<LinearForm> sum(ValueId a, int64_t byA, ValueId b, int64_t byB, int depth) {
    LinearForm out;
    for (auto [v, factor] : {std::pair(a, byA), std::pair(b, byB)}) {
      if (!v) continue;
      const std::optional<LinearForm>& form = of(v, depth - 1);
      if (!form) return std::nullopt;
      out.add(*form, factor);
    }
    return out;
  }
  std::optional<LinearForm> product(ValueId a, ValueId b, int depth) {
    const std::optional<LinearForm> left = of(a, depth - 1), right = of(b, depth - 1);
    if (!left || !right || (!left->terms.empty() && !right->terms.empty())) return std::nullopt;
    LinearForm out;
    const bool isLeft = left->terms.empty();
    out.add(isLeft ? *right : *left, (isLeft ? left : right)->constant);
    return out;
  }

  const Function& fn_;
  FunctionRef<bool(ValueId)> isTerm_;
  std::unordered_map<ValueId, std::optional<LinearForm>> forms_;
};

} // namespace

void LinearForm::add(const LinearForm& x, int64_t factor) {
  for (auto [v, by] : x.terms) {
    const auto term = terms.try_emplace(v, 0).first;
    if ((term->second = wrappingSum(term->second, wrappingProduct(factor, by))) == 0) terms.erase(term);
  }
  constant = wrappingSum(constant, wrappingProduct(factor, x.constant));
}

std::optional<LinearForm> linearForm(const Function& fn, ValueId v, FunctionRef<bool(ValueId)> isTerm) {
  return LinearFormReader(fn, isTerm).of(v, mostDepth);
}

bool isSmall(const LinearForm& form) {
  auto isWithin = [](int64_t x, int64_t limit) { return x >= -limit && x <= limit; };
  return form.terms.size() <= mostTerms && isWithin(form.constant, smallNumber * largestFactor) &&
         std::ranges::all_of(form.terms,
                             [&](const auto& term) { return isWithin(term.second, largestFactor); });
}

} // namespace melix::loops
