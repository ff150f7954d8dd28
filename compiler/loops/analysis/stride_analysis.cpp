#include "loops/analysis/stride_analysis.h"

#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

// Modulo 2^64, as the program computes.
int64_t sum(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
int64_t product(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }

} // namespace

Neighbours::Neighbours(const Function& fn, const Variance& variance, ValueId index)
    : fn_(fn), variance_(variance) {
  if (index.valid()) steps_[index] = 1;
}

std::optional<int64_t> Neighbours::stepOf(ValueId v) const {
  if (variance_.isUniform(v)) return 0;
  auto found = steps_.find(v);
  return found == steps_.end() ? std::nullopt : std::optional(found->second);
}

void Neighbours::note(const Stmt& scalar) {
  if (variance_.of(scalar.results[0]) != VarianceKind::Affine || scalar.operands.size() != 2) return;
  const std::optional<int64_t> a = stepOf(scalar.operands[0]), b = stepOf(scalar.operands[1]);
  if (!a || !b) return;
  switch (scalar.as<ScalarAttr>().op) {
  case OpKind::Add:
  case OpKind::And: steps_[scalar.results[0]] = sum(*a, *b); return; // a sum, or the place in a strip
  case OpKind::Sub: steps_[scalar.results[0]] = sum(*a, product(-1, *b)); return;
  case OpKind::Mul:
    for (size_t side : {0, 1})
      if (const uint64_t* by = asConstant(fn_, scalar.operands[side]))
        steps_[scalar.results[0]] = product(side == 0 ? *b : *a, static_cast<int64_t>(*by));
    return;
  default: return;
  }
}

std::optional<int64_t> Neighbours::strideInBytes(const Stmt& s) const {
  const size_t end = s.operands.size() - (s.kind == StmtKind::Store ? 1 : 0);
  if (!variance_.isUniform(s.operands[0])) return std::nullopt;
  int64_t step = 0;
  for (size_t k = 1; k + 1 < end; k += 2) {
    if (variance_.isUniform(s.operands[k]) && variance_.isUniform(s.operands[k + 1])) continue;
    auto found = steps_.find(s.operands[k]);
    const uint64_t* stride = asConstant(fn_, s.operands[k + 1]);
    if (found == steps_.end() || !stride) return std::nullopt;
    step = sum(step, product(found->second, static_cast<int64_t>(*stride)));
  }
  return product(step, s.as<Access>().elemBytes);
}

bool Neighbours::areSideBySide(const Stmt& s) const {
  return strideInBytes(s) == bytesOf(s.as<Access>().elem);
}
bool Neighbours::areBackwards(const Stmt& s) const {
  return strideInBytes(s) == -int64_t(bytesOf(s.as<Access>().elem));
}

} // namespace melix::loops
