#pragma once
// Steps of fusion as tests apply them: each on its own, then simplified.
#include "transforms/fusion/fuse.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {

inline void inlineReads(core::Module& m) {
  fuseOnce(m, {true, false, false});
  simplify(m);
}
inline void fuseOuterNests(core::Module& m) {
  fuseOnce(m, {false, true, false});
  simplify(m);
}
inline void fuseSiblingNests(core::Module& m) {
  fuseOnce(m, {false, false, true});
  simplify(m);
}
inline void fuseAll(core::Module& m) {
  fuse(m);
  simplify(m);
}

inline interp::Value numbers() { return interp::Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}); }

} // namespace melix::transforms
