#include "loops/analysis/stride_analysis.h"

#include "loops/analysis/linear_form.h"
#include "loops/ir/build.h"
#include "support/wrapping.h"

namespace melix::loops {

using core::OpKind;

const std::optional<int64_t>& LaneStrides::strideOf(ValueId v) {
  if (const auto known = strides_.find(v); known != strides_.end()) return known->second;
  return strides_.emplace(v, findStride(v)).first->second;
}

std::optional<int64_t> LaneStrides::findStride(ValueId v) const {
  if (variance_.isUniform(v)) return 0;
  if (variance_.of(v) != VarianceKind::Affine) return std::nullopt;
  const std::optional<LinearForm> form = linearForm(
      fn_, v, [&](ValueId x) { return x == index_ || variance_.isUniform(x) || isStripPosition(x); });
  if (!form) return std::nullopt;
  int64_t stride = 0;
  for (auto [term, factor] : form->terms)
    if (!variance_.isUniform(term)) stride = wrappingSum(stride, factor);
  return stride;
}

/// The position in a strip of lanes, `and %i, 63`: it grows by one.
bool LaneStrides::isStripPosition(ValueId v) const {
  const Stmt* s = scalarOf(fn_, v);
  return s && s->as<ScalarAttr>().op == OpKind::And && variance_.of(v) == VarianceKind::Affine;
}

std::optional<int64_t> LaneStrides::strideInBytes(const Stmt& s) {
  const size_t end = s.operands.size() - (s.kind == StmtKind::Store ? 1 : 0);
  if (!variance_.isUniform(s.operands[0])) return std::nullopt;
  int64_t stride = 0;
  for (size_t k = 1; k + 1 < end; k += 2) {
    if (variance_.isUniform(s.operands[k]) && variance_.isUniform(s.operands[k + 1])) continue;
    const std::optional<int64_t>& step = strideOf(s.operands[k]);
    const uint64_t* scale = asConstant(fn_, s.operands[k + 1]);
    if (!step || !scale) return std::nullopt;
    stride = wrappingSum(stride, wrappingProduct(*step, static_cast<int64_t>(*scale)));
  }
  return wrappingProduct(stride, s.as<Access>().elemBytes);
}

bool LaneStrides::areSideBySide(const Stmt& s) { return strideInBytes(s) == bytesOf(s.as<Access>().elem); }
bool LaneStrides::areBackwards(const Stmt& s) {
  return strideInBytes(s) == -int64_t(bytesOf(s.as<Access>().elem));
}

} // namespace melix::loops
