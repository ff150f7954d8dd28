#pragma once
// Finds ops in the body of a nest over rows that have products, none of which batch_rows takes: the matrices
// are too small or vary with the row, or the products are in functions that stay with their row. For `melix
// explain-batching`.

#include "transforms/batch/batching_log.h"

namespace melix::transforms {

class RowFunctions;

/// Whether batch_rows takes ops of a kind from a body: loops, branches and calls.
bool isBatchedAlone(core::OpKind kind);

/// The ops, each with the reason.
BatchingLog rowsLeft(const core::Module& m, const core::Function& f, core::OpId nest,
                     const RowFunctions& functions);

} // namespace melix::transforms
