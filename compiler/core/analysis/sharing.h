#pragma once
// Computes the values that may share memory, and where that memory is updated.
//
// Backends and interpreter update memory in place when nobody reads the old value later, so a read that is
// moved after an update makes a copy necessary. Passes that move reads ask here.

#include "core/ir/ir.h"

#include <vector>

namespace melix::core {

/// Values that may share memory are one family: an aggregate and its parts, the values that a loop carries.
/// Ops added later have no position: every question about them gets the answer no.
class Sharing {
public:
  Sharing(const Module& m, const Function& f);

  /// Whether `v`, which is there at `from`, can be used by `at`, a later op, without a copy: nothing that it
  /// shares memory with is updated between them. Scalars always can.
  bool mayUseLater(ValueId v, OpId from, OpId at) const;
  /// The same where `at` uses it repeatedly while it runs, so that updates inside `at` count too.
  bool mayUseWithin(ValueId v, OpId from, OpId at) const;
  /// Whether the one op is before the other in the text; both were there from the beginning.
  bool isBefore(OpId a, OpId b) const { return spans_[a.index].begin < spans_[b.index].begin; }
  /// The op updates nothing any more.
  void leave(OpId update);
  /// From now on the two are of one family.
  void join(ValueId a, ValueId b);

private:
  /// Where an op begins and ends in the order of the text; 0 for ops that came later.
  struct Span {
    uint32_t begin = 0, end = 0;
  };

  bool isUntouched(ValueId v, OpId from, OpId at, uint32_t end) const;
  void region(RegionId r);
  void op(OpId id);
  void values(const Op& op);
  void updates(const Op& op);
  bool lies(ValueId v) const { return !module_.types.isScalar(f_.typeOf(v)); }
  bool isThere(OpId op) const { return op.index < spans_.size() && spans_[op.index].begin != 0; }
  uint32_t familyOf(uint32_t v) const;

  const Module& module_;
  const Function& f_;
  std::vector<Span> spans_;                         ///< by op
  std::vector<RegionId> homes_;                     ///< by op
  mutable std::vector<uint32_t> parents_;           ///< by value: towards the one that stands for its family
  std::vector<std::vector<uint32_t>> updates_;      ///< by that one: where, in ascending order
  std::vector<std::pair<uint32_t, ValueId>> found_; ///< updates, until all families are known
  uint32_t clock_ = 0;
};

} // namespace melix::core
