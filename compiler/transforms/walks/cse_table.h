#pragma once
// The ops that were passed, by what they compute: common subexpressions. Scopes follow the regions.

#include "core/ir/ir.h"

namespace melix::transforms {

class KnownOps {
public:
  explicit KnownOps(const core::Function& f) : f_(f) {}

  /// A region begins; what is known before is known in it.
  void open() { scopes_.push_back(entries_.size()); }
  /// It ends, and what was added in it is not known any more.
  void close();
  /// The op known that computes the same from the same operands; if there is none, this one is known from now
  /// on and an invalid id is given.
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
