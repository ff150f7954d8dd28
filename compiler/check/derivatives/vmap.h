#pragma once
// `vmap` (rule 43): a function at each place of a batch axis.

#include "check/tree/build.h"
#include "check/tree/program.h"

namespace melix::check {

class FunctionCalls;

constexpr std::string_view mappedHint = "`each: x` names the parameters that `vmap` maps over";

/// `[for b: function(x[:, b], w, …)]`: maps over the arguments that are `named`, along their axes; over all
/// of them where none is named. All calls share the others. A List or a ragged array gives its elements, a
/// tuple is mapped part by part. Results with sizes of their own are the elements of a ragged array, where
/// such a one is `asked` for.
NodeId vmap(NodeBuilder& build, FunctionCalls& calls, NodeId function, const std::vector<NodeId>& args,
            const NamedParameters& named, TypeId asked, Span span);

} // namespace melix::check
