#pragma once
// Finds common subexpressions: a table of the visited ops, by their computation. Scopes follow the regions.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether two ops of one kind that compute have equal attributes.
bool sameAttr(const core::Attr& a, const core::Attr& b);

class KnownOps {
public:
  explicit KnownOps(const core::Function& f) : f_(f) {}

  /// A region begins; ops known before it are known in it.
  void open() { scopes_.push_back(entries_.size()); }
  /// The region ends, and ops added in it are no longer known.
  void close();
  /// The known op that computes the same from the same operands. If none is known, an invalid id, and this op
  /// is known from now on.
  core::OpId find(core::OpId op);

private:
  struct Entry {
    core::OpId op;
    uint64_t hash;
    uint32_t next; ///< the entry before it in its bucket
  };
  static constexpr uint32_t none = ~uint32_t(0);
  uint64_t hashOf(const core::Op& op) const;
  bool same(const core::Op& a, const core::Op& b) const;
  void grow();

  const core::Function& f_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> buckets_; ///< the latest entry of each; as many as a power of two
  std::vector<size_t> scopes_;    ///< where the entries of each begin
};

} // namespace melix::transforms
