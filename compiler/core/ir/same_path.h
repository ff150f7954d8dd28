#pragma once
// Compares the steps of paths; their indices are operands, which the ops compare.

#include "core/ir/ir.h"

#include <algorithm>

namespace melix::core {

inline bool samePath(const Path& a, const Path& b) {
  auto same = [](const PathStep& x, const PathStep& y) {
    return x.kind == y.kind && x.number == y.number && x.length == y.length && x.step == y.step;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

} // namespace melix::core
