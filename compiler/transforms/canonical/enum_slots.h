#pragma once
// The leaves of values of flat enums: a tag and slots (types/flat_enums.h). A part of flatten_records.

#include "core/ir/build.h"

namespace melix::transforms {

/// The tag and the slots of case `c` with these leaves of its fields. A slot that the case does not use is
/// zero, an empty text or list, or `undef`: nothing reads it.
std::vector<core::ValueId> slotsOfCase(core::Builder& b, core::TypeId flatEnum, uint32_t c,
                                       std::span<const core::ValueId> fields);

/// The leaves of the fields of case `c`, given the tag and the slots.
std::vector<core::ValueId> fieldsInSlots(core::Module& m, core::TypeId flatEnum, uint32_t c,
                                         std::span<const core::ValueId> leaves);

} // namespace melix::transforms
