#pragma once
// Finds ops in the body of a nest over rows that have products, none of which batch_rows takes: the matrices
// are too small or each row makes its own, or the products are in functions that stay with their row. For
// `melix explain-batching`.

#include "transforms/batch/batching_log.h"

#include <span>

namespace melix::transforms {

class RowFunctions;
struct RowProduct;

/// Whether batch_rows takes ops of a kind from a body: loops, branches and calls.
bool isBatchedAlone(core::OpKind kind);

/// The ops that have none of the products that batch_rows takes, each with the reason.
std::vector<BatchingDecision> rowsLeft(const core::Module& m, core::FunctionId f, core::OpId nest,
                                       std::span<const RowProduct> taken, const RowFunctions& functions);

} // namespace melix::transforms
