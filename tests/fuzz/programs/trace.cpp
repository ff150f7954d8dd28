#include "fuzz/programs/trace.h"

#include "fuzz/programs/value.h"

#include <cmath>

namespace melix::fuzz::programs {

namespace {
constexpr double asGoodAsInfinite = 1e29;
}

Trace*& Trace::active() {
  static Trace* trace = nullptr;
  return trace;
}

void Trace::saw(double value) {
  double size = std::fabs(value);
  if (size > largest_ && size < asGoodAsInfinite) largest_ = size;
}

void Trace::note(Value& out, const Value& a, double byA, const Value& b, double byB) {
  saw(out.d);
  if (!recording_ || (a.slot == 0 && b.slot == 0)) return;
  out.slot = static_cast<uint32_t>(steps_.size());
  steps_.push_back({a.slot, b.slot, byA, byB});
}

void Trace::vary(Value& leaf) {
  recording_ = true;
  leaf.slot = static_cast<uint32_t>(steps_.size());
  steps_.push_back({0, 0, 0, 0});
}

std::vector<double> Trace::slopes(const Value& result) {
  std::vector<double> out(steps_.size(), 0);
  out[result.slot] = 1;
  for (size_t k = steps_.size(); k-- > 1;) {
    const Step& step = steps_[k];
    if (out[k] == 0) continue;
    saw(out[k]);
    if (step.a) out[step.a] += out[k] * step.byA;
    if (step.b) out[step.b] += out[k] * step.byB;
  }
  steps_.resize(1);
  return out;
}

} // namespace melix::fuzz::programs
