#pragma once
// Tests of flatten_records on Core text: the pass, and what simplify leaves of it.
#include "transforms/canonical/flatten_records.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {

inline void flatten(core::Module& m) {
  flattenRecords(m);
  simplify(m);
}

/// Arguments of the functions of the tests: (f32[3], i64).
inline std::vector<interp::Value> flattenArguments() {
  return {interp::Value::floats(std::vector<float>{1, 2, 3}), interp::Value::integer(2)};
}

} // namespace melix::transforms
