#pragma once
// The ops in the body of a nest over rows that make it worth batching: its seeds.

#include "transforms/fusion/fusion.h"

namespace melix::transforms {

class RowFunctions;

/// Products in the body of a row and a matrix that all rows share, or that the row chooses.
std::vector<RowProduct> productsOfRows(core::Module& m, core::FunctionId f, core::OpId nest,
                                       const core::Effects& effects);
/// Such products, and calls of functions that have such and can be batched, in the order of the body. Checks
/// of a function are in the way unless the nest is speculated.
std::vector<RowProduct> seedsOfRows(const core::Function& f, core::OpId nest,
                                    const std::vector<RowProduct>& products, const RowFunctions& functions,
                                    bool isSpeculated);

} // namespace melix::transforms
