#include "interp/ordered_sums.h"

#include "core/order/order.h"

#include <algorithm>

namespace melix::interp {

OrderedSums::OrderedSums(const NestResultExtra& x, size_t sums, std::span<const int64_t> extents)
    : x_(x), sequence_(core::termSequence(x.spec, static_cast<uint32_t>(extents.size()))),
      inSequence_(std::is_sorted(sequence_.begin(), sequence_.end())) {
  size_t terms = 1;
  for (uint32_t a : sequence_) {
    extents_.push_back(extents[a]);
    terms *= static_cast<size_t>(extents[a]);
  }
  if (extents_.empty()) extents_.push_back(1); // the one term of no axes is a row
  if (x.spec.order == core::OrderKind::Lanes)
    lanes_ = std::min<size_t>(x.spec.lanes, static_cast<size_t>(extents_.back()));
  sums_.assign(sums, Sum{{0}, x.scalar.unit, 0, false});
  partial_.assign(sums * lanes_, x.scalar.unit);
  if (!inSequence_) waiting_.resize(sums * terms);
}

void OrderedSums::add(size_t sum, SumTerm term, std::span<const int64_t> index) {
  if (inSequence_) return join(sum, sequence_.empty() ? 0 : index[sequence_.back()], term);
  size_t at = sum;
  for (size_t k = 0; k < sequence_.size(); ++k)
    at = at * static_cast<size_t>(extents_[k]) + static_cast<size_t>(index[sequence_[k]]);
  waiting_[at] = term;
}

void OrderedSums::join(size_t sum, int64_t k, SumTerm term) {
  Slot& to = lanes_ ? partial_[sum * lanes_ + static_cast<size_t>(k) % x_.spec.lanes] : sums_[sum].block;
  to = x_.scalar.fma ? Slot{x_.scalar.fma(term.a.u, term.b.u, to.u)} : combined(to, term.a);
  const int64_t row = extents_.back();
  const bool pieceEnds = k + 1 == row || (k + 1) % core::blockTerms == 0;
  if (pieceEnds && ++sums_[sum].pieces == core::rowsInBlock(row)) closeBlock(sum);
}

void OrderedSums::closeBlock(size_t sum) {
  Sum& s = sums_[sum];
  if (lanes_) s.block = foldLanes(partial_.data() + sum * lanes_);
  s.total = s.any ? combined(s.total, s.block) : s.block;
  s.any = true;
  s.block = x_.scalar.unit;
  s.pieces = 0;
}

/// Lanes beyond those there are hold the unit; joining it changes nothing that is not changed at last.
Slot OrderedSums::foldLanes(Slot* lanes) const {
  size_t there = lanes_;
  for (size_t half = x_.spec.lanes / 2; half >= 1; half /= 2) {
    for (size_t k = 0; k + half < there; ++k) lanes[k] = combined(lanes[k], lanes[k + half]);
    there = std::min(there, half);
  }
  const Slot all = combined(lanes[0], x_.scalar.unit);
  std::fill(lanes, lanes + lanes_, x_.scalar.unit);
  return all;
}

Slot OrderedSums::take(size_t sum) {
  const size_t terms = waiting_.size() / sums_.size();
  const auto row = static_cast<size_t>(extents_.back());
  for (size_t k = 0; k < terms; ++k) join(sum, static_cast<int64_t>(k % row), waiting_[sum * terms + k]);
  Sum& s = sums_[sum];
  if (s.pieces > 0) closeBlock(sum);
  const Slot all = s.any ? s.total : x_.scalar.unit;
  s = Sum{{0}, x_.scalar.unit, 0, false};
  return all;
}

} // namespace melix::interp
