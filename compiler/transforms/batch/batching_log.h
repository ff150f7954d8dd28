#pragma once
// The decisions of batch_rows and fission_products about ops with products, for `melix explain-batching`.

#include "core/ir/ir.h"

#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace melix::transforms {

enum class BatchingKind : uint8_t {
#define BATCHED(Kind, Text) Kind,
#define REFUSED(Kind, Text) Kind,
#include "transforms/batch/batching.def"
};
/// Whether the op stays with its row.
bool isRefused(BatchingKind kind);
/// In `melix explain-batching`; `{}` stands for a place.
std::string_view textOf(BatchingKind kind);

/// Why an op stays with its row.
struct Refusal {
  BatchingKind reason;
  core::LocId cause = {}; ///< the place of another op that is the cause, if the text names one
};
/// None for an op that can be batched.
using Refused = std::optional<Refusal>;

struct BatchingDecision {
  BatchingKind kind;
  core::LocId op;
  core::LocId cause = {}; ///< as of a refusal
};

class BatchingLog {
public:
  /// Leaves out refusals of seldom ops.
  void add(const BatchingDecision& decision);
  void add(std::span<const BatchingDecision> decisions);
  std::span<const BatchingDecision> decisions() const { return decisions_; }
  size_t size() const { return decisions_.size(); }

  /// Removes the refusals: another run decides anew.
  void forgetRefused();
  /// Removes the refusals, from the one of this number on, of ops that stand in a nest or are it. It runs
  /// only where a check fails: it gets places of its own, by which later refusals are known to be of it.
  void forgetNest(core::Module& m, core::FunctionId f, core::OpId nest, size_t from);

private:
  std::vector<BatchingDecision> decisions_;
  std::unordered_set<core::LocId> seldom_;
};

} // namespace melix::transforms
