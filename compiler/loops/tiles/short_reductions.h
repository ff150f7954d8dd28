#pragma once
// Finds short reductions, whose vectorised columns stay in the first-level cache. Jamming two rows then reads
// the columns as fast as jamming six. Two rows by four vector registers are also as many sums as a processor
// adds to at a time. The epilogue after blocks of rows is then best done in pairs. With fewer than half as
// many columns the remainder is processed one register at a time, and pairing does not pay.

#include "loops/ir/build.h"
#include "loops/ir/clone.h"

#include <optional>

namespace melix::loops {

class ShortReductions {
public:
  ShortReductions(const Function& fn, const Stmt& points);

  /// Whether the chains are known to be short.
  bool isProvenShort() const;
  /// Emits a test whether the chains are short, at the builder's position. None in three cases: it is known;
  /// it cannot be known; or pairs are too few sums.
  std::optional<ValueId> emitIsShort(Builder& b) const;

private:
  const Function& fn_;
  FixedNumbers fixed_;
  StmtId columns_;
  std::optional<ValueId> terms_; ///< the trip count of a chain
  int64_t mostTerms_ = 0, width_ = 0;
};

} // namespace melix::loops
