#pragma once
#include "melix/abi.h"

#include <string>

namespace melix::driver {

/// The measurement of one call of an entry. Seconds.
struct Measurement {
  double median = 0;
  double spread = 0;       ///< half of the distance between the quartiles
  int64_t allocations = 0; ///< blocks that one call asks for
};

/// Calls an entry for about `seconds`, after a tenth of that to warm up: in samples that are each long enough
/// to be timed, at least five. Owns nothing, for a panic may leave it.
Measurement measure(MelixEntryFn entry, MelixTask* task, double seconds);

/// `sum    1.204 µs ± 0.8 %   2 allocations`; without a measurement, that it failed.
std::string benchLine(const std::string& name, const Measurement* found);

} // namespace melix::driver
