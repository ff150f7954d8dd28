#pragma once
// How many values a result of a nest takes and gives.

#include "core/ir.h"

namespace melix::transforms {

inline bool isCombine(const core::NestResult& r) {
  return r.kind == core::NestResultKind::Reduce && r.monoid == core::MonoidKind::Combine;
}
inline uint32_t yieldsOf(const core::NestResult& r) {
  if (r.kind == core::NestResultKind::Filter) return 2;
  return isCombine(r) ? r.yields : 1;
}
inline uint32_t resultsOf(const core::NestResult& r, size_t axes) {
  if (isCombine(r)) return r.yields;
  bool position = r.kind == core::NestResultKind::Reduce &&
                  (r.monoid == core::MonoidKind::ArgMin || r.monoid == core::MonoidKind::ArgMax);
  return position ? static_cast<uint32_t>(axes - r.keep.size()) : 1;
}

} // namespace melix::transforms
