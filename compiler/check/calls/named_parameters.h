#pragma once
// Parameters by name where no declaration is called: in `wrt:` and `each:`, and in calls of template values.

#include "check/body/body.h"

namespace melix::check {

/// The parameters that a transform of `function` is for. `args` are all arguments of its call, the function
/// first. None after a report.
std::optional<NamedParameters> readNamed(Body& body, IntrinsicKind transform,
                                         const std::vector<CallArg>& args, TypeId function);

/// A call with named arguments, which are evaluated as they are written.
NodeId callByNames(Body& body, NodeId function, const std::vector<CallArg>& args, TypeId expected, Span span);

} // namespace melix::check
