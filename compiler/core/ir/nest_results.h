#pragma once
// Changes the results of an existing nest.

#include "core/ir/nest.h"
#include "core/ir/uses.h"

namespace melix::core {

/// Adds a result to the nest, before the results of its accumulators, and the value that the body yields for
/// it. From now on these values are the result. Not for combinations, which have units too.
void addResult(Function& f, LiveUses& uses, OpId nest, NestResult spec, ValueId yielded,
               std::span<const ValueId> values);
/// The same of a function of which no uses are kept.
void addResult(Function& f, OpId nest, NestResult spec, ValueId yielded, std::span<const ValueId> values);

/// The nest has these results, and so many accumulators. Operands, parameters, yields and results of the op
/// are the caller's business.
void replaceResults(Op& nest, std::vector<NestResult> results, size_t accs);

} // namespace melix::core
