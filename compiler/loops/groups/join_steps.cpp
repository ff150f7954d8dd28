#include "loops/groups/join_steps.h"

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

std::vector<ValueId> neutralValues(Builder& b, const std::vector<ReassociableStep>& steps,
                                   const std::vector<ValueId>& initial) {
  std::vector<ValueId> out;
  for (size_t k = 0; k < steps.size(); ++k) {
    const ValueType type = b.fn.typeOf(initial[k]);
    out.push_back(steps[k].along ? initial[k] : b.constant(type, steps[k].unit));
  }
  for (const ReassociableStep& step : steps)
    if (step.best) out[step.best->isThere] = b.boolean(false);
  return out;
}

/// A best value with its positions: the better one; of equal ones that of the first iteration.
static void joinBest(Builder& b, const ReassociableStep& step, size_t k, const std::vector<ValueId>& x,
                     const std::vector<ValueId>& y, bool isLater, std::vector<ValueId>& out) {
  const ArgExtremeStep& best = *step.best;
  auto isNot = [&](ValueId v) { return b.scalar(OpKind::Not, {v}, TypeKind::Bool, TypeKind::Bool); };
  ValueId takes = b.compare(best.beyond, y[k], x[k], step.kind);
  if (!isLater) {
    const ValueId isEarlier = b.compare(CmpKind::Lt, y[best.iteration], x[best.iteration]);
    takes = b.either(takes, b.both(isEarlier, isNot(b.compare(best.beyond, x[k], y[k], step.kind))));
  }
  takes = b.both(y[best.isThere], b.either(takes, isNot(x[best.isThere])));
  out[k] = b.select(takes, y[k], x[k]);
  for (size_t place : best.places) out[place] = b.select(takes, y[place], x[place]);
  out[best.isThere] = b.either(x[best.isThere], y[best.isThere]);
}

std::vector<ValueId> joinedValues(Builder& b, const std::vector<ReassociableStep>& steps,
                                  const std::vector<ValueId>& x, const std::vector<ValueId>& y,
                                  bool isLater) {
  std::vector<ValueId> out(steps.size());
  for (size_t k = 0; k < steps.size(); ++k) {
    const ReassociableStep& step = steps[k];
    if (step.best)
      joinBest(b, step, k, x, y, isLater, out);
    else if (!step.along)
      out[k] = b.scalar(step.op, {x[k], y[k]}, step.kind, step.kind);
  }
  return out;
}

} // namespace melix::loops
