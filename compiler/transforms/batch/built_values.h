#pragma once
// Values that a region builds of others at its end: records, cases of enums. Rows store the parts, and build
// the value again where it is read.

#include "core/ir/build.h"
#include "support/function_ref.h"

namespace melix::transforms {

enum class PartKind : uint8_t {
  Outside, ///< made before the region: no row stores it
  Stored,
  Built, ///< made of the operands of its op
};
using KindOfPart = FunctionRef<PartKind(core::ValueId)>;

/// Whether an op builds a value of others.
inline bool builds(core::OpKind kind) { return kind == core::OpKind::Make || kind == core::OpKind::Variant; }

/// The values that are stored for `v`, each once, in the order in which it is built.
std::vector<core::ValueId> storedParts(const core::Function& f, core::ValueId v, KindOfPart kindOf);
/// Builds `v` again; `read` gives the stored values in their order.
core::ValueId rebuild(core::Builder& in, core::ValueId v, KindOfPart kindOf,
                      FunctionRef<core::ValueId()> read);

} // namespace melix::transforms
