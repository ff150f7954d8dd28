// Ranges of sums and differences.

#include "core/analysis/ranges.h"

#include <algorithm>

namespace melix::core {

namespace {

/// A value as a sum of others times factors, modulo 2^64.
struct Terms {
  static constexpr size_t most = 8; ///< that are looked at: a sum of sums may have any number
  std::vector<std::pair<ValueId, uint64_t>> factors;
  uint64_t constant = 0;
  size_t count = 0;
  bool meet = false; ///< one value stands in it more than once

  void add(ValueId v, uint64_t factor) {
    const auto found = std::ranges::find(factors, v, [](auto& term) { return term.first; });
    meet |= found != factors.end();
    if (found == factors.end())
      factors.emplace_back(v, factor);
    else
      found->second += factor;
  }
};

} // namespace

/// Sums and differences of sums, down to what is none; false if that is too far, or `add` says so.
bool Ranges::addTerms(ValueId v, uint64_t factor, int depth, const AddTerm& add) const {
  const Op* op = def(v);
  if (!op || (op->kind != OpKind::Add && op->kind != OpKind::Sub)) return add(v, factor);
  if (depth == 0) return false;
  const uint64_t second = op->kind == OpKind::Add ? factor : -factor;
  return addTerms(op->operands[0], factor, depth - 1, add) &&
         addTerms(op->operands[1], second, depth - 1, add);
}

/// Of a sum in which a value meets itself, as i + k - k does. Numbers wrap modulo 2^64, so that it does not
/// matter how they are grouped: what the whole is stays within 64 bits or there is no range.
std::optional<Ranges::Range> Ranges::ofTerms(const Op& op, int depth) {
  Terms terms;
  const bool isWhole = addTerms(op.results[0], 1, depth, [&](ValueId v, uint64_t factor) {
    const std::optional<int64_t> known = integer(v);
    if (known)
      terms.constant += factor * static_cast<uint64_t>(*known);
    else
      terms.add(v, factor);
    return ++terms.count <= Terms::most;
  });
  if (!isWhole || !terms.meet) return std::nullopt;
  const DimId constant = dims_.constant(static_cast<int64_t>(terms.constant));
  Range sum{constant, constant};
  for (auto [v, factor] : terms.factors) {
    if (factor == 0) continue;
    const std::optional<Range> r = range(v, depth / 2);
    if (!r) return std::nullopt;
    const auto by = static_cast<int64_t>(factor);
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
