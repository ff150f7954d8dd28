#pragma once
// The decisions of batch_rows and fission_products about ops with products, for `melix explain-batching`.

#include "core/ir/ir.h"

#include <optional>
#include <string_view>
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
using BatchingLog = std::vector<BatchingDecision>;

/// Removes the refusals: another run decides anew.
void forgetRefused(BatchingLog& log);

} // namespace melix::transforms
