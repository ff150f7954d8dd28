// Ranges of sums and differences.

#include "core/analysis/affine.h"
#include "core/analysis/ranges.h"

#include <algorithm>

namespace melix::core {

/// Of a sum in which a value meets itself, as i + k - k does. Numbers wrap modulo 2^64, so that it does not
/// matter how they are grouped: what the whole is stays within 64 bits or there is no range.
std::optional<Ranges::Range> Ranges::ofTerms(const Op& op, int depth) {
  constexpr size_t mostTerms = 8; // that are looked at: a sum of sums may have any number
  const bool isOfSums = std::ranges::any_of(op.operands, [this](ValueId v) {
    const Op* side = def(v);
    return side && (side->kind == OpKind::Add || side->kind == OpKind::Sub);
  });
  if (!isOfSums && op.operands[0] != op.operands[1]) return std::nullopt;
  size_t terms = 0;
  auto isTerm = [&](ValueId) { return ++terms <= mostTerms; };
  auto opens = [this](const Op& each, int) {
    return each.kind == OpKind::Add || each.kind == OpKind::Sub || integer(each.results[0]);
  };
  const std::optional<AffineForm> form = affineForm(
      dims_, f_, op.results[0], {[](ValueId) { return false; }, isTerm, nullptr, opens, depth + 1});
  auto isOnce = [](const auto& term) { return term.second == 1 || term.second == -1; };
  if (!form || (form->outside.size() == terms && std::ranges::all_of(form->outside, isOnce)))
    return std::nullopt;
  const DimId constant = dims_.constant(form->constant);
  Range sum{constant, constant};
  for (auto [v, by] : form->outside) {
    const std::optional<Range> r = range(v, depth / 2);
    if (!r) return std::nullopt;
    const DimId low = dims_.mul(by > 0 ? r->low : r->high, dims_.constant(by)),
                high = dims_.mul(by > 0 ? r->high : r->low, dims_.constant(by));
    sum = {dims_.add(sum.low, low), dims_.add(sum.high, high)};
  }
  return unwrapped(sum);
}

/// Where a side ends with the size that the other one is, that is taken for it: l + i is less than N where
/// l < N - i.
std::optional<Ranges::Range> Ranges::ofSum(const Op& op, int depth) {
  if (std::optional<Range> r = ofTerms(op, depth)) return r;
  std::optional<Range> sides[] = {range(op.operands[0], depth), range(op.operands[1], depth)};
  if (!sides[0] || !sides[1]) return std::nullopt;
  if (op.kind == OpKind::Sub)
    return unwrapped({dims_.sub(sides[0]->low, sides[1]->high), dims_.sub(sides[0]->high, sides[1]->low)});
  if (std::optional<Range> r = ofOffset(op.operands[0], op.operands[1], depth)) return r;
  for (size_t k : {0, 1}) {
    const auto size = sizes_.find(op.operands[k]);
    if (size == sizes_.end() || !isExact(size->second)) continue;
    const std::optional<DimSym> s = dims_.asSymbol(size->second);
    if (s && (dims_.mentions(sides[1 - k]->low, *s) || dims_.mentions(sides[1 - k]->high, *s)))
      sides[k] = Range{size->second, size->second};
  }
  return unwrapped({dims_.add(sides[0]->low, sides[1]->low), dims_.add(sides[0]->high, sides[1]->high)});
}

} // namespace melix::core
